"""A table of mixed columns becomes numbers."""

import re
import warnings
from datetime import datetime, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from ctad.errors import InputError
from ctad.tables import Feature, TableEncoder

from .frames import EVERY_KIND, LIBRARIES

SHOP = pa.table(
    {
        "order": list(range(100, 400)),
        "amount": [float(i * i % 97) for i in range(300)],
        "age": [None if i % 10 == 0 else i % 50 for i in range(300)],
        "paid": [i % 3 > 0 for i in range(300)],
        "city": [("Rome", "Oslo", "Bonn")[i % 3] for i in range(290)] + ["Ulm"] * 2 + [None] * 8,
        "when": [datetime(2024, 1, 1) + timedelta(hours=5 * i) for i in range(300)],
        "name": [f"customer {i}" for i in range(300)],
        "country": ["IT"] * 300,
        "tags": [[i] for i in range(300)],
    }
)
NOT_USED = (
    "not used: 'order' (looks like a row number), 'name' (text that hardly repeats), "
    "'country' (constant), 'tags' (of type list<item: int64>)."
)


def fitted(table=SHOP, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return TableEncoder(**parameters).fit(table)


def changed(table, **columns):
    """The table with some columns replaced."""
    for name, values in columns.items():
        place = table.column_names.index(name)
        table = table.set_column(place, name, pa.array(values))
    return table


def feature(encoder, table, name):
    return encoder.transform(table)[:, list(encoder.get_feature_names_out()).index(name)]


def test_every_feature_has_the_column_it_comes_from():
    with pytest.warns(UserWarning, match=f"^{re.escape(NOT_USED)}$"):
        encoder = TableEncoder().fit(SHOP)
    assert encoder.features_ == [
        Feature("amount", "amount"),
        Feature("age", "age"),
        Feature("when", "when"),
        Feature("age is missing", "age"),
        Feature("paid", "paid"),
        Feature("city=Bonn", "city"),
        Feature("city=Oslo", "city"),
        Feature("city=Rome", "city"),
        Feature("city is missing", "city"),
        Feature("city is rare", "city"),
        *(
            Feature(f"when: {function} of {cycle}", "when", cycle)
            for cycle in ("day", "week", "year")
            for function in ("sine", "cosine")
        ),
    ]
    assert set(encoder.dropped_) == {"order", "name", "country", "tags"}
    assert encoder.transform(SHOP).shape == (300, len(encoder.features_))


def test_missing_values_get_the_median_and_a_feature():
    encoder = fitted(scaling=None)
    row = changed(SHOP[:1], age=[None])
    assert feature(encoder, row, "age") == np.median([i % 50 for i in range(300) if i % 10])
    assert feature(encoder, row, "age is missing") == 1
    assert feature(encoder, changed(SHOP[:1], age=[7]), "age is missing") == 0


def test_missing_values_where_training_had_none_are_filled_with_a_warning():
    encoder = fitted(scaling=None)
    row = changed(SHOP[:1], amount=pa.nulls(1, pa.float64()), paid=pa.nulls(1, pa.bool_()))
    with pytest.warns(UserWarning, match="missing values in") as caught:
        assert feature(encoder, row, "amount") == np.median(SHOP["amount"].to_numpy())
    assert [str(w.message).partition(",")[0] for w in caught] == [
        "missing values in 'amount'",
        "missing values in 'paid'",
    ]
    assert caught[0].filename == __file__


def test_rare_and_new_values_share_a_feature():
    encoder = fitted()
    for city in ("Ulm", "Atlantis"):
        assert feature(encoder, changed(SHOP[:1], city=[city]), "city is rare") == 1
    assert feature(encoder, changed(SHOP[:1], city=["Oslo"]), "city is rare") == 0
    # If no value was rare, a new value has no feature.
    without_rare = fitted(pa.table({"a": ["x", "y"] * 5}))
    np.testing.assert_array_equal(without_rare.transform(pa.table({"a": ["z"]})), [[0, 0]])
    np.testing.assert_array_equal(without_rare.transform(pa.table({"a": pa.nulls(1)})), [[0, 0]])


def test_rare_text_may_end_in_nul():
    """numpy cuts such text."""
    encoder = fitted(pa.table({"a": ["x", "y"] * 5 + ["z\0"]}))
    assert [each.name for each in encoder.features_] == ["a=x", "a=y", "a is rare"]


def test_dates_keep_order_and_cycle():
    encoder = fitted(scaling=None)

    def encoded(name, *moments):
        return feature(encoder, changed(SHOP[: len(moments)], when=list(moments)), name)

    early, late = encoded("when", datetime(2024, 5, 1), datetime(2024, 5, 2, 12))
    assert late - early == 1.5
    evening, morning, noon = encoded(
        "when: cosine of day",
        datetime(2024, 5, 1, 23, 59),
        datetime(2024, 5, 2, 0, 1),
        datetime(2024, 5, 2, 12),
    )
    assert evening == pytest.approx(morning)
    assert noon == pytest.approx(-1)
    monday, next_monday = encoded("when: sine of week", datetime(2024, 5, 6), datetime(2024, 5, 13))
    assert monday == pytest.approx(next_monday)
    summer, next_summer = encoded("when: sine of year", datetime(2024, 7, 1), datetime(2025, 7, 1))
    assert summer == pytest.approx(next_summer, abs=0.01)


def test_a_missing_date_is_in_the_middle_of_the_others():
    days = [datetime(2024, 1, 1) + timedelta(i) for i in range(20)] + [None]
    encoder = fitted(pa.table({"day": days}))
    assert list(encoder.get_feature_names_out()) == [
        *("day", "day is missing", "day: sine of week", "day: cosine of week"),
        *("day: sine of year", "day: cosine of year"),
    ]  # dates without a time of day have a constant one
    row = encoder.transform(pa.table({"day": pa.array([None], pa.timestamp("us"))}))
    assert row[0, 1] == 1
    np.testing.assert_allclose(
        np.delete(row, 1),
        np.delete(encoder.transform(pa.table({"day": days[:-1]})).mean(0), 1),
        atol=1e-12,
    )


def test_numbers_alone_are_scaled_on_request_only():
    numbers = pa.table({"a": [1.0, 2.5, 4.0], "b": [7, 5, 6]})
    plain = np.array([[1.0, 7], [2.5, 5], [4.0, 6]])
    np.testing.assert_array_equal(TableEncoder().fit_transform(numbers), plain)
    scaled = (plain - plain.mean(0)) / plain.std(0)
    np.testing.assert_allclose(TableEncoder(scaling="standard").fit_transform(numbers), scaled)
    with_flag = numbers.append_column("c", pa.array([True, False, True]))
    np.testing.assert_allclose(TableEncoder().fit_transform(with_flag)[:, :2], scaled)
    unscaled = TableEncoder(scaling=None).fit_transform(with_flag)[:, :2]
    np.testing.assert_array_equal(unscaled, plain)


@pytest.mark.parametrize("scaling", ["auto", "standard", None])
def test_the_scaling_in_use_is_a_fitted_attribute(scaling):
    numbers = pa.table({"a": [1.0, 2.5, 4.0], "b": [7, 5, 6]})
    mixed = numbers.append_column("c", pa.array([True, False, True]))
    for table, used in ((numbers, {"auto": None}), (mixed, {"auto": "standard"})):
        encoder = TableEncoder(scaling=scaling)
        assert not hasattr(encoder, "scaling_")
        encoder.fit(table)
        assert encoder.scaling_ == used.get(scaling, scaling)


def test_only_training_rows_matter():
    encoder = fitted()
    before = encoder.transform(SHOP)
    encoder.transform(changed(SHOP, amount=[1e9] * 300, city=["Paris"] * 300))
    np.testing.assert_array_equal(encoder.transform(SHOP), before)


@pytest.mark.parametrize("library", LIBRARIES)
def test_every_library_gives_the_same_numbers(library):
    table = pa.concat_tables([EVERY_KIND] * 3)
    make = LIBRARIES[library]
    trained_there = TableEncoder().fit(make(table))
    trained_on_arrow = TableEncoder().fit(table)
    expected = trained_on_arrow.transform(table)
    assert trained_there.features_ == trained_on_arrow.features_
    np.testing.assert_array_equal(trained_there.transform(make(table)), expected)
    np.testing.assert_array_equal(trained_on_arrow.transform(make(table)), expected)


@given(
    rows=st.lists(st.integers(0, 299), min_size=1, max_size=9),
    order=st.permutations(SHOP.column_names),
)
def test_a_row_depends_on_column_names_only_not_on_the_batch(rows, order):
    encoder = ENCODER
    table = SHOP.append_column("extra", pa.array(range(300))).take(rows).select([*order, "extra"])
    np.testing.assert_array_equal(encoder.transform(table), ENCODED[rows])


ENCODER = fitted()
ENCODED = ENCODER.transform(SHOP)


def test_a_table_without_rows_is_refused():
    with pytest.raises(ValueError, match="0 samples"):
        fitted().transform(SHOP[:0])


def test_missing_columns_are_listed():
    with pytest.raises(ValueError, match="lacks columns 'age', 'city'; it has 'order', 'amount'"):
        fitted().transform(SHOP.drop_columns(["age", "city"]))


def test_unused_columns_may_be_missing():
    used = SHOP.drop_columns(["order", "name", "country", "tags"])
    np.testing.assert_array_equal(fitted().transform(used), ENCODED)


@pytest.mark.parametrize(
    ("column", "values", "shown"),
    [
        ("amount", ["much"], r"number \(double\) in training and is of kind category \(string\)"),
        ("city", [3], r"category \(string\) in training and is of kind number \(int64\)"),
        ("when", ["today"], r"date \(timestamp\[us\]\) in training and is of kind category"),
        ("paid", [1], r"boolean \(bool\) in training and is of kind number \(int64\)"),
    ],
)
def test_a_changed_type_is_an_error_with_both_types(column, values, shown):
    with pytest.raises(ValueError, match=f"column '{column}' was of kind {shown}"):
        fitted().transform(changed(SHOP[:1], **{column: values}))


def test_integers_may_become_floats():
    table = changed(SHOP, age=[float(i) for i in range(300)])
    assert np.isfinite(fitted().transform(table)).all()


def test_infinite_values_are_refused():
    with pytest.raises(ValueError, match=r"column 'amount' is infinite in row 1 \(1 of 2 rows"):
        fitted().transform(changed(SHOP[:2], amount=[1.0, np.inf]))


# description: (values, reason or None if it is used)
COLUMNS = {
    "row numbers": (range(50), "looks like a row number"),
    "row numbers with a missing value": ([*range(49), None], "looks like a row number"),
    "measured integers with a missing value": ([*(i * 37 % 40 for i in range(49)), None], None),
    "row numbers downwards": (range(50, 0, -1), "looks like a row number"),
    "shuffled keys": (np.random.default_rng(0).permutation(50), "looks like a row number"),
    "increasing keys": (np.cumsum(range(1, 51)), "looks like a row number"),
    "measured integers": ([i * 37 % 40 for i in range(50)], None),
    "some of shuffled keys": (
        np.random.default_rng(0).permutation(60)[:50],
        "looks like a row number",
    ),
    "distinct by chance": (np.random.default_rng(0).permutation(500)[:50], None),
    "increasing floats": (np.arange(50.0), None),
    "large keys": ([2**60 + i % 7 for i in range(50)], "integers beyond 2**53"),
    "texts": ([f"{i:x}" for i in range(50)], "text that hardly repeats"),
    "texts, some twice": ([f"{i // 1.5:g}" for i in range(50)], "text that hardly repeats"),
    "one text": (["a"] * 50, "constant"),
    "one text and missing values": (["a", None] * 25, None),
    "one number": ([1] * 50, "constant"),
    "one number and missing values": ([1, None] * 25, None),
    "missing values": ([None] * 50, "empty"),
    "not-a-number": ([np.nan] * 50, "empty"),
    "missing values of both kinds": ([np.nan, None] * 25, "empty"),
    "numbers and a typing error": (
        [*(f"{i / 7:g}" for i in range(49)), "unknown"],
        "text that hardly repeats, although 49 of 50 values are numbers, but not 'unknown': "
        "correct such values or leave them empty",
    ),
    "slash dates": (
        [f"{i % 12 + 1}/{i % 28 + 1}/2024" for i in range(50)],
        "text that hardly repeats, but looks like numbers or dates: write them as 1234.5 or "
        "2024-12-31",
    ),
}


@pytest.mark.parametrize("what", COLUMNS)
def test_constant_columns_and_identifiers_are_not_used(what):
    values, why = COLUMNS[what]
    table = pl.DataFrame({"x": pl.Series(list(values)), "y": [1.0, 2.0] * 25})
    encoder = fitted(table)
    assert encoder.dropped_.get("x") == why
    assert np.isfinite(encoder.transform(table)).all()
    assert len(np.unique(encoder.transform(table), axis=0)) > 1


def test_text_that_looks_like_dates_gives_a_warning():
    with pytest.warns(UserWarning, match="'x' is used as text, but looks like numbers or dates"):
        TableEncoder().fit(pl.DataFrame({"x": ["1/2/2024", "3/4/2024"] * 5}))
    TableEncoder().fit(pl.DataFrame({"x": ["00123", "00456"] * 5}))  # codes


def test_of_a_constant_value_with_missing_values_only_those_are_a_feature():
    features = fitted(pl.DataFrame({"x": [1, None] * 5})).features_
    assert features == [Feature("x is missing", "x")]


def test_columns_are_ignored_or_kept_on_request():
    encoder = fitted(ignore=["when", "age", "city"], keep=["order"])
    assert list(encoder.get_feature_names_out()) == ["order", "amount", "paid"]
    assert encoder.dropped_["when"] == "ignored"
    np.testing.assert_array_equal(
        encoder.transform(SHOP.drop_columns(["when", "age", "city"])), encoder.transform(SHOP)
    )


@pytest.mark.parametrize("column", ["ignore", "keep"])
def test_columns_to_ignore_or_keep_must_exist(column):
    with pytest.raises(ValueError, match="lacks column 'oder'"):
        TableEncoder(**{column: ["oder"]}).fit(SHOP)


@pytest.mark.parametrize(
    ("parameters", "table", "error", "message"),
    [
        ({"scaling": "max"}, SHOP, ValueError, "scaling must be one of 'auto', 'standard', None"),
        ({"min_frequency": 5}, SHOP, ValueError, "min_frequency must be a share"),
        ({}, np.ones((3, 2)), ValueError, "Arrow table is needed, not ndarray"),
        ({}, pl.LazyFrame({"a": [1]}), ValueError, "table is needed, not LazyFrame"),
        ({}, pd.DataFrame({"a": [1, 1]}), ValueError, r"no column can be used: 'a' \(constant\)"),
        ({}, pd.DataFrame(), ValueError, "the table has none"),
        ({}, SHOP[:0], ValueError, "0 samples"),
        ({}, pa.table([[1, 2], [3, 4]], ["a", "a"]), ValueError, "two columns are called 'a'"),
    ],
)
def test_bad_tables_and_parameters_are_refused(parameters, table, error, message):
    with pytest.raises(error, match=message):
        TableEncoder(**parameters).fit(table)


def test_column_names_need_not_be_strings():
    frame = pd.DataFrame({0: [1.0, 2.0], ("a", 1): [3.0, 5.0]})
    encoder = TableEncoder().fit(frame)
    assert list(encoder.get_feature_names_out()) == ["0", "('a', 1)"]
    np.testing.assert_array_equal(encoder.transform(frame), frame.to_numpy())


def test_it_is_a_transformer():
    encoder = clone(TableEncoder(min_frequency=0.1))
    with pytest.warns(UserWarning, match="not used") as caught:
        encoder.set_output(transform="pandas").fit_transform(SHOP.to_pandas())
    assert caught[0].filename == __file__
    frame = encoder.transform(SHOP.to_pandas())
    assert list(frame.columns) == list(encoder.get_feature_names_out())


def test_arrow_types_of_the_training_table():
    types = TableEncoder().fit(pa.concat_tables([EVERY_KIND] * 3)).arrow_schema()
    assert {field.name: str(field.type) for field in types} == {
        **dict.fromkeys(["whole", "float", "decimal", "duration"], "double"),
        "yes": "bool",
        "text": "string",
        "category": "string",
        "day": "timestamp[us]",
        "moment": "timestamp[us]",
        "instant": "timestamp[us, tz=UTC]",
        "clock": "time64[us]",
    }


def test_a_table_that_gives_too_many_features_is_refused_before_they_are_made():
    codes = pd.DataFrame({f"c{i}": [f"v{j % 100}" for j in range(400)] for i in range(250)})
    with pytest.raises(InputError, match=r"give 25,000 features, more than 20,000: leave out"):
        TableEncoder().fit(codes)
    assert TableEncoder(ignore=list(codes)[:50]).fit_transform(codes).shape == (400, 20_000)
    days = pd.date_range("2026-01-01", periods=40, freq="37h")
    dates = pd.DataFrame({f"d{i}": days for i in range(3000)})
    assert TableEncoder().fit_transform(dates).shape == (40, 21_000)
