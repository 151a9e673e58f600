"""The baselines, and that all calibrators have the same interface."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.covariance import LedoitWolf
from sklearn.ensemble import IsolationForest

from ctad import CTAD, CalibratedDetector, RelaxedCTAD
from ctad.calibration import CentroidDistance, MahalanobisDistance, TransportOnly

from ..data import clusters, normal

X_TRAIN = clusters()
X_NEW = normal(20, 4, seed=1) * 4
ALL = [CTAD(), RelaxedCTAD(), CentroidDistance(), MahalanobisDistance(), TransportOnly()]


@pytest.mark.parametrize("calibrator", ALL, ids=lambda c: type(c).__name__)
def test_all_calibrators_work_in_a_detector(calibrator):
    detector = CalibratedDetector(IsolationForest(random_state=0), calibrator, random_state=0)
    scores = detector.fit(X_TRAIN).anomaly_score(np.vstack([X_NEW, np.full((1, 4), 90.0)]))
    assert scores.argmax() == 20


def test_centroid_distance():
    calibrator = CentroidDistance(random_state=0).fit(X_TRAIN)
    assert calibrator.centroids_.shape == (5, 4)
    np.testing.assert_allclose(
        calibrator.delta(X_NEW), cdist(X_NEW, calibrator.centroids_).min(axis=1), rtol=1e-12
    )
    parts = calibrator.delta_parts(X_NEW)
    np.testing.assert_allclose(parts.columns.sum(axis=1), parts.delta, rtol=1e-12)


def test_mahalanobis_distance():
    calibrator = MahalanobisDistance().fit(X_TRAIN)
    shrunk = LedoitWolf().fit(X_TRAIN)
    difference = X_NEW - X_TRAIN.mean(axis=0)
    expected = np.einsum("ni,ij,nj->n", difference, np.linalg.inv(shrunk.covariance_), difference)
    np.testing.assert_allclose(calibrator.delta(X_NEW), np.sqrt(expected), rtol=1e-9)


@pytest.mark.parametrize(("n", "d"), [(2, 50), (10, 50), (300, 4)])
@pytest.mark.parametrize("constant_column", [False, True])
def test_mahalanobis_with_more_columns_than_rows(n, d, constant_column):
    train = normal(n, d)
    if constant_column:
        train[:, 0] = 1.0
    delta = MahalanobisDistance().fit(train).delta(np.vstack([train, train + 100.0]))
    assert np.isfinite(delta).all()
    assert delta[:n].max() < delta[n:].min()


def test_mahalanobis_refuses_equal_rows():
    with pytest.raises(ValueError, match="all 60 training rows are equal"):
        MahalanobisDistance().fit(np.ones((60, 3)))


def test_transport_only_ignores_the_scores():
    only = TransportOnly(random_state=0).fit(X_TRAIN)
    ctad = CTAD(random_state=0).fit(X_TRAIN)
    scores = normal(20, seed=3)
    np.testing.assert_array_equal(only.calibrate(scores, X_NEW), ctad.delta(X_NEW))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        only.calibrate(scores[:-1], X_NEW)
