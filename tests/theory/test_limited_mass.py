"""The theorems of docs/theory.md about limited mass, and attempts to break them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.spatial.distance import cdist

from ctad import RelaxedCTAD
from ctad.theory import bounds
from ctad.transport import PartialTransport

from ..data import clusters, normal

# Equal points, points far away, points on a line; shares of zero and of nearly all.
places = st.sampled_from([0.0, 0.0, 1.0, 1.0, -1.0, 10.0, 1e4]) | st.floats(-50, 50, width=16)
weights = st.sampled_from([0.0, 1.0, 1.0, 50.0]) | st.floats(0.0625, 10, width=16)


@st.composite
def measures(draw, d=2):
    """Centroids, and the share of the rows that each stands for."""
    k = draw(st.integers(1, 8))
    points = np.array(draw(st.lists(st.tuples(*[places] * d), min_size=k, max_size=k)))
    sizes = np.array(draw(st.lists(weights, min_size=k, max_size=k))) + 0.0
    sizes[draw(st.integers(0, k - 1))] += 1.0
    return points, sizes / sizes.sum()


points = st.tuples(places, places).map(lambda point: np.array([point]))
masses = st.sampled_from([1e-6, 0.1, 0.3, 0.5, 0.99, 1.0])


def cost(x, measure, m):
    """d_m(x), by the engine."""
    centroids, shares = measure
    return PartialTransport(shares / m).solve(cdist(x, centroids)).own[0]


def assert_at_most(low, high):
    """Assert `low <= high`, except for rounding."""
    assert low <= high + 1e-9 * (1 + abs(high)), (low, high)


@given(measures(), points, masses)
def test_filling_the_nearest_centroids_first_is_optimal(measure, x, m):
    """Theorem 8, compared with a linear program."""
    centroids, shares = measure
    costs = cdist(x, centroids)[0]
    scale = max(1.0, costs.max())
    # In units of m, because the solver takes small masses for rounding errors.
    solved = linprog(
        costs / scale,
        A_eq=np.ones((1, len(costs))),
        b_eq=[1.0],
        bounds=[(0, p / m) for p in shares],
    )
    if solved.status == 0:
        assert cost(x, measure, m) == pytest.approx(solved.fun * scale, rel=1e-6, abs=1e-6 * scale)
    else:  # all mass is needed, and rounding leaves none
        assert m == 1.0


@given(measures(), points, masses, masses)
def test_the_cost_grows_from_the_nearest_centroid_to_the_mean_of_all(measure, x, m, other):
    """Theorem 8, limits."""
    centroids, shares = measure
    costs = cdist(x, centroids)[0]
    small, large = sorted([m, other])
    assert_at_most(cost(x, measure, small), cost(x, measure, large))
    assert cost(x, measure, 1.0) == pytest.approx(shares @ costs, rel=1e-9, abs=1e-9)
    nearest = np.flatnonzero((costs == costs[shares > 0].min()) & (shares > 0))
    room = shares[nearest].max()
    assert cost(x, measure, room) == pytest.approx(costs[nearest[0]], rel=1e-9, abs=1e-9)
    assert_at_most(costs.min(), cost(x, measure, m))
    limited = np.minimum(shares, m)
    assert_at_most(cost(x, measure, m), limited @ costs / limited.sum())


@given(measures(), points, points, masses)
def test_the_cost_changes_no_faster_than_the_row(measure, x, y, m):
    """Theorem 9."""
    change = abs(cost(x, measure, m) - cost(y, measure, m))
    assert_at_most(change, np.linalg.norm(x - y))


@given(measures(), points, masses)
def test_the_dual(measure, x, m):
    """Theorem 10: the maximum is at the cost of one of the centroids."""
    centroids, shares = measure
    costs = cdist(x, centroids)[0]
    values = [t - shares @ np.maximum(t - costs, 0.0) / m for t in costs]
    # For a small m, the sum is a difference of large numbers.
    rounding = 1e-12 * costs.max() / m
    assert max(values) == pytest.approx(cost(x, measure, m), rel=1e-9, abs=1e-9 + rounding)
    for t in (-1.0, 0.5 * costs.mean(), 2.0 * costs.max()):
        assert t - shares @ np.maximum(t - costs, 0.0) / m <= max(values) + 1e-9 + rounding


@given(measures(), measures(), points, masses)
def test_other_centroids_change_the_cost_by_at_most_their_distance(one, other, x, m):
    """Theorem 10: the Wasserstein distance, divided by m."""
    (first, p), (second, q) = one, other
    costs = cdist(first, second)
    scale = max(1.0, costs.max())
    k, n = costs.shape
    conditions = np.vstack([np.kron(np.eye(k), np.ones(n)), np.kron(np.ones(k), np.eye(n))])
    # One condition follows from the others.
    moved = linprog((costs / scale).ravel(), A_eq=conditions[:-1], b_eq=[*p, *q][:-1])
    assert moved.status == 0
    change = abs(cost(x, one, m) - cost(x, other, m))
    assert change <= moved.fun * scale / m * (1 + 1e-6) + 1e-6 * scale / m


@given(measures(), measures(), points, st.sampled_from([0.01, 0.05, 0.2, 0.5]), masses)
def test_replaced_rows_change_the_cost_by_a_known_share(clean, dirt, x, e, m):
    """Theorem 11."""
    together = np.vstack([clean[0], dirt[0]]), np.concatenate([(1 - e) * clean[1], e * dirt[1]])
    found = cost(x, together, m)
    if e < m:
        assert_at_most((m - e) / m * cost(x, clean, (m - e) / (1 - e)), found)
    if m <= 1 - e:
        assert_at_most(found, cost(x, clean, m / (1 - e)))


def test_replaced_rows_can_bring_the_free_target_to_nothing_but_not_limited_mass():
    """Rows at the anomaly itself: the worst case, and the bound is reached."""
    clean, anomaly = (np.array([[0.0, 0.0]]), np.ones(1)), np.array([[8.0, 6.0]])
    dirty = np.vstack([clean[0], anomaly]), np.array([0.95, 0.05])
    assert cost(anomaly, dirty, 0.05) == 0.0
    assert cost(anomaly, dirty, 0.3) == pytest.approx((1 - 0.05 / 0.3) * 10)


@pytest.mark.parametrize("training", ["mixed", "normal"])
def test_the_term_does_not_depend_on_units(training):
    """Theorem 12, also for columns whose sign is reversed."""
    train, new = clusters(), normal(50, 4) * 4
    factors, shifts = np.array([1e-6, -3.0, 1e6, -1e3]), np.array([0.0, 5.0, -1e6, 1e4])
    plain, changed = (
        RelaxedCTAD(training=training, random_state=0).fit(rows)
        for rows in (train, train * factors + shifts)
    )
    np.testing.assert_allclose(changed.delta(new * factors + shifts), plain.delta(new), rtol=1e-9)


def test_the_bounds_of_a_term_with_a_wide_view():
    """Theorem 8: the wide view of anomalies among the training rows is not bounded by d."""
    train = np.vstack([clusters(), 30.0 + 0.1 * normal(15, 4)])
    calibrator = RelaxedCTAD(random_state=0).fit(train)
    found = bounds(calibrator, train)
    assert (found.lower <= found.term * (1 + 1e-12)).all()
    assert (found.term <= found.upper * (1 + 1e-12)).all()
    assert (found.term[-15:] > 2 * found.lower[-15:]).all()
