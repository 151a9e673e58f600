"""The transport against POT and against scipy's linear programming."""

import math
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from ctad.transport import EuclideanCosts, RowTransport, _row_transport
from ctad.transport._costs import SCREEN_FROM

from .problems import lp_value, pot_value, problems, quotas, rng_seeds

pytestmark = pytest.mark.interpreted

EXACT = 1e-9
# Other solvers take most of the time.
fewer_examples = settings(max_examples=settings().max_examples // 3)


def check_against_other_solvers(problem, target, target_mass):
    """Value, own cost and mass of every row, against POT and the linear program."""
    references, centroids, rows = problem
    m = len(references)
    source_mass = np.full(m + 1, 1 / (m + 1))
    reference_costs = cdist(references, centroids)
    row_costs = cdist(rows, centroids)

    transport = RowTransport(reference_costs, target)
    result = transport.solve(row_costs, mass=True)
    from_points = transport.solve_points(rows, centroids, mass=True)
    np.testing.assert_allclose(from_points.total, result.total, rtol=EXACT)

    for row, costs in enumerate(row_costs):
        all_costs = np.vstack([reference_costs, costs])
        total, mass = result.total[row], result.mass[row]
        # A value that should be zero differs by the rounding of the costs.
        rounding = 1e-15 * all_costs.max()
        exactly = partial(pytest.approx, rel=EXACT, abs=rounding)
        assert total == exactly(pot_value(source_mass, target_mass, all_costs))
        if row == 0:
            assert total == exactly(lp_value(source_mass, target_mass, all_costs))
        # The mass is part of a feasible plan ...
        assert mass.sum() == pytest.approx(1 / (m + 1), rel=EXACT, abs=0)
        assert (mass >= 0).all()
        assert (mass <= target_mass + EXACT).all()
        assert result.own[row] == exactly(mass @ costs)
        # ... and of an optimal one: the references pay the rest in the capacity that is left.
        left = np.maximum(target_mass - mass, 0.0)
        left *= source_mass[:-1].sum() / left.sum()
        assert total == exactly(mass @ costs + pot_value(source_mass[:-1], left, reference_costs))


@fewer_examples
@given(problems())
def test_uniform_target(problem):
    k = len(problem.centroids)
    check_against_other_solvers(problem, "uniform", np.full(k, 1 / k))


@fewer_examples
@given(problems(), rng_seeds)
def test_target_in_integer_multiples(problem, seed):
    n = len(problem.references) + 1
    target = quotas(len(problem.centroids), n, np.random.default_rng(seed))
    check_against_other_solvers(problem, target, target / n)


@given(problems())
def test_free_target(problem):
    references, centroids, rows = problem
    nearest = cdist(references, centroids).min(axis=1)
    to_centroids = cdist(rows, centroids)
    n = len(references) + 1

    transport = RowTransport(cdist(references, centroids), "free")
    result = transport.solve(to_centroids, mass=True)
    from_points = transport.solve_points(rows, centroids)

    np.testing.assert_allclose(from_points.total, result.total, rtol=EXACT)
    np.testing.assert_allclose(from_points.own, result.own, rtol=EXACT)
    np.testing.assert_allclose(
        result.total, (nearest.sum() + to_centroids.min(axis=1)) / n, rtol=EXACT
    )
    np.testing.assert_allclose(result.own, to_centroids.min(axis=1) / n, rtol=EXACT)
    assert (result.mass.argmax(axis=1) == to_centroids.argmin(axis=1)).all()
    np.testing.assert_allclose(result.mass.max(axis=1), 1 / n, rtol=EXACT)


@given(problems(min_centroids=SCREEN_FROM), rng_seeds, st.booleans())
def test_screening_does_not_change_the_least_cost(problem, seed, relative):
    """Most centroids are ruled out without measuring them; the result has the same bits."""
    _, centroids, rows = problem
    radius = np.ones(len(centroids))
    if relative:
        radius = 10.0 ** np.random.default_rng(seed).uniform(-3, 3, len(centroids))
    costs = EuclideanCosts(centroids, radius=radius)

    least, nearest = costs.to_nearest(rows)

    np.testing.assert_array_equal(least, costs.to_all(rows).min(axis=1))
    np.testing.assert_array_equal(nearest, costs.to_all(rows).argmin(axis=1))
    np.testing.assert_allclose(least, (cdist(rows, centroids) / radius).min(axis=1), rtol=EXACT)


@given(problems(max_centroids=6, max_references=12, max_columns=3))
def test_table_and_search_agree(problem):
    """Both ways to place a row solve the same problem."""
    references, centroids, rows = problem
    costs = cdist(references, centroids)
    by_table = RowTransport(costs)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_row_transport, "MAX_STATES", 0)
        by_search = RowTransport(costs)
    np.testing.assert_allclose(
        by_table.solve(cdist(rows, centroids)).total,
        by_search.solve(cdist(rows, centroids)).total,
        rtol=EXACT,
    )


def all_placements(units, capacity):
    """All ways to place integer units on centroids of limited capacity."""
    if len(capacity) == 1:
        if units <= capacity[0]:
            yield (units,)
        return
    for here in range(min(units, capacity[0]) + 1):
        for rest in all_placements(units - here, capacity[1:]):
            yield (here, *rest)


def least_of_all(costs, units, capacity):
    """The cheapest of all ways to place the units of each source, by trying them."""
    if not len(costs):
        return 0.0
    return min(
        sum(n * c for n, c in zip(placed, costs[0], strict=True))
        + least_of_all(costs[1:], units, [r - n for r, n in zip(capacity, placed, strict=True)])
        for placed in all_placements(units, capacity)
    )


@given(problems(max_centroids=3, max_references=3, max_columns=2))
def test_no_other_placement_costs_less(problem):
    """Theorem 7 of docs/theory.md: placing the units of a row one by one is optimal."""
    references, centroids, rows = problem
    k, n_sources = len(centroids), len(references) + 1
    divisor = math.gcd(k, n_sources)
    units, capacity = k // divisor, [n_sources // divisor] * k
    reference_costs = cdist(references, centroids)
    solved = RowTransport(reference_costs).solve(cdist(rows[:1], centroids)).total[0]
    costs = np.vstack([reference_costs, cdist(rows[:1], centroids)])
    tried = least_of_all(costs, units, capacity) / (units * n_sources)
    assert solved == pytest.approx(tried, rel=EXACT, abs=1e-15 * costs.max())
