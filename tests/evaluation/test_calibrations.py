"""Calibrations add score and term as the library does, unless they say otherwise."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from ctad import CTAD, RelaxedCTAD
from ctad.calibration import MahalanobisDistance, TransportOnly
from ctad.evaluation import RANDOM_SPLIT, Calibration, Protocol, Values
from ctad.evaluation._terms import Terms


def sum_of_both(scores, terms, weight):
    return scores.test + weight * terms.test


PLAIN_SUM = Protocol("plain sum", "", shuffled=True, standardised=True, add=sum_of_both)


@pytest.fixture(scope="module")
def split(wines):
    return RANDOM_SPLIT.split(wines, seed=0)


@pytest.fixture(scope="module")
def scores(split):
    return Values(split.train[:, 0] ** 2, split.test[:, 0] ** 2)


def calibrated(calibration, split, scores, protocol=RANDOM_SPLIT):
    term = Terms(split, 5).of(calibration)
    return calibration.apply(scores, term.values, term.calibrator, protocol)


@pytest.mark.parametrize(
    "calibrator",
    [
        CTAD(),
        CTAD(3, weight=0.7, score_scaling="standard"),
        RelaxedCTAD(n_draws=2),
        TransportOnly(),
        MahalanobisDistance(score_scaling="unit"),
    ],
    ids=lambda calibrator: type(calibrator).__name__,
)
def test_by_default_it_adds_as_the_calibrator_does(calibrator, split, scores):
    expected = Calibration("", calibrator).for_seed(5).fit(split.train, scores=scores.train)
    np.testing.assert_allclose(
        calibrated(Calibration("mine", calibrator), split, scores),
        expected.calibrate(scores.test, split.test),
    )


def test_names_stand_for_the_defaults_of_the_library():
    assert isinstance(Calibration.named("recommended").calibrator, RelaxedCTAD)
    assert type(Calibration.named("paper").calibrator) is CTAD
    with pytest.raises(ValueError, match="'best' is not a calibration; choose recommended or"):
        Calibration.named("best")


def test_weight_and_addition_can_be_changed(split, scores):
    half = Calibration("half", CTAD(score_scaling="standard"), weight=0.5)
    np.testing.assert_allclose(
        calibrated(half, split, scores),
        calibrated(Calibration("", CTAD(score_scaling="standard", weight=0.5)), split, scores),
    )
    plain = Calibration("plain", RelaxedCTAD(n_draws=2), weight=1.0, add=sum_of_both)
    by_protocol = Calibration("plain", RelaxedCTAD(n_draws=2), weight=1.0, add="protocol")
    np.testing.assert_array_equal(
        calibrated(plain, split, scores), calibrated(by_protocol, split, scores, PLAIN_SUM)
    )


class NearestMean(BaseEstimator):
    """A calibrator that is not of ctad."""

    def fit(self, rows):
        self.mean_ = rows.mean(axis=0)
        return self

    def delta(self, rows):
        return np.abs(rows - self.mean_).sum(axis=1)


def test_any_object_with_fit_and_delta_is_a_calibrator(split, scores):
    term = NearestMean().fit(split.train)
    train, test = term.delta(split.train), term.delta(split.test)
    expected = (scores.test - scores.train.mean()) / scores.train.std()
    expected += (test - train.mean()) / train.std()
    np.testing.assert_allclose(
        calibrated(Calibration("mine", NearestMean()), split, scores), expected
    )


def test_equal_calibrators_share_their_terms(split):
    terms = Terms(split, 0)
    first = terms.of(Calibration("a", CTAD()))
    assert terms.of(Calibration("b", CTAD(), weight=2.0)) is first
    assert terms.of(Calibration("a", CTAD(3))) is not first


def test_the_calibrator_is_cloned_and_gets_the_seed():
    calibrator = CTAD(random_state=5)
    assert Calibration("mine", calibrator).for_seed(2).random_state == 2
    assert calibrator.random_state == 5
