"""InputConverter: arrays and tables as numeric rows, and in the form the detector needs."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyod.models.knn import KNN
from sklearn.base import BaseEstimator
from sklearn.ensemble import IsolationForest
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from ctad.tables import TableEncoder
from ctad.wrapper import InputConverter

ARRAY = np.random.default_rng(0).normal(size=(40, 2))
NUMBERS = pd.DataFrame(ARRAY, columns=["a", "b"])
MIXED = NUMBERS.assign(plan=["x", "y"] * 20)


class Estimator(BaseEstimator):
    """The estimator that messages name."""


def fitted(X, detector=None, **options):
    estimator = Estimator()
    converter, rows = InputConverter.fitted(
        X, estimator=estimator, detector=KNN() if detector is None else detector, **options
    )
    return estimator, converter, rows


def test_arrays_stay_as_they_are():
    estimator, converter, rows = fitted(ARRAY)
    np.testing.assert_array_equal(rows, ARRAY)
    assert estimator.n_features_in_ == 2
    assert converter.column_names == ("column 0", "column 1")
    assert converter.columns_in_use == converter.feature_sources == ["column 0", "column 1"]
    assert converter.feature_cycles == [None, None]
    assert converter.as_table(ARRAY, estimator) is ARRAY
    new = converter.numeric_rows(ARRAY[:3], estimator)
    assert converter.detector_rows(ARRAY[:3], new) is new
    [first, second] = converter.column_values(ARRAY[:3], new)
    assert (first.column.name, second.column.kind) == ("column 0", "number")


def test_tables_are_encoded():
    estimator, converter, rows = fitted(MIXED)
    assert rows.shape == (40, 4)
    assert list(estimator.feature_names_in_) == ["a", "b", "plan"]
    assert converter.feature_sources == ["a", "b", "plan", "plan"]
    np.testing.assert_array_equal(converter.numeric_rows(MIXED, estimator), rows)
    assert converter.detector_rows(MIXED, rows) is rows
    decoded = converter.decoded(rows)
    np.testing.assert_allclose(decoded[0].values, NUMBERS["a"])
    assert list(decoded[2].values) == list(MIXED["plan"])
    assert list(converter.column_values(MIXED, rows)[2].values) == list(MIXED["plan"])


def test_the_encoder_passed_in_is_cloned():
    encoder = TableEncoder(scaling="standard")
    _, converter, _ = fitted(MIXED, encoder=encoder)
    assert converter.encoder is not encoder
    assert converter.encoder.scaling == "standard"
    assert not hasattr(encoder, "features_")


def test_an_array_in_place_of_a_numeric_table():
    estimator, converter, rows = fitted(NUMBERS)
    with pytest.warns(UserWarning, match="not have valid feature names, but Estimator was fitted"):
        table = converter.as_table(ARRAY, estimator)
    np.testing.assert_array_equal(converter.numeric_rows(table, estimator), rows)


@pytest.mark.parametrize(
    ("trained_on", "X", "message"),
    [
        (NUMBERS, ARRAY[:, :1], r"shape \(40, 1\), but Estimator is expecting 2 features .* 'a'"),
        (NUMBERS, ARRAY[0], r"shape \(2,\), but Estimator is expecting 2 features"),
        (NUMBERS, ARRAY.astype(str), "array of dtype <U.*, but numbers are needed"),
        (MIXED, np.ones((2, 3)), "column 'plan' is not numeric .* needs a pandas, polars or Arrow"),
    ],
)
def test_arrays_that_do_not_fit_the_table_are_refused(trained_on, X, message):
    estimator, converter, _ = fitted(trained_on)
    with pytest.raises(ValueError, match=message):
        converter.as_table(X, estimator)


class OwnDetector(BaseEstimator):
    """Of no known library, so it may use column names."""

    def fit(self, X):
        return self


@pytest.mark.parametrize(
    ("X", "form", "kind"),
    [
        (MIXED, "pandas", pd.DataFrame),
        (pl.from_pandas(MIXED), "polars", pl.DataFrame),
        (pa.Table.from_pandas(MIXED), "pyarrow", pa.Table),
    ],
)
def test_detectors_that_may_use_names_get_tables_in_the_order_of_training(X, form, kind):
    detectors = (
        OwnDetector(),
        len,
        make_pipeline(FunctionTransformer(), KNN()),
        make_pipeline(TableEncoder(), KNN()),
    )
    for detector in detectors:
        estimator, converter, _ = fitted(X, detector)
        assert converter.detector_form == form
        other = MIXED[["plan", "b", "a"]].assign(more=1)
        table = converter.detector_rows(other, converter.numeric_rows(other, estimator))
        assert isinstance(table, kind)
        assert list(getattr(table, "column_names", None) or table.columns) == ["a", "b", "plan"]


def test_a_detector_fitted_before_gets_what_it_was_fitted_on():
    by_name = FrozenEstimator(IsolationForest(n_estimators=2).fit(NUMBERS[["b"]]))
    _, converter, rows = fitted(NUMBERS, by_name, is_trained=True)
    assert converter.detector_columns == ("b",)
    assert list(converter.detector_rows(NUMBERS, rows).columns) == ["b"]
    by_array = IsolationForest(n_estimators=2).fit(ARRAY)
    _, converter, rows = fitted(NUMBERS, by_array, is_trained=True)
    assert converter.detector_form == "numbers"
    np.testing.assert_array_equal(converter.detector_rows(NUMBERS, rows), ARRAY)
    _, converter, _ = fitted(NUMBERS, make_pipeline(StandardScaler(), KNN()))
    assert converter.detector_form == "encoded"


def test_unknown_forms_are_refused():
    with pytest.raises(ValueError, match="'csv' is not one of encoded, numbers, pandas"):
        InputConverter(("a",), None, "csv")
