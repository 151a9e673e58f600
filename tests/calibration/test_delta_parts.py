"""The contributions of columns and references sum to the term."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.base import clone

from ctad import CTAD, RelaxedCTAD
from ctad.calibration import CentroidDistance, MahalanobisDistance, NeighbourDistance, TransportOnly

RANDOM = np.random.default_rng(0)
TRAIN = RANDOM.normal(size=(200, 6)) * [1, 1, 5, 0.1, 1, 30]
NEW = 2 * RANDOM.normal(size=(50, 6)) * [1, 1, 5, 0.1, 1, 30]

CALIBRATORS = [
    RelaxedCTAD(random_state=0),
    RelaxedCTAD(n_draws=2, random_state=0),
    RelaxedCTAD(training="normal", random_state=0),
    CTAD(random_state=0),
    CTAD(target="sizes", signal="own", random_state=0),
    CTAD(target="free", random_state=0),
    CTAD(n_draws=2, feature_scaling="minmax", random_state=0),
    CTAD(30, 40, signal="own", random_state=0),
    CTAD(60, target="free", signal="own", random_state=0),
]


@pytest.fixture(params=CALIBRATORS, ids=str, scope="module")
def calibrator(request):
    return clone(request.param).fit(TRAIN)


def test_the_parts_sum_to_the_term(calibrator):
    parts = calibrator.delta_parts(NEW)
    np.testing.assert_array_equal(parts.delta, calibrator.delta(NEW))
    together = parts.columns.sum(axis=1) + parts.references
    np.testing.assert_allclose(together, parts.delta, rtol=1e-12)
    assert (parts.columns >= 0).all()
    assert (parts.references == 0).all() == (calibrator.signal_ == "own")


def test_all_mass_of_each_row_is_in_the_moves(calibrator):
    moves = calibrator.delta_parts(NEW).moves
    views = [calibrator.draws_, getattr(calibrator, "wide_draws_", [])]  # wide draws come last
    draws, n_draws = [*views[0], *views[1]], len(calibrator.draws_)
    sums = np.zeros((len(NEW), len(draws)))
    np.add.at(sums, (moves.row, moves.draw), moves.share)
    is_used = sums > 0  # each row is in one of the views
    np.testing.assert_allclose(sums[is_used], 1.0, rtol=1e-12)
    np.testing.assert_array_equal(is_used.sum(axis=1), n_draws)
    for number, draw in enumerate(draws):
        here = moves.draw == number
        row, centroid = moves.row[here], moves.centroid[here]
        distances = cdist(draw.transform(NEW), draw.centroids)[row, centroid]
        np.testing.assert_allclose(moves.distance[here], distances, rtol=1e-9)
        np.testing.assert_array_equal(moves.usual[here], draw.radius[centroid])
    costs = moves.share * moves.distance / moves.usual
    paid = np.bincount(moves.row, costs, minlength=len(NEW))
    paid /= (len(calibrator.references_) + 1) * n_draws
    own = [np.mean([draw.solve(NEW).own for draw in view], axis=0) for view in views if view]
    np.testing.assert_allclose(paid, np.max(own, axis=0), rtol=1e-9)


@pytest.mark.parametrize("block_numbers", [1, 10**6])
def test_the_nearest_references(calibrator, block_numbers, monkeypatch):
    monkeypatch.setattr("ctad.calibration._draw.BLOCK_NUMBERS", block_numbers)
    neighbours = calibrator.delta_parts(NEW).neighbours
    draw = calibrator.draws_[0]
    distances = cdist(draw.transform(NEW), calibrator.references_)
    np.testing.assert_allclose(neighbours.distance, np.sort(distances, axis=1)[:, :3], rtol=1e-9)
    np.testing.assert_array_equal(neighbours.reference[:, 0], distances.argmin(axis=1))


def test_equal_columns_contribute_nothing():
    calibrator = CTAD(target="free", signal="own", random_state=0).fit(TRAIN)
    row = calibrator.centroids_[2].copy()
    row[4] += 1e-3
    parts = calibrator.delta_parts([row, calibrator.centroids_[2]])
    np.testing.assert_allclose(parts.columns[0], [0, 0, 0, 0, parts.delta[0], 0], rtol=1e-12)
    np.testing.assert_array_equal(parts.columns[1], 0)


@pytest.mark.parametrize(
    "baseline",
    [
        CentroidDistance(8, random_state=0),
        MahalanobisDistance(),
        NeighbourDistance(),
        TransportOnly(random_state=0),
    ],
)
def test_the_parts_of_baselines_sum_to_the_term(baseline):
    parts = baseline.fit(TRAIN).delta_parts(np.vstack([NEW, TRAIN.mean(axis=0)]))
    np.testing.assert_allclose(parts.columns.sum(axis=1) + parts.references, parts.delta)
    np.testing.assert_allclose(parts.delta[:-1], baseline.delta(NEW), rtol=1e-12)


SCALINGS = {
    name: CTAD(score_scaling=name, random_state=0).fit(TRAIN[:20, :2], scores=TRAIN[:20, 2])
    for name in ("none", "unit", "standard", "robust")
}


@given(
    st.floats(0, 10),
    st.sampled_from(list(SCALINGS)),
    st.lists(st.floats(-1e6, 1e6) | st.just(np.inf), min_size=3, max_size=3),
)
def test_the_contributions_sum_to_the_calibrated_score(weight, scaling, scores):
    calibrator = SCALINGS[scaling].set_params(weight=weight)
    terms = calibrator.delta(NEW[:3, :2])
    of_scores, of_terms = calibrator.contributions(scores, terms)
    np.testing.assert_array_equal(of_scores + of_terms, calibrator.combine(scores, terms))
    np.testing.assert_array_equal(
        calibrator.calibrate(scores, NEW[:3, :2]), calibrator.combine(scores, terms)
    )


def test_transport_only_ignores_the_score():
    calibrator = TransportOnly(random_state=0).fit(TRAIN)
    of_scores, of_terms = calibrator.contributions([np.inf, 3.0], [1.0, 2.0])
    assert of_scores.tolist() == [0.0, 0.0]
    assert of_terms.tolist() == [1.0, 2.0]
