"""The baselines, and that all calibrators have the same interface."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.covariance import LedoitWolf
from sklearn.ensemble import IsolationForest

from ctad import CTAD, CalibratedDetector, RelaxedCTAD
from ctad.calibration import CentroidDistance, MahalanobisDistance, NeighbourDistance, TransportOnly

from ..data import clusters, normal

X_TRAIN = clusters()
X_NEW = normal(20, 4, seed=1) * 4
ALL = [
    *(CTAD(), RelaxedCTAD()),
    *(CentroidDistance(), MahalanobisDistance(), NeighbourDistance(), TransportOnly()),
]


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


@pytest.mark.parametrize(("n_neighbors", "k"), [(1, 1), (5, 5), (0.1, None), (1e-9, 1)])
def test_neighbour_distance(n_neighbors, k, monkeypatch):
    calibrator = NeighbourDistance(n_neighbors).fit(X_TRAIN)
    k = round(0.1 * (len(X_TRAIN) - 1)) if k is None else k
    assert calibrator.n_neighbors_ == k
    distances = np.sort(cdist(X_NEW, X_TRAIN), axis=1)
    delta = calibrator.delta(X_NEW)
    np.testing.assert_allclose(delta, distances[:, :k].mean(axis=1), rtol=1e-9)
    # A training row is not its own neighbour.
    distances = np.sort(cdist(X_TRAIN, X_TRAIN), axis=1)[:, 1 : k + 1]
    np.testing.assert_allclose(calibrator.training_delta_, distances.mean(axis=1), atol=1e-9)
    # Scores do not depend on the batch, nor on the blocks.
    each = [calibrator.delta(X_NEW[i : i + 1])[0] for i in range(len(X_NEW))]
    np.testing.assert_array_equal(delta, each)
    monkeypatch.setattr("ctad.calibration._neighbour_distance.BLOCK_NUMBERS", 1)
    np.testing.assert_array_equal(calibrator.delta(X_NEW), delta)
    parts = calibrator.delta_parts(X_NEW)
    np.testing.assert_array_equal(parts.delta, delta)
    np.testing.assert_allclose(parts.columns.sum(axis=1), delta, rtol=1e-9)


def test_more_neighbours_than_rows():
    with pytest.warns(UserWarning, match="only 3 training rows: using n_neighbors=3 instead of 5"):
        assert NeighbourDistance().fit(X_TRAIN[:4]).n_neighbors_ == 3


@pytest.mark.parametrize(
    ("n_neighbors", "error"),
    [(0, ValueError), (1.0, ValueError), (0.0, ValueError), ("5", TypeError)],
)
def test_a_number_or_a_share_of_neighbours(n_neighbors, error):
    with pytest.raises(error, match="n_neighbors must be"):
        NeighbourDistance(n_neighbors).fit(X_TRAIN)
