"""What a calibrator needs is checked when it is used, with a message that names what is missing."""

import numpy as np
import pytest
from pyod.models.knn import KNN

from ctad import CTAD, CalibratedDetector, RelaxedCTAD
from ctad.calibration import BaseCalibrator, MahalanobisDistance
from ctad.errors import InputError
from ctad.wrapper import Calibrator
from ctad.wrapper._calibrator_protocol import check_calibrator, check_explainable

X = np.random.default_rng(0).normal(size=(50, 2))


class OnlyCalibrates:
    def fit(self, X, scores=None):
        return self

    def calibrate(self, scores, X):
        return scores


class Constant:
    """All that scoring needs."""

    def fit(self, X, *, scores):
        return self

    def delta(self, X):
        return np.ones(len(X))

    def combine(self, scores, delta):
        return scores + delta


def test_missing_methods_are_named_at_fit():
    with pytest.raises(TypeError, match="has no delta, combine: a calibrator needs fit"):
        CalibratedDetector(KNN(), OnlyCalibrates()).fit(X)


def test_a_class_is_not_a_calibrator():
    with pytest.raises(TypeError, match=r"calibrator is a class; pass an object: CTAD\(\)"):
        CalibratedDetector(KNN(), CTAD).fit(X)


def test_three_methods_suffice_to_score_and_decide():
    detector = CalibratedDetector(KNN(), Constant(), holdout=0.4).fit(X)
    np.testing.assert_array_equal(detector.anomaly_score(X), detector.base_score(X) + 1)
    assert detector.p_value([[9.0, 9.0]]).tolist() == [1 / 21]
    assert detector.monitor(X)


class FitsWithoutScores(Constant):
    def fit(self, X):
        return self


class FitsWithAnything(Constant):
    def fit(self, X, **kwargs):
        return self


def test_fit_must_accept_scores():
    check_calibrator(FitsWithAnything())
    with pytest.raises(TypeError, match=r"FitsWithoutScores .* has no parameter scores: .* fit\(X"):
        CalibratedDetector(KNN(), FitsWithoutScores()).fit(X)


class Faulty(Constant):
    """Returns results that are wrong, for all rows or only for new rows."""

    def __init__(self, method, result, after_rows=0):
        self.method, self.result, self.after_rows = method, result, after_rows

    def delta(self, X):
        if self.method == "delta" and len(X) > self.after_rows:
            return self.result(np.ones(len(X)))
        return super().delta(X)

    def combine(self, scores, delta):
        if self.method == "combine" and len(scores) > self.after_rows:
            return self.result(scores + delta)
        return super().combine(scores, delta)


WRONG_RESULTS = {
    "a matrix": (lambda s: s[:, np.newaxis], "must be one number per row, got shape"),
    "NaN": (lambda s: np.append(s[1:], np.nan), "1 of [0-9]+ are NaN"),
    "too few": (lambda s: s[1:], "inconsistent numbers of samples"),
    "nothing": (lambda s: None, "must be one number per row"),
    "text": (lambda s: ["x"] * len(s), "could not convert string to float"),
}


@pytest.mark.parametrize("what", WRONG_RESULTS)
@pytest.mark.parametrize("method", ["delta", "combine"])
def test_results_of_a_calibrator_are_checked(method, what):
    result, message = WRONG_RESULTS[what]
    message = rf"Faulty\.{method}\(.*\).*{message}"
    for holdout in (None, 0.4):
        with pytest.raises(InputError, match=message):
            CalibratedDetector(KNN(), Faulty(method, result), holdout=holdout).fit(X)
    detector = CalibratedDetector(KNN(), Faulty(method, result, after_rows=len(X))).fit(X)
    with pytest.raises(InputError, match=message):
        detector.score_parts(np.vstack([X, X]))


def test_explanations_and_reports_say_what_they_need():
    detector = CalibratedDetector(KNN(), Constant()).fit(X)
    message = r"Constant has no delta_parts\(\), so explain\(\) and report\(\) are not available"
    with pytest.raises(TypeError, match=message):
        detector.explain(X)
    with pytest.raises(TypeError, match=message):
        detector.report(X)


@pytest.mark.parametrize("calibrator", [CTAD(), RelaxedCTAD(), MahalanobisDistance()])
def test_own_calibrators_have_all_of_it(calibrator):
    check_calibrator(calibrator)
    check_explainable(calibrator)
    methods = [name for name in vars(Calibrator) if not name.startswith("_")]
    assert methods == ["fit", "delta", "combine"]
    assert all(hasattr(BaseCalibrator, name) for name in methods)
