"""The contributions of columns and references sum to the term."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.base import clone

from ctad import CTAD, RelaxedCTAD
from ctad.calibration import CentroidDistance, MahalanobisDistance, TransportOnly

RANDOM = np.random.default_rng(0)
TRAIN = RANDOM.normal(size=(200, 6)) * [1, 1, 5, 0.1, 1, 30]
NEW = 2 * RANDOM.normal(size=(50, 6)) * [1, 1, 5, 0.1, 1, 30]

CALIBRATORS = [
    CTAD(target=target, signal=signal, random_state=0)
    for target in ("uniform", "sizes", "free")
    for signal in ("total", "own")
] + [
    RelaxedCTAD(random_state=0),
    CTAD(n_draws=2, feature_scaling="minmax", random_state=0),
    CTAD(30, 40, signal="own", random_state=0),
    CTAD(60, target="free", signal="own", random_state=0),
]


@pytest.fixture(params=CALIBRATORS, ids=str)
def calibrator(request):
    return clone(request.param).fit(TRAIN)


def test_the_parts_sum_to_the_term(calibrator):
    parts = calibrator.delta_parts(NEW)
    np.testing.assert_array_equal(parts.delta, calibrator.delta(NEW))
    together = parts.columns.sum(axis=1) + parts.references
    np.testing.assert_allclose(together, parts.delta, rtol=1e-12)
    assert (parts.columns >= 0).all()
    assert (parts.references == 0).all() == (calibrator.signal_ == "own")


def test_the_mass_of_each_row_goes_somewhere(calibrator):
    row, draw, centroid, share, distance, usual = calibrator.delta_parts(NEW).moves
    n_draws, m = len(calibrator.draws_), len(calibrator.references_)
    sums = np.zeros((len(NEW), n_draws))
    np.add.at(sums, (row, draw), share)
    np.testing.assert_allclose(sums, 1.0, rtol=1e-12)
    for number, described in enumerate(calibrator.draws_):
        inside = (NEW[:, described.columns] - described.shift) / described.scale
        here = draw == number
        far = cdist(inside, described.centroids)[row[here], centroid[here]]
        np.testing.assert_allclose(distance[here], far, rtol=1e-9)
        np.testing.assert_array_equal(usual[here], described.radius[centroid[here]])
    paid = np.bincount(row, share * distance / usual, minlength=len(NEW)) / (m + 1) / n_draws
    own = np.mean([each.solve(NEW).own for each in calibrator.draws_], axis=0)
    np.testing.assert_allclose(paid, own, rtol=1e-9)


def test_the_nearest_references(calibrator):
    neighbours = calibrator.delta_parts(NEW).neighbours
    draw = calibrator.draws_[0]
    distances = cdist((NEW - draw.shift) / draw.scale, calibrator.references_)
    np.testing.assert_allclose(neighbours.distance, np.sort(distances, axis=1)[:, :3], rtol=1e-9)
    np.testing.assert_array_equal(neighbours.reference[:, 0], distances.argmin(axis=1))


def test_columns_that_do_not_differ_have_no_part():
    calibrator = CTAD(target="free", signal="own", random_state=0).fit(TRAIN)
    row = calibrator.centroids_[2].copy()
    row[4] += 1e-3
    parts = calibrator.delta_parts([row, calibrator.centroids_[2]])
    np.testing.assert_allclose(parts.columns[0], [0, 0, 0, 0, parts.delta[0], 0], rtol=1e-12)
    np.testing.assert_array_equal(parts.columns[1], 0)


@pytest.mark.parametrize(
    "baseline",
    [CentroidDistance(8, random_state=0), MahalanobisDistance(), TransportOnly(random_state=0)],
)
def test_baselines_have_parts(baseline):
    parts = baseline.fit(TRAIN).delta_parts(np.vstack([NEW, TRAIN.mean(axis=0)]))
    np.testing.assert_allclose(parts.columns.sum(axis=1) + parts.references, parts.delta)
    np.testing.assert_allclose(parts.delta[:-1], baseline.delta(NEW), rtol=1e-12)


@given(
    st.floats(0, 10),
    st.sampled_from(["none", "unit", "standard", "robust"]),
    st.lists(st.floats(-1e6, 1e6) | st.just(np.inf), min_size=3, max_size=3),
)
def test_score_and_term_add_up(weight, scaling, scores):
    calibrator = CTAD(weight=weight, score_scaling=scaling, random_state=0)
    calibrator.fit(TRAIN[:20, :2], scores=TRAIN[:20, 2])
    terms = calibrator.delta(NEW[:3, :2])
    of_scores, of_terms = calibrator.contributions(scores, terms)
    np.testing.assert_array_equal(of_scores + of_terms, calibrator.combine(scores, terms))


def test_only_the_term_counts_in_transport_only():
    calibrator = TransportOnly(random_state=0).fit(TRAIN)
    of_scores, of_terms = calibrator.contributions([np.inf, 3.0], [1.0, 2.0])
    assert of_scores.tolist() == [0.0, 0.0]
    assert of_terms.tolist() == [1.0, 2.0]
