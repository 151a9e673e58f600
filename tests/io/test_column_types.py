"""Types inferred from text, and text converted to given types."""

from datetime import UTC, date, datetime, time

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctad.io import CsvDialect, TableError, with_inferred_types
from ctad.io._column_types import convert_text

from .files import of_all_types

COMMA = CsvDialect(delimiter=";", decimal=",")
TIMES = pa.timestamp("us")
UTC_TIMES = pa.timestamp("us", "UTC")


def inferred(values, dialect=None):
    table = pa.table({"x": pa.array(values, pa.string())})
    typed = with_inferred_types(table, dialect or CsvDialect())["x"]
    return typed.type, typed.to_pylist()


@pytest.mark.parametrize(
    ("values", "type_", "expected"),
    [
        (["true", "False", "NA", "TRUE"], pa.bool_(), [True, False, None, True]),
        (["0", "1", "0"], pa.int64(), [0, 1, 0]),
        (["1", "-20", "", "n/a"], pa.int64(), [1, -20, None, None]),
        ([" 1", "2 ", "  "], pa.int64(), [1, 2, None]),
        (["9223372036854775807"], pa.int64(), [2**63 - 1]),
        (["9223372036854775808"], pa.string(), ["9223372036854775808"]),
        (["1", "2.50", "1e-5", ".5", "3.", "-0"], pa.float64(), [1, 2.5, 1e-5, 0.5, 3, 0]),
        (["1.5", "nan", "NULL", "#N/A"], pa.float64(), [1.5, None, None, None]),
        (["", "NA", " "], pa.null(), [None, None, None]),
        ([], pa.null(), []),
        (["007", "1"], pa.string(), ["007", "1"]),
        (["+49", "1"], pa.string(), ["+49", "1"]),
        (["1.5", "inf", "-Infinity"], pa.float64(), [1.5, np.inf, -np.inf]),
        (["1", "inform"], pa.string(), ["1", "inform"]),
        (["1e999"], pa.string(), ["1e999"]),
        (["1,5", "2"], pa.string(), ["1,5", "2"]),
        (["1_000"], pa.string(), ["1_000"]),
        (["0x10"], pa.string(), ["0x10"]),
        (["true", "1"], pa.string(), ["true", "1"]),
        ([" a", "NA", "b "], pa.string(), ["a", None, "b"]),
        (["2024-02-29", "2024/03/01", "31.12.2024"], pa.date32(),
         [date(2024, 2, 29), date(2024, 3, 1), date(2024, 12, 31)]),
        (["2024-02-30"], pa.string(), ["2024-02-30"]),
        (["20240229"], pa.int64(), [20240229]),
        (["01/02/2024", "03/04/2024"], pa.string(), ["01/02/2024", "03/04/2024"]),
        (["2024-12-24 18:30", "2024-12-24", "24.12.2024 18:30:15", "2024/12/24T18:30:15.25"], TIMES,
         [datetime(2024, 12, 24, 18, 30), datetime(2024, 12, 24),
          datetime(2024, 12, 24, 18, 30, 15), datetime(2024, 12, 24, 18, 30, 15, 250_000)]),
        (["2024-12-24T18:30:15.123456789"], TIMES, [datetime(2024, 12, 24, 18, 30, 15, 123_456)]),
        (["2024-12-24T18:30Z", "2024-12-24 18:30:00+02:00", "2024-12-24 18:30:00.5-0130"],
         UTC_TIMES,
         [datetime(2024, 12, 24, 18, 30, tzinfo=UTC), datetime(2024, 12, 24, 16, 30, tzinfo=UTC),
          datetime(2024, 12, 24, 20, 0, 0, 500_000, tzinfo=UTC)]),
        (["2024-12-24T18:30Z", "2024-12-24T18:30"], pa.string(),
         ["2024-12-24T18:30Z", "2024-12-24T18:30"]),
        (["2024-12-24 25:00"], pa.string(), ["2024-12-24 25:00"]),
        (["18:30", "7:30"], pa.string(), ["18:30", "7:30"]),
        (["18:30", "07:30:15"], pa.time64("us"), [time(18, 30), time(7, 30, 15)]),
        (["1.2.2024", "31.12.2024"], pa.date32(), [date(2024, 2, 1), date(2024, 12, 31)]),
    ],
)  # fmt: skip
def test_types_of_text(values, type_, expected):
    assert inferred(values) == (type_, expected)


def test_decimal_comma():
    assert inferred(["1,5", "-2", ",5"], COMMA) == (pa.float64(), [1.5, -2.0, 0.5])
    assert inferred(["1.234", "2"], COMMA)[0] == pa.string()  # may be 1234
    assert inferred(["1", "2"], COMMA)[0] == pa.int64()
    assert inferred(["1.5", "2"], COMMA) == (pa.float64(), [1.5, 2.0])
    points = CsvDialect(delimiter=";")
    assert inferred(["1,5", "2"], points) == (pa.float64(), [1.5, 2.0])
    assert inferred(["1,234", "2"], points)[0] == pa.string()
    assert inferred(["1,5", "2.5"], points)[0] == pa.string()


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_numbers_keep_every_bit(values):
    for dialect, text in [(None, map(repr, values)), (COMMA, map(str, values))]:
        texts = [t.replace(".", dialect.decimal) if dialect else t for t in text]
        schema = pa.schema({"x": pa.float64()})
        result = convert_text(pa.table({"x": texts}), schema, dialect)["x"].to_pylist()
        assert list(map(repr, result)) == list(map(repr, values))


@given(st.lists(st.text(max_size=8)))
def test_any_text_can_be_converted_to_its_inferred_type(values):
    table = pa.table({"x": pa.array(values, pa.string())})
    typed = with_inferred_types(table, CsvDialect())
    if typed["x"].type != pa.null():
        assert convert_text(table, typed.schema).equals(typed)


TEXTS = ["1", "-2", "1.5", "1,5", "1.234", "1,234", "inf", "NA", "", "true", "x", "9" * 20, "007"]
TEXTS += ["2024-12-24", "24.12.2024", "2024-12-24 18:30", "2024-12-24T18:30Z", "18:30"]


@given(
    st.lists(st.lists(st.sampled_from(TEXTS), min_size=2, max_size=2), min_size=1, max_size=20),
    st.sampled_from([CsvDialect(), COMMA, CsvDialect(delimiter=";")]),
)
def test_the_type_of_a_column_does_not_depend_on_the_others(columns, dialect):
    table = pa.table({f"x{i}": values for i, values in enumerate(columns)})
    typed = with_inferred_types(table, dialect)
    for name in table.column_names:
        assert typed.select([name]).equals(with_inferred_types(table.select([name]), dialect))
    known = pa.schema([field for field in typed.schema if field.type != pa.null()])
    assert convert_text(table, known, dialect).select(known.names).equals(typed.select(known.names))


def test_the_error_is_about_the_first_column_with_a_value_of_another_type():
    table = pa.table({"a": ["1"], "b": ["true"], "c": ["x"], "d": ["y"], "e": ["2"]})
    numbers, flags = pa.float64(), pa.bool_()
    types = pa.schema({"a": numbers, "e": numbers, "b": flags, "d": numbers, "c": flags})
    with pytest.raises(TableError, match="row 1: column 'c' has 'x', expected true or false"):
        convert_text(table, types)


def test_columns_without_values_have_the_type_null():
    table = pa.table({"n": ["1", "NA"], "empty": ["", "NA"]})
    assert with_inferred_types(table, CsvDialect()).schema.types == [pa.int64(), pa.null()]
    assert with_inferred_types(table, None) is table


def test_other_columns_stay_as_they_are():
    table = of_all_types().append_column("number", pa.array(["1", "2", "NA"]))
    schema = with_inferred_types(table, CsvDialect()).schema
    assert schema.field("number").type == pa.int64()
    assert schema.field("text").type == pa.string()
    assert schema.remove(len(table.schema) - 1).set(9, table.schema.field("text")) == (
        of_all_types().schema
    )
    result = convert_text(table, pa.schema({"number": pa.float64(), "missing": pa.int64()}))
    assert result.drop_columns("number").equals(of_all_types())
    assert result["number"].to_pylist() == [1.0, 2.0, None]


@pytest.mark.parametrize(
    ("type_", "values", "expected"),
    [
        (pa.int32(), ["1", ""], [1, None]),
        (pa.float32(), ["0.5", ""], [0.5, None]),
        (pa.uint8(), ["255", "0"], [255, 0]),
        (pa.timestamp("ns"), ["2024-12-24", ""], [datetime(2024, 12, 24), None]),
        (pa.date64(), ["24.12.2024", ""], [date(2024, 12, 24), None]),
        (pa.time64("us"), ["18:30", "NA"], [time(18, 30), None]),
        (pa.dictionary(pa.int32(), pa.string()), ["a", "NA"], ["a", None]),
        (pa.large_string(), ["a", "NA"], ["a", None]),
        (pa.binary(), ["a", "NA"], ["a", "NA"]),  # text cannot become this
        (pa.null(), ["a", "NA"], ["a", "NA"]),
    ],
)
def test_types_of_other_files(type_, values, expected):
    for text in (pa.string(), pa.large_string(), pa.string_view()):
        table = pa.table({"x": pa.array(values, text)})
        assert convert_text(table, pa.schema({"x": type_}))["x"].to_pylist() == expected


@pytest.mark.parametrize(
    ("type_", "value", "expected"),
    [
        (pa.bool_(), "1", "true or false"),
        (pa.int64(), "1.5", "an integer"),
        (pa.int8(), "128", r"an integer \(int8\)"),
        (pa.float64(), "1,5", r"a number \(double\)"),
        (pa.date32(), "2024-02-30", "a date such as"),
        (TIMES, "2024-12-24T18:30Z", "a time such as .* without a time zone"),
        (UTC_TIMES, "2024-12-24T18:30", "a time such as .* with a time zone"),
        (pa.time64("us"), "25:00", "a time of day such as"),
    ],
)
def test_the_error_shows_a_value_of_another_type(type_, value, expected):
    good = {
        pa.bool_(): "true",
        pa.date32(): "2024-02-29",
        TIMES: "2024-02-29 10:00",
        UTC_TIMES: "2024-02-29 10:00Z",
        pa.time64("us"): "10:00",
    }.get(type_, "1")
    values = [good] * 300 + ["", value, good, value] + [good] * 100
    table = pa.table({"x": values})
    with pytest.raises(TableError, match=expected) as raised:
        convert_text(table, pa.schema({"x": type_}))
    assert str(raised.value).startswith(f"row 302: column 'x' has {value!r}")
