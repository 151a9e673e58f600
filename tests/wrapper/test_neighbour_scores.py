"""Neighbour searches by brute force: scores of the detector, with the same bits in any batch."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyod.models.knn import KNN
from pyod.models.lof import LOF
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ctad._fixed_batches import score_in_fixed_batches
from ctad.wrapper import DetectorAdapter
from ctad.wrapper._neighbour_scores import MOST_COLUMNS, NeighbourScorer, find_nearest

from ..data import normal

X_TRAIN, X_NEW = normal(700, 20), normal(90, 20, seed=1) * 2  # brute force from 16 columns on
DETECTORS = [
    (KNN(), "decision_function"),
    (KNN(method="mean", n_neighbors=7), "decision_function"),
    (KNN(method="median"), "decision_function"),
    (LOF(), "decision_function"),
    (LocalOutlierFactor(novelty=True), "score_samples"),
]


@pytest.mark.interpreted
@given(
    seed=st.integers(0, 2**32 - 1),
    n_rows=st.integers(1, 9),
    n_known=st.integers(1, 600),
    n_columns=st.integers(1, 5),
    k=st.integers(1, 8),
    decimals=st.sampled_from([0, 17]),
)
def test_the_nearest_rows_are_found(seed, n_rows, n_known, n_columns, k, decimals):
    random, k = np.random.default_rng(seed), min(k, n_known)
    rows = random.normal(size=(n_rows, n_columns)).round(decimals)
    known = random.normal(size=(n_known, n_columns)).round(decimals)
    distance, nearest = np.empty((n_rows, k)), np.empty((n_rows, k), dtype=np.int64)
    find_nearest(rows, np.ascontiguousarray(known.T), distance, nearest)
    expected = np.linalg.norm(rows[:, np.newaxis] - known, axis=2)
    np.testing.assert_allclose(distance, np.sort(expected, axis=1)[:, :k], rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(np.take_along_axis(expected, nearest, 1), distance, rtol=1e-12)
    assert all(len(set(row)) == k for row in nearest)
    if decimals == 0:  # distances are often equal: the first rows count
        order = np.argsort(expected, axis=1, kind="stable")[:, :k]
        np.testing.assert_array_equal(nearest, order)


@pytest.mark.parametrize(("detector", "method"), DETECTORS)
def test_scores_are_the_detectors_own(detector, method):
    scores = NeighbourScorer(detector.fit(X_TRAIN), method)(X_NEW)
    np.testing.assert_allclose(scores, getattr(detector, method)(X_NEW), rtol=1e-12)


@pytest.mark.parametrize(("detector", "method"), DETECTORS)
def test_a_row_has_the_same_bits_in_any_batch(detector, method):
    adapter = DetectorAdapter.fitted(detector.fit(X_TRAIN), X_TRAIN)
    scores = adapter.score(X_NEW)
    assert scores[0] == adapter.sign * NeighbourScorer(detector, method)(X_NEW[:1])[0]
    for size in (1, 2, 3, 4, 5, 89):
        for start in (0, 7, 90 - size):
            part = slice(start, min(start + size, 90))
            np.testing.assert_array_equal(adapter.score(X_NEW[part]), scores[part])
    np.testing.assert_array_equal(adapter.score(X_NEW[::-1])[::-1], scores)
    np.testing.assert_array_equal(adapter.score(np.asfortranarray(X_NEW)), scores)


@pytest.mark.parametrize(("detector", "method"), DETECTORS)
def test_a_row_too_far_to_be_squared_does_not_change_the_others(detector, method):
    scorer = NeighbourScorer(detector.fit(X_TRAIN), method)
    scores = scorer(X_NEW)
    with_far = X_NEW.copy()
    with_far[[5, 40]] *= 1e160
    others = np.delete(np.arange(len(X_NEW)), [5, 40])
    np.testing.assert_array_equal(scorer(with_far)[others], scores[others])
    by_detector = score_in_fixed_batches(getattr(detector, method), with_far[[5, 40]])
    np.testing.assert_array_equal(scorer(with_far)[[5, 40]], by_detector)


def test_a_detector_that_is_fitted_again_has_other_neighbours():
    detector = KNN().fit(X_TRAIN)
    scorer = NeighbourScorer(detector, "decision_function")
    before = scorer(X_NEW)
    detector.fit(X_TRAIN * 3)
    assert not np.allclose(scorer(X_NEW), before)
    np.testing.assert_allclose(scorer(X_NEW), detector.decision_function(X_NEW), rtol=1e-12)


def test_with_few_known_rows_all_are_neighbours():
    """scikit-learn then uses fewer neighbours than asked for, with a warning."""
    with pytest.warns(UserWarning, match="n_neighbors"):
        detector = LocalOutlierFactor(novelty=True).fit(X_TRAIN[:8])
    scores = NeighbourScorer(detector, "score_samples")(X_NEW)
    np.testing.assert_allclose(scores, detector.score_samples(X_NEW), rtol=1e-12)
    knn = KNN().fit(X_TRAIN).set_params(n_neighbors=9)
    scores = NeighbourScorer(knn, "decision_function")(X_NEW)
    np.testing.assert_allclose(scores, knn.decision_function(X_NEW), rtol=1e-12)
    assert NeighbourScorer(knn.set_params(n_neighbors=701), "decision_function")(X_NEW) is None


class OwnLOF(LocalOutlierFactor):
    def score_samples(self, X):
        return np.zeros(len(X))


def test_other_detectors_and_rows_are_left_to_the_detector():
    knn = KNN().fit(X_TRAIN)
    scorer = NeighbourScorer(knn, "decision_function")
    missing = X_NEW.copy()
    missing[3, 1] = np.nan
    for rows in (missing, X_NEW[:, :3], X_NEW[:0], X_NEW.astype(np.float32), X_NEW.tolist()):
        assert scorer(rows) is None
    wide = normal(50, MOST_COLUMNS + 1)
    for detector, method, rows in (
        (KNN().fit(X_TRAIN[:, :4]), "decision_function", X_NEW[:, :4]),  # searches a tree
        (KNN(metric="manhattan").fit(X_TRAIN), "decision_function", X_NEW),
        (KNN(metric="cosine").fit(X_TRAIN), "decision_function", X_NEW),
        (KNN().fit(wide), "decision_function", wide),
        (knn, "predict_proba", X_NEW),
        (OwnLOF(novelty=True).fit(X_TRAIN), "score_samples", X_NEW),
        (make_pipeline(StandardScaler(), KNN()).fit(X_TRAIN), "decision_function", X_NEW),
        (pairwise_distances, "", X_NEW),
    ):
        assert NeighbourScorer(detector, method)(rows) is None
