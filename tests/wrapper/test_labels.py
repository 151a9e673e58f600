"""What `fit` does with labels, and which share of new normal rows `predict` flags."""

import numpy as np
import pandas as pd
import pytest
from pyod.models.knn import KNN
from sklearn.ensemble import IsolationForest

from ctad import CalibratedDetector, RelaxedCTAD
from ctad.calibration import BaseCalibrator
from ctad.wrapper import scoring_method

RANDOM = np.random.default_rng(0)
QUICK = RelaxedCTAD(n_centroids=10, n_draws=1)


def test_with_held_out_rows_the_stated_share_of_new_normal_rows_is_flagged():
    shares = []
    for seed in range(30):
        random = np.random.default_rng(seed)
        detector = CalibratedDetector(
            KNN(), QUICK, holdout=0.4, contamination=0.1, random_state=seed
        ).fit(random.normal(size=(300, 3)))
        shares.append(detector.predict(random.normal(size=(2000, 3))).mean())
    assert 0.08 < np.mean(shares) < 0.11


def test_labelled_anomalies_are_not_trained_on():
    normal, odd = RANDOM.normal(size=(200, 3)), RANDOM.normal(5, 1, size=(20, 3))
    X, y = np.vstack([odd, normal]), np.repeat([1, 0], [20, 200])
    labelled = CalibratedDetector(IsolationForest(), QUICK, random_state=0).fit(X, y)
    clean = CalibratedDetector(IsolationForest(), QUICK, random_state=0).fit(normal)
    np.testing.assert_array_equal(labelled.anomaly_score(X), clean.anomaly_score(X))
    assert labelled.n_ignored_anomalies_ == 20
    assert clean.n_ignored_anomalies_ == 0
    assert len(labelled.decision_scores_) == len(labelled.labels_) == 200
    frame = pd.DataFrame(X, columns=list("abc"))
    by_frame = CalibratedDetector(IsolationForest(), QUICK, random_state=0).fit(frame, y)
    assert len(by_frame.labels_) == 200


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([-1, 1, 1, 1], "1 for anomalies and 0 for normal rows"),
        ([0, 1], "one label per row, 4"),
        ([1, 1, 1, 0], "at least 2 normal rows"),
    ],
)
def test_labels_that_make_no_sense_are_refused(y, message):
    with pytest.raises(ValueError, match=message):
        CalibratedDetector(IsolationForest(), QUICK).fit(RANDOM.normal(size=(4, 2)), y)


@pytest.mark.parametrize("y", [[0, 1, 2, 0], [0.5, 1.5, 2.5, 3.5], list("abca")])
def test_other_targets_are_ignored_as_by_scikit_learn(y):
    detector = CalibratedDetector(IsolationForest(), RelaxedCTAD(5, 4, n_draws=1))
    assert len(detector.fit(RANDOM.normal(size=(4, 2)), y).labels_) == 4


def test_fit_predict_gives_the_labels_of_the_training_rows():
    X = RANDOM.normal(size=(100, 2))
    detector = CalibratedDetector(IsolationForest(), QUICK, random_state=0)
    labels = detector.fit_predict(X)
    np.testing.assert_array_equal(labels, detector.labels_)
    assert labels.sum() == 10


def test_an_array_after_a_frame_is_read_in_the_order_of_its_columns():
    frame = pd.DataFrame(RANDOM.normal(size=(100, 2)), columns=["a", "b"])
    detector = CalibratedDetector(IsolationForest(), QUICK, random_state=0).fit(frame)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        by_array = detector.anomaly_score(frame.to_numpy())
    np.testing.assert_array_equal(by_array, detector.anomaly_score(frame))


def test_parameters_of_the_default_calibrator_can_be_set():
    detector = CalibratedDetector(IsolationForest(), random_state=0)
    detector.set_params(calibrator__weight=3.0)
    detector.fit(RANDOM.normal(size=(60, 2)))
    assert detector.calibrator_.weight == 3.0
    assert type(detector.calibrator_) is RelaxedCTAD


def test_what_a_calibrator_lacks_is_named_at_fit():
    class Incomplete:
        def fit(self, X, scores=None):
            return self

        def calibrate(self, scores, X):
            return scores

    with pytest.raises(TypeError, match="has no delta, combine: a calibrator needs"):
        CalibratedDetector(IsolationForest(), Incomplete()).fit(RANDOM.normal(size=(20, 2)))
    assert issubclass(RelaxedCTAD, BaseCalibrator)


def test_the_sign_of_a_detector_is_never_guessed():
    assert scoring_method(IsolationForest(), "auto").sign == -1.0
    assert scoring_method(KNN(), "auto").sign == 1.0
    with pytest.raises(ValueError, match="polarity="):
        scoring_method(len, "auto")
