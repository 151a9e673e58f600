"""Properties of RowTransport beside its exactness."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from functools import partial

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from ctad.transport import (
    EuclideanCosts,
    RowTransport,
    Transported,
    _row_transport,
    _transport,
    euclidean_costs,
)

from ..data import normal

TARGETS = {"uniform": "uniform", "free": "free", "multiples": np.array([4, 0, 9, 1, 7])}


@pytest.fixture
def centroids():
    return normal(5, 7, seed=1)


@pytest.fixture(params=[*TARGETS, "search"])
def transport(request, centroids, monkeypatch):
    """Each target with a table, and the placement by search (K = 5, M = 20)."""
    if request.param == "search":
        monkeypatch.setattr(_row_transport, "MAX_STATES", 0)
    reference_costs = cdist(normal(20, 7, seed=2), centroids)
    return RowTransport(reference_costs, TARGETS.get(request.param, "uniform"))


@pytest.fixture
def threads_used(monkeypatch):
    """Count threads; blocks are small, so that few rows need several."""
    used = []

    class Counting(ThreadPoolExecutor):
        def __init__(self, max_workers):
            used.append(max_workers)
            super().__init__(max_workers)

    for module in (_transport, _row_transport):
        monkeypatch.setattr(module, "BLOCK_NUMBERS", 2**10)
    monkeypatch.setattr(_transport, "ThreadPoolExecutor", Counting)
    return used


def assert_same_bits(result, expected, rows=...):
    """The result is that of these rows among the expected ones."""
    for field in fields(Transported):
        ours, theirs = getattr(result, field.name), getattr(expected, field.name)
        assert (ours is None) == (theirs is None)
        if ours is not None:
            np.testing.assert_array_equal(ours, theirs[rows])


def test_threads_change_nothing(transport, centroids, threads_used):
    rows = normal(10_001, 7)
    together = transport.solve_points(rows, centroids, mass=True)
    for threads in (2, 3, 8):
        threaded = transport.solve_points(rows, centroids, mass=True, n_threads=threads)
        assert_same_bits(threaded, together)
    assert threads_used == [2, 3, 8]


def check_batches_do_not_matter(solve, n=10_001):
    rows = normal(n, 7)
    together = solve(rows)
    order = np.random.default_rng(3).permutation(n)
    assert_same_bits(solve(rows[order]), together, order)
    for row in (0, 1, 17, n - 1):
        assert_same_bits(solve(rows[row : row + 1]), together, [row])


def test_a_row_does_not_depend_on_the_batch(transport, centroids):
    check_batches_do_not_matter(lambda rows: transport.solve_points(rows, centroids, mass=True))


@pytest.mark.parametrize("n_columns", [1, 2, 3, 8, 21, 100])
def test_distances_do_not_depend_on_the_position_of_the_row(n_columns):
    rows, centroids = normal(50, n_columns), normal(5, n_columns, seed=1)
    together = euclidean_costs(rows, centroids)
    alone = np.concatenate([euclidean_costs(row[None], centroids) for row in rows])
    np.testing.assert_array_equal(alone, together)
    np.testing.assert_allclose(together, cdist(rows, centroids), rtol=1e-14)


def test_memory_layout_and_dtype_do_not_matter(transport, centroids):
    rows = normal(3000, 7).astype(np.float32)
    expected = transport.solve_points(rows, centroids)
    read_only = rows.astype(np.float64)
    read_only.flags.writeable = False
    for variant in (
        rows.astype(np.float64),
        np.asfortranarray(rows),
        np.repeat(rows, 2, axis=0)[::2],
        read_only,
    ):
        assert_same_bits(transport.solve_points(variant, centroids), expected)
    integers = np.round(rows * 5)
    assert_same_bits(
        transport.solve_points(integers.astype(np.int16), centroids),
        transport.solve_points(integers, centroids),
    )


@pytest.mark.interpreted
def test_points_are_shifted_and_scaled(transport, centroids):
    rows = normal(100, 7)
    shift, scale = normal(7, seed=4), np.exp(normal(7, seed=5))
    np.testing.assert_array_equal(
        transport.solve_points(rows, EuclideanCosts(centroids, shift=shift, scale=scale)).total,
        transport.solve_points((rows - shift) / scale, centroids).total,
    )


@pytest.mark.interpreted
def test_points_are_bounded(transport, centroids):
    """As computed by hand; a point that is not finite in its units is at the bound."""
    rows, bound = normal(100, 7), 3.0
    shift, scale = normal(7, seed=4), np.exp(normal(7, seed=5))
    rows[0], rows[1], rows[2] = np.inf, -np.inf, 1e300
    costs = EuclideanCosts(centroids, shift=shift, scale=scale, bound=bound)
    points = np.clip((rows - shift) / scale, -1e100, 1e100)
    by_hand = points / np.sqrt(1.0 + (points / bound) ** 2)
    np.testing.assert_allclose(costs.transformed(rows), by_hand, rtol=1e-15)
    assert (np.abs(costs.transformed(rows)) <= bound).all()
    np.testing.assert_array_equal(costs.transformed(rows[:2]), [[bound] * 7, [-bound] * 7])
    bounded = transport.solve_points(rows, costs, mass=True)
    assert_same_bits(bounded, transport.solve_points(costs.transformed(rows), centroids, mass=True))
    np.testing.assert_allclose(
        bounded.total, transport.solve_points(by_hand, centroids).total, rtol=1e-13
    )


@pytest.mark.parametrize("k", [5, 100])
def test_a_bound_does_not_hide_missing_values(k):
    costs, rows = EuclideanCosts(normal(k, 7), bound=3.0), normal(300, 7)
    rows[222, 3] = np.nan
    with pytest.raises(ValueError, match="row 222"):
        RowTransport(np.ones((3, k)), "free").solve_points(rows, costs)


def test_distances_are_divided_by_the_radius(transport, centroids):
    rows, radius = normal(100, 7), np.exp(normal(5))
    np.testing.assert_allclose(
        transport.solve_points(rows, EuclideanCosts(centroids, radius=radius)).total,
        transport.solve(cdist(rows, centroids) / radius).total,
        rtol=1e-12,
    )


@pytest.mark.interpreted
def test_amounts_are_divided_among_columns_by_squared_distance():
    costs = EuclideanCosts([[0.0, 0.0], [1.0, 1.0]], scale=2.0)
    points, shares = np.array([[8.0, 6.0], [2.0, 2.0]]), np.zeros((2, 2))
    point, centroid, amounts = np.array([0, 0, 1]), np.array([0, 1, 1]), np.array([25.0, 13.0, 1.0])
    costs.add_shares(points, point, centroid, amounts, shares)
    np.testing.assert_allclose(shares, [[16.0 + 9.0, 9.0 + 4.0], [0.0, 0.0]])


@pytest.fixture
def many():
    """So many centroids, without a condition on their mass, that most are not measured."""
    centroids, radius = normal(100, 7, seed=1), np.exp(normal(100))
    transport = RowTransport(cdist(normal(20, 7, seed=2), centroids) / radius, "free")
    return partial(transport.solve_points, centroids=EuclideanCosts(centroids, radius=radius))


def test_a_row_among_many_centroids_does_not_depend_on_the_batch(many, threads_used):
    check_batches_do_not_matter(many)
    rows = normal(10_001, 7)
    assert_same_bits(many(rows, n_threads=3), many(rows))
    assert threads_used == [3]


@pytest.mark.parametrize("n_columns", [1, 500])
def test_few_and_many_columns_among_many_centroids(n_columns):
    costs, rows = EuclideanCosts(normal(200, n_columns, seed=1)), normal(100, n_columns)
    least, nearest = costs.to_nearest(rows)
    np.testing.assert_array_equal(least, costs.to_all(rows).min(axis=1))
    np.testing.assert_array_equal(nearest, cdist(rows, costs.centroids).argmin(axis=1))


@pytest.mark.parametrize("far", [1e10, pytest.param(1e20, marks=pytest.mark.interpreted), 1e100])
def test_a_row_too_far_for_single_precision_is_measured_in_full(far):
    costs, row = EuclideanCosts(normal(100, 7, seed=1), radius=np.exp(normal(100))), normal(1, 7)
    least, _ = costs.to_nearest(far * row)
    np.testing.assert_array_equal(least, costs.to_all(far * row).min(axis=1))


@pytest.mark.parametrize("spread", [0.0, 5e-324, 1e-310, 1e-200, 1e-100])
def test_many_centroids_in_nearly_one_place(spread):
    centroids = spread * np.round(normal(100, 3, seed=1))
    rows = np.vstack([normal(5, 3), centroids[:5]])
    costs = EuclideanCosts(centroids)
    least, nearest = costs.to_nearest(rows)
    np.testing.assert_array_equal(least, costs.to_all(rows).min(axis=1))
    assert ((nearest >= 0) & (nearest < 100)).all()


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e200])
def test_a_row_without_distances_is_named_among_many_centroids(many, value):
    rows = normal(300, 7)
    rows[222, 3] = value
    with pytest.raises(ValueError, match="row 222"):
        many(rows)


@pytest.mark.parametrize("k", [5, 100])
def test_the_centroid_each_row_goes_to(k):
    centroids, rows, radius = normal(k, 7, seed=1), normal(1000, 7), np.exp(normal(k))
    centroids[3] = centroids[1]  # the first of equally cheap ones
    radius[3] = radius[1]
    expected = (cdist(rows, centroids) / radius).argmin(axis=1)
    transport = RowTransport(np.ones((20, k)), "free")
    result = transport.solve_points(rows, EuclideanCosts(centroids, radius=radius), mass=True)
    np.testing.assert_array_equal(result.nearest, expected)
    np.testing.assert_array_equal(result.mass, np.eye(k)[expected] / 21)


def test_only_rows_with_a_free_target_go_to_one_centroid(transport, centroids):
    result = transport.solve_points(normal(2, 7), centroids)
    assert (result.nearest is not None) == transport._is_free


def test_mass_is_returned_on_request(transport, centroids):
    assert transport.solve_points(normal(2, 7), centroids).mass is None
    assert transport.solve_points(normal(2, 7), centroids, mass=True).mass.shape == (2, 5)


def test_ties_go_to_the_lowest_index():
    """Two centroids in one place: the plan is not unique, the choice is fixed."""
    for target in ("free", np.array([2, 2])):
        transport = RowTransport(np.ones((3, 2)), target)
        mass = transport.solve([[1.0, 1.0]], mass=True).mass
        np.testing.assert_array_equal(mass, [[0.25, 0.0]])


def test_no_rows_give_no_results(transport, centroids):
    assert transport.solve_points(np.empty((0, 7)), centroids).total.shape == (0,)


@pytest.mark.parametrize(
    ("reference_costs", "target", "message"),
    [
        (np.ones(3), "uniform", "M x K"),
        (np.ones((0, 3)), "uniform", "M x K"),
        ([[1.0, np.nan]], "uniform", "finite"),
        ([[1.0, np.inf]], "free", "finite"),
        (np.ones((3, 2)), "equal", "'uniform', 'free' or integers"),
        (np.ones((3, 2)), [1, 2, 1], "2 integers from 0 to M . 1 = 4"),
        (np.ones((3, 2)), [0.5, 0.5], "2 integers from 0"),
        (np.ones((3, 2)), [5, -1], "2 integers from 0"),
        (np.ones((3, 3)), [2**63 - 1, 2**63 - 1, 6], "3 integers from 0"),
        (np.ones((3, 2)), [1, 2], "sum to M . 1 = 4, not 3"),
    ],
)
def test_impossible_problems_are_refused(reference_costs, target, message):
    with pytest.raises(ValueError, match=message):
        RowTransport(reference_costs, target)


@pytest.mark.parametrize(
    ("solve", "message"),
    [
        (lambda t: t.solve(np.ones((1, 3))), "2 columns"),
        (lambda t: t.solve([1.0, 2.0]), "2 columns"),
        (lambda t: t.solve([[1.0, 1.0], [1.0, np.nan]]), "row 1"),
        (lambda t: t.solve_points([[1.0]], [[0.0, 1.0], [1.0, 1.0]]), "points must have 2 columns"),
        (lambda t: t.solve_points([[1.0]], [[0.0]]), "2 centroids"),
        (lambda t: t.solve_points([[1.0]], [0.0, 1.0]), "centroids must be K x D"),
        (lambda t: t.solve_points([[1e200]], [[0.0], [1.0]]), "too large to be squared"),
        (lambda t: t.solve_points([1.0], [[0.0], [1.0]]), "points must have 1 columns"),
        (
            lambda t: t.solve_points([[1.0]], EuclideanCosts([[0.0], [1.0]], bound=0.0)),
            "bound must be > 0",
        ),
        (
            lambda t: t.solve_points([[1.0]], EuclideanCosts([[0.0], [1.0]], bound=np.nan)),
            "bound must be > 0",
        ),
        (
            lambda t: t.solve_points([[1.0]], EuclideanCosts([[0.0], [1.0]], radius=[1.0, 0.0])),
            "finite numbers > 0",
        ),
        (
            lambda t: t.solve_points([[1.0]], EuclideanCosts([[0.0], [1.0]], radius=[1.0])),
            "2 finite numbers > 0",
        ),
        (
            lambda t: t.solve_points([[1.0]], EuclideanCosts([[0.0], [1.0]], radius=[1.0, np.inf])),
            "finite numbers > 0",
        ),
    ],
)
def test_bad_rows_are_refused(solve, message):
    with pytest.raises(ValueError, match=message):
        solve(RowTransport(np.ones((3, 2))))


def test_a_bad_row_is_named_from_a_thread_too(threads_used):
    costs = np.ones((10_000, 2))
    costs[7_777, 1] = np.inf
    with pytest.raises(ValueError, match="row 7777"):
        RowTransport(np.ones((3, 2))).solve(costs, n_threads=2)
    assert threads_used == [2]


def test_more_threads_than_rows():
    transport = RowTransport(np.ones((20, 5)))
    costs = np.random.default_rng(0).random((300, 5))
    np.testing.assert_array_equal(
        transport.solve(costs, n_threads=10**12).total, transport.solve(costs).total
    )
