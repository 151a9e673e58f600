"""What a term is made of: the parts sum to it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from ctad.calibration import CentroidDistance, MahalanobisDistance, TransportOnly

from ..calibrators import plain_ctad

RANDOM = np.random.default_rng(0)
TRAIN = RANDOM.normal(size=(200, 6)) * [1, 1, 5, 0.1, 1, 30]
NEW = 2 * RANDOM.normal(size=(50, 6)) * [1, 1, 5, 0.1, 1, 30]

SETTINGS = [
    {"target": target, "signal": signal}
    for target in ("uniform", "sizes", "free")
    for signal in ("total", "own")
] + [
    {"target": "free", "signal": "own", "cost": "relative", "n_draws": 3, "columns": "random"},
    {"target": "uniform", "signal": "total", "n_draws": 2, "feature_scaling": (None, "minmax")},
    {"n_centroids": 30, "n_references": 40, "signal": "own"},
    {"n_centroids": 60, "target": "free", "signal": "own"},
]


@pytest.fixture(params=SETTINGS, ids=lambda settings: " ".join(map(str, settings.values())))
def calibrator(request):
    return plain_ctad(**request.param, random_state=0).fit(TRAIN)


def test_the_parts_sum_to_the_term(calibrator):
    parts = calibrator.delta_parts(NEW)
    np.testing.assert_array_equal(parts.delta, calibrator.delta(NEW))
    together = parts.columns.sum(axis=1) + parts.references
    np.testing.assert_allclose(together, parts.delta, rtol=1e-12)
    assert (parts.columns >= 0).all()
    assert (parts.references == 0).all() == (calibrator.signal == "own")


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
    own = plain_ctad(**{**calibrator.get_params(), "signal": "own"}).fit(TRAIN).delta(NEW)
    np.testing.assert_allclose(paid, own, rtol=1e-9)


def test_the_nearest_references(calibrator):
    neighbours = calibrator.delta_parts(NEW).neighbours
    draw = calibrator.draws_[0]
    distances = cdist((NEW - draw.shift) / draw.scale, calibrator.references_)
    np.testing.assert_allclose(neighbours.distance, np.sort(distances, axis=1)[:, :3], rtol=1e-9)
    np.testing.assert_array_equal(neighbours.reference[:, 0], distances.argmin(axis=1))


def test_columns_that_do_not_differ_have_no_part():
    calibrator = plain_ctad(target="free", signal="own", random_state=0).fit(TRAIN)
    row = calibrator.centroids_[2].copy()
    row[4] += 1e-3
    parts = calibrator.delta_parts([row, calibrator.centroids_[2]])
    np.testing.assert_allclose(parts.columns[0], [0, 0, 0, 0, parts.delta[0], 0], rtol=1e-12)
    np.testing.assert_array_equal(parts.columns[1], 0)


@pytest.mark.parametrize(
    "rival",
    [CentroidDistance(8, random_state=0), MahalanobisDistance(), TransportOnly(random_state=0)],
)
def test_rivals_have_parts(rival):
    parts = rival.fit(TRAIN).delta_parts(np.vstack([NEW, TRAIN.mean(axis=0)]))
    np.testing.assert_allclose(parts.columns.sum(axis=1) + parts.references, parts.delta)
    np.testing.assert_allclose(parts.delta[:-1], rival.delta(NEW), rtol=1e-12)


@given(
    st.floats(0, 10),
    st.sampled_from(["none", "unit", "standard", "robust"]),
    st.lists(st.floats(-1e6, 1e6) | st.just(np.inf), min_size=3, max_size=3),
)
def test_score_and_term_add_up(weight, scaling, scores):
    calibrator = plain_ctad(weight=weight, score_scaling=scaling, random_state=0)
    calibrator.fit(TRAIN[:20, :2], scores=TRAIN[:20, 2])
    terms = calibrator.delta(NEW[:3, :2])
    of_scores, of_terms = calibrator.parts(scores, terms)
    np.testing.assert_array_equal(of_scores + of_terms, calibrator.combine(scores, terms))


def test_only_the_term_counts_in_transport_only():
    calibrator = TransportOnly(weight=1.0, random_state=0).fit(TRAIN)
    of_scores, of_terms = calibrator.parts([np.inf, 3.0], [1.0, 2.0])
    assert of_scores.tolist() == [0.0, 0.0]
    assert of_terms.tolist() == [1.0, 2.0]
