"""What a calibrator needs is checked when it is used, with a message that names what is missing."""

import numpy as np
import pytest
from pyod.models.knn import KNN

from ctad import CTAD, CalibratedDetector, RelaxedCTAD
from ctad.calibration import BaseCalibrator, MahalanobisDistance
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
