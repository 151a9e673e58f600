"""The engine against POT and against scipy's linear programming."""

import math
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from ctad.transport import EuclideanCosts, RowTransport, euclidean_costs
from ctad.transport._row_transport import SCREEN_FROM

from .problems import lp_value, pot_value, problems, quotas, rng_seeds

pytestmark = pytest.mark.interpreted

EXACT = 1e-9


def check_against_judges(problem, target, target_mass):
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
        # A value that should be zero is left with the judges' rounding of the costs.
        rounding = 1e-15 * all_costs.max()
        exactly = partial(pytest.approx, rel=EXACT, abs=rounding)
        assert total == exactly(pot_value(source_mass, target_mass, all_costs))
        if row < 2:
            assert total == exactly(lp_value(source_mass, target_mass, all_costs))
        # The mass is part of a feasible plan ...
        assert mass.sum() == pytest.approx(1 / (m + 1), rel=EXACT, abs=0)
        assert (mass >= 0).all()
        assert (mass <= target_mass + EXACT).all()
        assert result.own[row] == exactly(mass @ costs)
        # ... and of an optimal one: the references, in the room it leaves, pay the rest.
        room = np.maximum(target_mass - mass, 0.0)
        room *= source_mass[:-1].sum() / room.sum()
        assert total == exactly(mass @ costs + pot_value(source_mass[:-1], room, reference_costs))


@given(problems())
def test_uniform_target(problem):
    k = len(problem.centroids)
    check_against_judges(problem, "uniform", np.full(k, 1 / k))


@given(problems(), rng_seeds)
def test_target_in_whole_multiples(problem, seed):
    n = len(problem.references) + 1
    target = quotas(len(problem.centroids), n, np.random.default_rng(seed))
    check_against_judges(problem, target, target / n)


@given(problems())
def test_free_target(problem):
    references, centroids, rows = problem
    nearest = cdist(references, centroids).min(axis=1)
    to_centroids = cdist(rows, centroids)
    n = len(references) + 1

    transport = RowTransport(cdist(references, centroids), "free")
    result = transport.solve(to_centroids, mass=True)

    np.testing.assert_allclose(
        result.total, (nearest.sum() + to_centroids.min(axis=1)) / n, rtol=EXACT
    )
    np.testing.assert_allclose(result.own, to_centroids.min(axis=1) / n, rtol=EXACT)
    assert (result.mass.argmax(axis=1) == to_centroids.argmin(axis=1)).all()
    np.testing.assert_allclose(result.mass.max(axis=1), 1 / n, rtol=EXACT)


@given(problems(min_centroids=SCREEN_FROM), rng_seeds, st.booleans())
def test_no_nearest_centroid_is_ruled_out(problem, seed, relative):
    """Many centroids are not measured; the least cost is the same, bit for bit."""
    references, centroids, rows = problem
    radius = np.ones(len(centroids))
    if relative:
        radius = 10.0 ** np.random.default_rng(seed).uniform(-3, 3, len(centroids))
    costs = euclidean_costs(rows, centroids) / radius
    n = len(references) + 1

    transport = RowTransport(cdist(references, centroids), "free")
    of_all = transport.solve_points(rows, EuclideanCosts(centroids, radius=radius), mass=True)
    least = transport.solve_points(rows, EuclideanCosts(centroids, radius=radius))

    np.testing.assert_allclose(least.own, costs.min(axis=1) / n, rtol=EXACT)
    np.testing.assert_array_equal(least.own, of_all.own)
    np.testing.assert_array_equal(least.total, of_all.total)


@given(problems(max_centroids=8, max_references=12, max_columns=3))
def test_table_and_per_row_placement_agree(problem):
    """Both ways to place a row solve the same problem."""
    references, centroids, rows = problem
    costs = cdist(references, centroids)
    by_table = RowTransport(costs)
    per_row = RowTransport(costs)
    per_row._table = None
    np.testing.assert_allclose(
        by_table.solve(cdist(rows, centroids)).total,
        per_row.solve(cdist(rows, centroids)).total,
        rtol=EXACT,
    )


def all_placements(units, room):
    """Every way to put whole units into places with room for so many."""
    if len(room) == 1:
        if units <= room[0]:
            yield (units,)
        return
    for here in range(min(units, room[0]) + 1):
        for rest in all_placements(units - here, room[1:]):
            yield (here, *rest)


def least_of_all(costs, units, room):
    """The cheapest of all ways to place the units of each source, by trying them."""
    if not len(costs):
        return 0.0
    return min(
        sum(n * c for n, c in zip(placed, costs[0], strict=True))
        + least_of_all(costs[1:], units, [r - n for r, n in zip(room, placed, strict=True)])
        for placed in all_placements(units, room)
    )


@given(problems(max_centroids=3, max_references=3, max_columns=2))
def test_no_placement_there_is_costs_less(problem):
    """Theorem 6 of docs/theory.md: placing the row's units one by one is optimal."""
    references, centroids, rows = problem
    k, n_sources = len(centroids), len(references) + 1
    divisor = math.gcd(k, n_sources)
    units, room = k // divisor, [n_sources // divisor] * k
    reference_costs = cdist(references, centroids)
    solved = RowTransport(reference_costs).solve(cdist(rows[:1], centroids)).total[0]
    costs = np.vstack([reference_costs, cdist(rows[:1], centroids)])
    tried = least_of_all(costs, units, room) / (units * n_sources)
    assert solved == pytest.approx(tried, rel=EXACT, abs=1e-15 * costs.max())
