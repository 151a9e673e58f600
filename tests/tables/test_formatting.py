"""Values as people write them, and encoded rows in the units of their columns."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctad.tables import ColumnKind, TableEncoder, ValueFormatter

MINUTE = 60_000_000


@pytest.mark.parametrize(
    ("kind", "value", "words"),
    [
        ("number", 0.0, "0"),
        ("number", 9300.0, "9,300"),
        ("number", -1234567.0, "-1,234,567"),
        ("number", 1234.567, "1,234.6"),
        ("number", 12345.678, "12,346"),
        ("number", 0.123456, "0.1235"),
        ("number", 209.99999999999997, "210"),
        ("number", 1.5e-9, "1.5e-09"),
        ("number", 1e40, "1e+40"),
        ("number", np.nan, "missing"),
        ("boolean", 1.0, "true"),
        ("boolean", 0.0, "false"),
        ("category", "plus", "plus"),
        ("category", None, "missing"),
        ("category", "x" * 100, "x" * 59 + "…"),
        ("date", 0.0, "1970-01-01"),
        ("date", 90.0 * MINUTE, "1970-01-01 01:30"),
        ("date with time zone", 90.0 * MINUTE + 1e6, "1970-01-01 01:30:01"),
        ("time of day", 90.0 * MINUTE, "01:30"),
    ],
)
def test_values(kind, value, words):
    assert ValueFormatter(kind, np.empty(0)).format(value) == words


@pytest.mark.parametrize(
    ("kind", "values", "words"),
    [
        ("number", np.r_[np.full(95, 3.0), np.full(5, 1e9)], "3"),
        ("number", np.r_[np.arange(101.0), np.nan], "5 to 95"),
        ("number", np.array([np.nan]), "missing"),
        ("boolean", np.r_[np.ones(95), np.zeros(5)], "true"),
        ("boolean", np.r_[np.ones(60), np.zeros(40)], "true, false"),
        ("category", np.array([*"aaaabbbcc", None], dtype=object), "a, b, c"),
        ("category", np.array(list("aaaabbbccdef"), dtype=object), "a, b, c and 3 more"),
        ("date", np.arange(101) * 24 * 60.0 * MINUTE, "1970-01-06 to 1970-04-06"),
        ("number", np.empty(0), "unknown"),
    ],
)
def test_usual_values(kind, values, words):
    assert ValueFormatter(kind, values).usual == words


def test_numbers_have_the_digits_that_distinguish_usual_values():
    formatter = ValueFormatter("number", np.linspace(101325.41, 101325.45, 100))
    assert formatter.format(101325.4321) == "101,325.4321"
    assert formatter.usual == "101,325.4120 to 101,325.4480"


@given(
    st.lists(
        st.tuples(
            st.none() | st.floats(-1e6, 1e6),
            st.sampled_from(["a", "b", "b", "b", None]),
            st.none() | st.booleans(),
            st.datetimes(pd.Timestamp("1900-01-01"), pd.Timestamp("2100-01-01")),
        ),
        min_size=3,
        max_size=30,
    )
)
@pytest.mark.filterwarnings("ignore:not used", "ignore:column .* is used as text")
def test_decoded_rows_equal_the_original_ones(rows):
    table = pd.DataFrame(rows, columns=["number", "text", "flag", "date"])
    table = table.astype({"number": "float64", "text": "str", "flag": "boolean"})
    table["date"] = table["date"].astype("datetime64[us]")
    encoder = TableEncoder(min_frequency=0)
    try:
        encoded = encoder.fit_transform(table)
    except ValueError:  # no column can be used
        return
    for now, then in zip(encoder.decode(encoded), encoder.read(table), strict=True):
        for ours, theirs in zip(now.values, then.values, strict=True):
            if now.column.kind == "category":
                assert ours in (theirs, "rare")
            elif now.column.kind == "date":
                assert ours == pytest.approx(theirs, abs=60e6)
            else:
                assert ours == pytest.approx(theirs, nan_ok=True, rel=1e-9, abs=1e-6)


def test_new_values_are_decoded_as_rare():
    table = pd.DataFrame({"plan": ["a"] * 5 + ["b"] * 5, "x": range(0, 100, 10)})
    encoder = TableEncoder(keep=["x"]).fit(table)
    (plan, _) = encoder.decode(encoder.transform(table.head(2).assign(plan=["a", "z"])))
    assert plan.values.tolist() == ["a", "rare"]


@pytest.mark.parametrize("value", [1e300, -1e300, np.inf, -np.inf])
@pytest.mark.parametrize("kind", ["number", "date", "time of day"])
def test_values_beyond_all_dates_are_formatted(kind, value):
    formatter = ValueFormatter(ColumnKind(kind), np.array([-1.7e308, 1.5, 1.7e308, value]))
    assert all((formatter.usual, formatter.format(value), formatter.format(1.25)))
