"""Labels passed to `fit`: anomalies are not trained on."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.ensemble import IsolationForest

from ctad import CTAD, CalibratedDetector, load
from ctad.wrapper._labels import anomaly_labels, training_labels

RANDOM = np.random.default_rng(0)
NORMAL, ODD = RANDOM.normal(size=(200, 3)), RANDOM.normal(5, 1, size=(20, 3))
X, Y = np.vstack([ODD, NORMAL]), np.repeat([1, 0], [20, 200])


def detector(**options):
    return CalibratedDetector(IsolationForest(n_estimators=10), CTAD(), random_state=0, **options)


def test_labelled_anomalies_are_not_trained_on(tmp_path):
    labelled, clean = detector().fit(X, Y), detector().fit(NORMAL)
    np.testing.assert_array_equal(labelled.anomaly_score(X), clean.anomaly_score(X))
    np.testing.assert_array_equal(labelled.labels_, clean.labels_)
    assert (labelled.n_ignored_anomalies_, clean.n_ignored_anomalies_) == (20, 0)
    labelled.save(tmp_path / "model.ctad")
    assert load(tmp_path / "model.ctad").n_ignored_anomalies_ == 20


def test_only_normal_rows_are_held_out():
    labelled = detector(holdout=0.25).fit(X, Y)
    clean = detector(holdout=0.25).fit(NORMAL)
    np.testing.assert_array_equal(
        labelled.calibration_scores_.score, clean.calibration_scores_.score
    )
    assert len(labelled.labels_) == 150


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_labelled_anomalies_in_tables(library):
    table = library(dict(zip("abc", X.T, strict=True)))
    fitted = detector().fit(table, Y)
    assert len(fitted.labels_) == 200
    assert fitted.n_ignored_anomalies_ == 20


def test_labels_without_anomalies_change_nothing():
    np.testing.assert_array_equal(
        detector().fit(NORMAL, np.zeros(200)).decision_scores_,
        detector().fit(NORMAL).decision_scores_,
    )


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.array([-1, 1, 1, 1], dtype=object), "1 for anomalies and 0 for normal rows"),
        ([-1, 1, 1, 1], "1 for anomalies and 0 for normal rows"),
        ([0, 1], "one label per row, 4"),
        ([1, 1, 1, 0], "y labels 1 of 4 rows as normal: .* at least 2"),
    ],
)
def test_labels_that_make_no_sense_are_refused(y, message):
    with pytest.raises(ValueError, match=message):
        detector().fit(NORMAL[:4], y)


@pytest.mark.parametrize(
    "labels",
    [
        Y.astype(object),
        Y.astype(bool).astype(object),
        Y.astype(float),
        Y.astype(np.uint8),
        pd.Series(Y, dtype="Int64"),
        pd.Series(Y, dtype="boolean"),
        pl.Series(Y),
        pl.Series(Y, dtype=pl.Boolean),
        pa.array(Y),
        Y.tolist(),
    ],
    ids=lambda labels: f"{type(labels).__module__} {getattr(labels, 'dtype', '')}",
)
def test_zero_and_one_are_labels_in_any_dtype(labels):
    np.testing.assert_array_equal(training_labels(labels, len(X)), Y == 1)


@pytest.mark.parametrize(
    "y",
    [
        [0, 1, 2, 0],
        [0, 2, 2, 0],
        [0.5, 1.5, 2.5, 3.5],
        list("abca"),
        list("0110"),
        [0, 1, np.nan, 0],
        np.array([0, 1, None, 0], dtype=object),
        pd.Series([0, 1, None, 0], dtype="Int64"),
        pl.Series([0, 1, None, 0]),
    ],
    ids=str,
)
def test_other_targets_are_ignored_with_one_warning(y):
    model = CalibratedDetector(IsolationForest(n_estimators=5), CTAD(1, 2))
    with pytest.warns(UserWarning, match="y was ignored") as caught:
        fitted = model.fit(NORMAL[:4], y)
    (warning,) = caught
    assert "labels must be 1 for anomalies and 0 for normal rows" in str(warning.message)
    assert warning.filename == __file__
    assert len(fitted.labels_) == 4


def test_labels_for_a_report_are_checked():
    assert anomaly_labels([0.0, True], 2).tolist() == [False, True]
    with pytest.raises(ValueError, match="1 for anomalies and 0"):
        anomaly_labels([0, 2], 2)
