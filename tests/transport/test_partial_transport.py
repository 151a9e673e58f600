"""PartialTransport against the linear program, against POT, and in its limits."""

import warnings
from functools import partial

import numpy as np
import ot
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.spatial.distance import cdist

from ctad.transport import EuclideanCosts, PartialTransport

from ..data import normal
from .problems import problems, rng_seeds
from .test_row_transport import assert_same_bits, check_batches_do_not_matter, threads_used

__all__ = ["threads_used"]  # a fixture

EXACT = 1e-12
# Other solvers take most of the time.
fewer_examples = settings(max_examples=settings().max_examples // 3)


@st.composite
def rooms(draw, k):
    """A mass, and capacities that hold it: equal ones, zeros, large ones, nothing to spare."""
    random = np.random.default_rng(draw(rng_seeds))
    mass = 10.0 ** draw(st.integers(-6, 6))
    capacity = random.random(k) if draw(st.booleans()) else random.integers(1, 4, k).astype(float)
    if draw(st.booleans()):
        capacity[random.integers(0, k, k // 2)] = 0.0
    if not capacity.any():
        capacity[random.integers(k)] = 1.0
    times = draw(st.sampled_from([1.0, 1.0 + 1e-6, 2.0, 1e6]))  # what there is room for
    return mass, capacity * (times * mass / capacity.sum())


@st.composite
def partial_problems(draw, **limits):
    """Costs of a few rows, the points they come from, a mass and capacities."""
    _, centroids, rows = draw(problems(max_references=1, **limits))
    return rows, centroids, *draw(rooms(len(centroids)))


def lp_cost(costs, capacity, mass):
    """The least cost by HiGHS, with numbers near one, because its tolerances are absolute."""
    unit = costs.max() or 1.0
    solution = linprog(
        costs / unit,
        A_eq=np.ones((1, len(costs))),
        b_eq=[1.0],
        bounds=np.column_stack([np.zeros(len(costs)), np.minimum(capacity / mass, 1.0)]),
        method="highs-ds",
        options={"dual_feasibility_tolerance": 1e-10, "primal_feasibility_tolerance": 1e-10},
    )
    assert solution.status == 0, solution.message
    return solution.fun * unit * mass


def pot_cost(costs, capacity, mass):
    """The least cost by POT: a second source takes what is left, at no cost."""
    unit = costs.max() or 1.0
    capacity = np.minimum(capacity / mass, 1.0)
    sources = np.array([1.0, max(capacity.sum() - 1.0, 0.0)])
    capacity *= sources.sum() / capacity.sum()
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        found = ot.emd2(sources, capacity, np.vstack([costs / unit, np.zeros(len(costs))]))
    return found * unit * mass


@pytest.mark.interpreted
@fewer_examples
@given(partial_problems())
def test_no_other_plan_costs_less(problem):
    rows, centroids, mass, capacity = problem
    transport = PartialTransport(capacity, mass)
    result = transport.solve_points(rows, centroids, mass=True)

    np.testing.assert_array_equal(result.total, result.own)
    np.testing.assert_allclose(result.mass.sum(axis=1), mass, rtol=1e-9)
    assert ((result.mass >= 0) & (result.mass <= capacity)).all()
    for row, costs in enumerate(cdist(rows, centroids)):
        rounding = 1e-9 * mass * costs.max()  # the tolerance of the other solvers
        exactly = partial(pytest.approx, rel=1e-9, abs=rounding)
        assert result.own[row] == exactly(lp_cost(costs, capacity, mass))
        assert result.own[row] == exactly(pot_cost(costs, capacity, mass))


@pytest.mark.interpreted
@given(partial_problems(max_centroids=20))
def test_the_cheapest_centroids_are_filled_one_after_another(problem):
    """To the last bit of a sort; equally cheap ones in the order of their index."""
    rows, centroids, mass, capacity = problem
    all_costs = cdist(rows, centroids)
    result = PartialTransport(capacity, mass).solve(all_costs, mass=True)
    for row, costs in enumerate(all_costs):
        left, expected = mass, np.zeros(len(costs))
        for j in np.argsort(costs, kind="stable"):
            expected[j] = min(left, capacity[j])
            left -= expected[j]
        np.testing.assert_allclose(result.mass[row], expected, rtol=0, atol=EXACT * mass)
        assert result.own[row] == pytest.approx(expected @ costs, rel=EXACT)
        assert (result.mass[row, capacity == 0] == 0).all()


@given(partial_problems(), st.sampled_from([0.5, 3.0, 1e3]), rng_seeds)
def test_bounded_points_are_those_computed_by_hand(problem, bound, seed):
    rows, centroids, mass, capacity = problem
    random = np.random.default_rng(seed)
    d = rows.shape[1]
    shift, scale = random.normal(size=d), 10.0 ** random.uniform(-3, 3, d)
    radius = np.exp(random.normal(size=len(centroids)))
    z = (rows - shift) / scale
    by_hand = z / np.sqrt(1.0 + (z / bound) ** 2)
    inside = np.clip(centroids, -bound, bound)
    transport = PartialTransport(capacity, mass)
    solved = transport.solve_points(
        rows, EuclideanCosts(inside, radius=radius, shift=shift, scale=scale, bound=bound)
    )
    expected = transport.solve(cdist(by_hand, inside) / radius)
    largest = bound * np.sqrt(d) / radius.min()
    np.testing.assert_allclose(solved.own, expected.own, rtol=1e-9, atol=1e-13 * mass * largest)


@pytest.fixture
def centroids():
    return normal(20, 7, seed=1)


@pytest.fixture
def transport():
    """One third of the room is used; some centroids have none."""
    capacity = np.random.default_rng(2).integers(0, 5, 20).astype(float)
    return PartialTransport(capacity * (3.0 / capacity.sum()))


def test_a_row_does_not_depend_on_the_batch(transport, centroids):
    check_batches_do_not_matter(lambda rows: transport.solve_points(rows, centroids, mass=True))


def test_threads_change_nothing(transport, centroids, threads_used):
    rows = normal(10_001, 7)
    together = transport.solve_points(rows, centroids, mass=True)
    for threads in (2, 3):
        threaded = transport.solve_points(rows, centroids, mass=True, n_threads=threads)
        assert_same_bits(threaded, together)
    assert threads_used == [2, 3]


def test_costs_and_points_give_the_same_bits(transport, centroids):
    rows, costs = normal(1000, 7), EuclideanCosts(centroids, shift=0.1, scale=2.0, bound=3.0)
    assert_same_bits(
        transport.solve(costs.to_all(rows), mass=True),
        transport.solve_points(rows, costs, mass=True),
    )


def test_mass_is_returned_on_request(transport, centroids):
    without = transport.solve_points(normal(100, 7), centroids)
    assert without.mass is None
    assert without.nearest is None
    with_mass = transport.solve_points(normal(100, 7), centroids, mass=True)
    np.testing.assert_array_equal(with_mass.own, without.own)


@pytest.mark.interpreted
def test_ties_go_to_the_lowest_index():
    transport = PartialTransport([0.25, 0.0, 0.5, 0.5])
    mass = transport.solve([[1.0, 1.0, 1.0, 1.0], [2.0, 0.0, 1.0, 1.0]], mass=True).mass
    np.testing.assert_array_equal(mass, [[0.25, 0.0, 0.5, 0.25], [0.0, 0.0, 0.5, 0.5]])


def test_with_room_for_everything_all_mass_goes_to_the_nearest_centroid(centroids):
    """The wide view with a tiny share is the near view."""
    rows = normal(100, 7)
    costs = EuclideanCosts(centroids)
    result = PartialTransport(np.full(20, 1e15), 0.5).solve_points(rows, costs, mass=True)
    least, nearest = costs.to_nearest(rows)
    np.testing.assert_array_equal(result.own, 0.5 * least)
    np.testing.assert_array_equal(result.mass, 0.5 * np.eye(20)[nearest])


@pytest.mark.parametrize("too_little", [0.0, 1e-12])
def test_without_room_to_spare_the_cost_is_the_mean_of_all(centroids, too_little):
    """Rounding may leave a little less room than mass."""
    sizes, rows = np.random.default_rng(0).integers(1, 9, 20), normal(100, 7)
    shares = sizes / sizes.sum()
    result = PartialTransport(shares * (1.0 - too_little)).solve_points(rows, centroids, mass=True)
    np.testing.assert_allclose(result.own, cdist(rows, centroids) @ shares, rtol=1e-11)
    np.testing.assert_allclose(result.mass, np.tile(shares, (100, 1)), rtol=1e-11)


def test_a_state_gives_the_same_bits(transport, centroids):
    again = PartialTransport.from_state(transport.mass, transport.state())
    rows = normal(100, 7)
    assert_same_bits(
        again.solve_points(rows, centroids, mass=True),
        transport.solve_points(rows, centroids, mass=True),
    )


def test_the_capacities_are_a_copy():
    capacity = np.ones(2)
    transport = PartialTransport(capacity)
    capacity[:] = 0.0
    np.testing.assert_array_equal(transport.solve([[3.0, 2.0]]).own, [2.0])


def test_no_rows_give_no_results(transport, centroids):
    empty = transport.solve_points(np.empty((0, 7)), centroids, mass=True)
    assert empty.own.shape == (0,)
    assert empty.mass.shape == (0, 20)


@pytest.mark.parametrize(
    ("capacity", "mass", "message"),
    [
        ([1.0], 0.0, "mass must be a finite number > 0"),
        ([1.0], -1.0, "mass must be a finite number > 0"),
        ([1.0], np.inf, "mass must be a finite number > 0"),
        ([1.0], np.nan, "mass must be a finite number > 0"),
        (1.0, 1.0, "capacity must be K numbers"),
        ([[1.0, 1.0]], 1.0, "capacity must be K numbers"),
        ([1.0, -1e-9], 1.0, "from 0 to 1e.15"),
        ([1.0, np.nan], 1.0, "from 0 to 1e.15"),
        ([1.0, np.inf], 1.0, "from 0 to 1e.15"),
        ([1.0, 1e16], 1.0, "from 0 to 1e.15"),
        ([0.5, 0.4], 1.0, "sum to 0.9, less than the mass 1"),
        ([], 1.0, "sum to 0, less than the mass 1"),
    ],
)
def test_impossible_problems_are_refused(capacity, mass, message):
    with pytest.raises(ValueError, match=message):
        PartialTransport(capacity, mass)
    with pytest.raises(ValueError, match=message):
        PartialTransport.from_state(mass, {"capacity": capacity})


@pytest.mark.parametrize("state", [{}, {"values": [1.0]}, {"capacity": [1.0], "mass": 1.0}])
def test_other_states_are_refused(state):
    with pytest.raises(ValueError, match="keys of a state"):
        PartialTransport.from_state(1.0, state)


@pytest.mark.parametrize(
    ("solve", "message"),
    [
        (lambda t: t.solve(np.ones((1, 3))), "2 columns"),
        (lambda t: t.solve([1.0, 2.0]), "2 columns"),
        (lambda t: t.solve([[1.0, 1.0], [1.0, np.nan]]), "row 1"),
        (lambda t: t.solve([[1.0, 1.0], [np.inf, 1.0]]), "row 1"),
        (lambda t: t.solve_points([[1.0]], [[0.0]]), "2 centroids"),
        (lambda t: t.solve_points([[1.0]], [[0.0, 1.0], [1.0, 1.0]]), "points must have 2 columns"),
        (lambda t: t.solve_points([[0.0], [1e200]], [[0.0], [1.0]]), "row 1: .* to be squared"),
        (
            lambda t: t.solve_points([[np.nan]], EuclideanCosts([[0.0], [1.0]], bound=3.0)),
            "row 0",
        ),
    ],
)
def test_bad_rows_are_refused(solve, message):
    with pytest.raises(ValueError, match=message):
        solve(PartialTransport([0.75, 0.75]))


def test_the_work_of_many_centroids_grows_with_their_square():
    """Rows are placed 64 at a time: the last of them take as long as 64."""
    assert PartialTransport(np.ones(20)).work == 64 * 20**2
