"""Detectors by name."""

import sys

import numpy as np
import pytest

from ctad import CalibratedDetector
from ctad.detectors import KNOWN_DETECTORS, make

from ..data import normal


@pytest.mark.filterwarnings("ignore:.* scores a row differently among other rows")
@pytest.mark.parametrize("name", KNOWN_DETECTORS)
def test_every_detector_can_be_made_and_calibrated(name):
    detector = CalibratedDetector(make(name), random_state=0).fit(normal(200, 3))
    assert type(detector.detector_).__name__ == KNOWN_DETECTORS[name].name
    far, near = detector.anomaly_score(np.array([[20.0, 20.0, 20.0], [0.0, 0.0, 0.0]]))
    assert far > near
    assert KNOWN_DETECTORS[name].installed


def test_names_do_not_care_about_case_and_options_are_passed_on():
    assert make("iForest", n_estimators=7).n_estimators == 7
    assert make("LOCALOUTLIERFACTOR").novelty


def test_unknown_names_and_options_are_answered_with_the_known_ones():
    with pytest.raises(ValueError, match=r"no detector is called 'forest'. There are Isolation"):
        make("forest")
    with pytest.raises(ValueError, match=r"IForest has no option 'trees'. It has n_estimators,"):
        make("iforest", trees=3)


def test_a_library_that_is_not_installed_is_named_with_the_way_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyod.models.knn", None)
    with pytest.raises(ImportError, match=r"KNN is PyOD's: pip install 'ctad\[pyod\]'"):
        make("knn")
