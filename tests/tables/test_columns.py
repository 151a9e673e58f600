"""Columns are read alike from every library."""

from datetime import UTC, datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from ctad.tables._columns import in_library, library_of, plain_numbers, read_column, table_columns

from .frames import EVERY_KIND, KINDS, LIBRARIES


def read(table):
    return {name: read_column(name, series) for name, series in table_columns(table).items()}


@pytest.mark.parametrize("library", LIBRARIES)
def test_kinds_and_values_do_not_depend_on_the_library(library):
    found = read(LIBRARIES[library](EVERY_KIND))
    assert {name: values.column.kind for name, values in found.items()} == KINDS
    for name, values in read(EVERY_KIND).items():
        np.testing.assert_array_equal(found[name].values, values.values)


def test_gaps_and_units():
    found = read(EVERY_KIND)
    np.testing.assert_array_equal(found["duration"].values, [3600, np.nan, 86400, 0])
    np.testing.assert_array_equal(found["yes"].values, [1, np.nan, 0, 1])
    assert found["text"].values.tolist() == ["a", None, "b", "a"]
    assert found["category"].values.tolist() == ["x", None, "y", "y"]
    noon = datetime(2020, 1, 1, 12, tzinfo=UTC).timestamp() * 1e6
    assert found["moment"].values[0] == found["instant"].values[0] == noon
    assert found["clock"].values[0] == 12.5 * 3600e6


@pytest.mark.parametrize("gap", [None, np.nan, pd.NA, pd.NaT])
def test_every_way_to_write_a_gap_in_objects(gap):
    [values] = read(pd.DataFrame({"a": pd.Series(["x", gap], dtype=object)})).values()
    assert values.values.tolist() == ["x", None]
    [values] = read(pd.DataFrame({"a": pd.Series([1, gap], dtype=object)})).values()
    np.testing.assert_array_equal(values.values, [1.0, np.nan])


@pytest.mark.parametrize("make", LIBRARIES.values(), ids=LIBRARIES)
def test_an_empty_column_is_of_no_kind(make):
    [values] = read(make(pa.table({"a": pa.nulls(3)}))).values()
    assert values.column.kind == "empty"


def test_categories_that_are_numbers_read_the_same_with_and_without_gaps():
    whole = read(pd.DataFrame({"a": pd.Categorical([1, 2])}))["a"].values
    gappy = read(pd.DataFrame({"a": pd.Categorical([1, None, 2])}))["a"].values
    assert whole.tolist() == ["1", "2"]
    assert gappy.tolist() == ["1", None, "2"]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1, "2"], "mixes int and str"),
        (["a", datetime(2020, 1, 1)], "mixes datetime and str"),
        ([datetime(2020, 1, 1), datetime(2020, 1, 1, tzinfo=UTC)], "with and without time zone"),
    ],
)
def test_a_column_of_several_types_is_refused(values, message):
    with pytest.raises(ValueError, match=f"column 'a' mixes .*|{message}"):
        read(pd.DataFrame({"a": pd.Series(values, dtype=object)}))


@pytest.mark.parametrize(
    "values", [[[1], [2]], [{"a": 1}, {"a": 2}], [b"x", b"y"], [1j, 2j]], ids=str
)
def test_what_cannot_be_compared_is_of_other_kind(values):
    assert read(pd.DataFrame({"a": values}))["a"].column.kind == "other"


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_tables_change_library(library):
    for make in (pd.DataFrame, pl.DataFrame, pa.table):
        table = make({"a": [1, 2], "b": ["x", "y"], "c": [0, 0]})
        changed = in_library(library, table, ["b", "a"])
        assert library_of(changed) == library
        assert list(table_columns(changed)) == ["b", "a"]
        assert library_of(in_library(library, table)) == library


def test_plain_numbers_take_nothing_else():
    table = pa.table({"a": [1, 2], "b": [True, False], "gap": [1.0, None], "text": ["x", "y"]})
    numbers = plain_numbers(table, ["b", "a"], needed_by="this test")
    np.testing.assert_array_equal(numbers, [[1, 1], [0, 2]])
    with pytest.raises(ValueError, match="'gap' has a gap in row 1, but this test needs a number"):
        plain_numbers(table, ["a", "gap"], needed_by="this test")
    with pytest.raises(ValueError, match="'text' is of type string, but this test needs numbers"):
        plain_numbers(table, ["a", "text"], needed_by="this test")
