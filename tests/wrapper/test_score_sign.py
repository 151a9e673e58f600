"""The sign of a detector's scores is recognised or stated, never guessed."""

import numpy as np
import pytest
from pyod.models.iforest import IForest
from pyod.models.knn import KNN
from sklearn.ensemble import IsolationForest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KernelDensity, LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ctad import CalibratedDetector
from ctad.errors import InputError
from ctad.wrapper import scoring_method

from .detectors import DistanceToMean, distance_to_origin


class Likelihood:
    """The opposite sign, under the other name."""

    def score_samples(self, X):
        return -distance_to_origin(X)


class OwnForest(IsolationForest):
    """A subclass with a sign of its own."""

    def score_samples(self, X):
        return -super().score_samples(X)


@pytest.mark.parametrize(
    ("detector", "method", "sign"),
    [
        (KNN(), "decision_function", 1.0),
        (IsolationForest(), "score_samples", -1.0),
        (KernelDensity(), "score_samples", -1.0),
        (GaussianMixture(), "score_samples", -1.0),
        (LocalOutlierFactor(novelty=True), "score_samples", -1.0),
        (CalibratedDetector(KNN()), "decision_function", 1.0),
    ],
)
def test_known_libraries_are_recognised(detector, method, sign):
    pipeline = make_pipeline(StandardScaler(), detector)
    search = GridSearchCV(pipeline, {}, scoring=lambda *_: 0.0)
    for wrapped in (detector, pipeline, search, FrozenEstimator(detector)):
        found = scoring_method(wrapped)
        assert (found.method, found.sign) == (method, sign)


@pytest.mark.parametrize(
    ("detector", "method"),
    [
        (DistanceToMean(), "decision_function"),
        (Likelihood(), "score_samples"),
        (distance_to_origin, ""),
        (OwnForest(), "decision_function"),
    ],
)
def test_other_detectors_must_state_their_sign(detector, method):
    with pytest.raises(ValueError, match="say polarity='higher' or polarity='lower'"):
        scoring_method(detector)
    for polarity, sign in (("higher", 1.0), ("lower", -1.0)):
        found = scoring_method(detector, polarity)
        assert (found.method, found.sign) == (method, sign)


def test_a_stated_sign_overrides_the_recognised_one():
    assert scoring_method(IForest(), "lower").sign == -1.0


@pytest.mark.parametrize(
    ("detector", "message"),
    [
        (object(), "object has no scores"),
        ("iforest", r"pass an object: ctad.detectors.make\('iforest'\)"),
        (IsolationForest, r"pass an object: IsolationForest\(\)"),
        (StandardScaler(), "StandardScaler has no scores"),
    ],
)
def test_objects_without_scores_are_refused(detector, message):
    with pytest.raises(TypeError, match=message):
        scoring_method(detector)
    with pytest.raises(TypeError, match=message):
        CalibratedDetector(detector).fit(np.eye(4))


@pytest.mark.parametrize("wrap", [lambda detector: detector, make_pipeline, FrozenEstimator])
def test_lof_without_novelty_does_not_score_new_rows(wrap):
    with pytest.raises(
        InputError, match=r"^LocalOutlierFactor\(\) does .* rows: use novelty=True$"
    ):
        scoring_method(wrap(LocalOutlierFactor()))


def test_a_classifier_has_no_known_sign():
    with pytest.raises(ValueError, match="LogisticRegression"):
        scoring_method(LogisticRegression())


def test_polarity_has_three_values():
    with pytest.raises(ValueError, match="polarity must be one of 'auto', 'higher', 'lower'"):
        scoring_method(KNN(), "up")
