"""Columns of all libraries are read alike."""

from datetime import UTC, datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from ctad._frames import columns_by_name, library_of, to_library
from ctad.tables import numeric_columns
from ctad.tables._reading import read_column

from .frames import EVERY_KIND, KINDS, LIBRARIES


def read(table):
    return {name: read_column(name, series) for name, series in columns_by_name(table).items()}


@pytest.mark.parametrize("library", LIBRARIES)
def test_kinds_and_values_do_not_depend_on_the_library(library):
    found = read(LIBRARIES[library](EVERY_KIND))
    assert {name: values.column.kind for name, values in found.items()} == KINDS
    for name, values in read(EVERY_KIND).items():
        np.testing.assert_array_equal(found[name].values, values.values)


def test_missing_values_and_units():
    found = read(EVERY_KIND)
    np.testing.assert_array_equal(found["duration"].values, [3600, np.nan, 86400, 0])
    np.testing.assert_array_equal(found["yes"].values, [1, np.nan, 0, 1])
    assert found["text"].values.tolist() == ["a", None, "b", "a"]
    assert found["category"].values.tolist() == ["x", None, "y", "y"]
    noon = datetime(2020, 1, 1, 12, tzinfo=UTC).timestamp() * 1e6
    assert found["moment"].values[0] == found["instant"].values[0] == noon
    assert found["clock"].values[0] == 12.5 * 3600e6


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT])
def test_all_missing_values_of_objects(missing):
    [values] = read(pd.DataFrame({"a": pd.Series(["x", missing], dtype=object)})).values()
    assert values.values.tolist() == ["x", None]
    [values] = read(pd.DataFrame({"a": pd.Series([1, missing], dtype=object)})).values()
    np.testing.assert_array_equal(values.values, [1.0, np.nan])


@pytest.mark.parametrize("make", LIBRARIES.values(), ids=LIBRARIES)
def test_a_column_without_values_is_empty(make):
    [values] = read(make(pa.table({"a": pa.nulls(3)}))).values()
    assert values.column.kind == "empty"


def test_categories_that_are_numbers_read_the_same_with_and_without_missing_values():
    without = read(pd.DataFrame({"a": pd.Categorical([1, 2])}))["a"].values
    with_missing = read(pd.DataFrame({"a": pd.Categorical([1, None, 2])}))["a"].values
    assert without.tolist() == ["1", "2"]
    assert with_missing.tolist() == ["1", None, "2"]


def test_categories_of_which_one_is_missing():
    categories = pa.array(["x", None, "y"])
    values = pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 2]), categories)
    assert read(pa.table({"a": values}))["a"].values.tolist() == ["x", None, None, "y"]


def test_times_of_day_may_have_nanoseconds():
    times = pa.array([1_000_000_123, None, 0], pa.int64()).view(pa.time64("ns"))
    found = read(pa.table({"a": times}))["a"]
    assert found.column.dtype == "time64[ns]"
    np.testing.assert_array_equal(found.values, [1e6, np.nan, 0])


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
def test_values_that_cannot_be_compared_are_of_kind_other(values):
    assert read(pd.DataFrame({"a": values}))["a"].column.kind == "other"


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_tables_are_converted_between_libraries(library):
    for make in (pd.DataFrame, pl.DataFrame, pa.table):
        table = make({"a": [1, 2], "b": ["x", "y"], "c": [0, 0]})
        changed = to_library(library, table, ["b", "a"])
        assert library_of(changed) == library
        assert list(columns_by_name(changed)) == ["b", "a"]
        assert library_of(to_library(library, table)) == library


def test_numeric_columns_are_numbers_without_missing_values():
    table = pa.table({"a": [1, 2], "b": [True, False], "hole": [1.0, None], "text": ["x", "y"]})
    numbers = numeric_columns(table, ["b", "a"], needed_by="this test")
    np.testing.assert_array_equal(numbers, [[1, 1], [0, 2]])
    with pytest.raises(ValueError, match="'hole' has a missing value in row 1, but this test"):
        numeric_columns(table, ["a", "hole"], needed_by="this test")
    with pytest.raises(ValueError, match="'text' is of type string, but this test needs numbers"):
        numeric_columns(table, ["a", "text"], needed_by="this test")
