"""Everything that is compiled, on the worst inputs that are accepted.

As a program, for a process in which compiled loops check every index:

    NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=FOLDER python -m tests.transport.hostile_inputs
"""

import random
import warnings
from collections import Counter
from itertools import product

import numpy as np

from ctad.errors import InputError
from ctad.persistence._kinds import NotDescribedError
from ctad.transport import (
    EuclideanCosts,
    PartialTransport,
    RowTransport,
    _distances,
    _greedy_placement,
    _partial_placement,
    _row_transport,
    euclidean_costs,
)

from ..persistence.examples import X_NEW
from ..persistence.examples.calibrators import EXAMPLES
from ..persistence.mutations import Model, mutated
from ..persistence.stored import restore, store

MUTATIONS_PER_MODEL = 150
MAX_WORK = 10**7
VALUES = np.array([0.0, -0.0, 1.0, -1.0, 5e-324, 1e-160, 1e15, 1e16, 1e100, -1e100, 1e160, 1e308])
NOT_NUMBERS = np.array([np.inf, -np.inf, np.nan])


def check_that_indices_are_checked() -> None:
    """Raise unless an index out of range is an error of compiled code here."""
    first, rows = np.zeros(1, np.int64), np.ones((1, 1))
    try:
        _distances.add_shares(rows, 2 * rows, first, first + 1, np.ones(1), np.zeros((1, 1)))
    except IndexError:
        return
    raise AssertionError("NUMBA_BOUNDSCHECK is not set")


def points(n: int, n_columns: int, choose: np.random.Generator) -> np.ndarray:
    """Points of several styles: random, with ties, all equal, extreme, not finite."""
    rows = choose.normal(size=(n, n_columns))
    match choose.integers(5):
        case 0:
            rows = np.round(rows)
        case 1:
            rows[:] = rows[0]
        case 2:
            rows.flat[choose.integers(rows.size, size=3)] = choose.choice(VALUES, 3)
        case 3:
            rows[:] = choose.choice(VALUES, rows.shape)
    return rows


def check_distances(k: int, d: int, choose: np.random.Generator) -> None:
    """Costs, nearest centroids and shares, of rows that may be anything."""
    centroids, rows = points(k, d, choose), points(33, d, choose)
    rows.flat[choose.integers(rows.size, size=2)] = choose.choice(NOT_NUMBERS, 2)
    radius = 10.0 ** choose.uniform(-150, 150, k)
    scale = 10.0 ** choose.uniform(-200, 200, d)
    bound = choose.choice([1e-3, 3.0, 1e3])
    for costs in (
        EuclideanCosts(centroids),
        EuclideanCosts(centroids, radius=radius, scale=scale),
        EuclideanCosts(centroids, radius=radius, shift=centroids[0], scale=scale, bound=bound),
    ):
        points_inside = costs.transformed(rows)
        assert not (np.abs(points_inside) > costs.bound).any()
        costs.to_all(rows)
        _, nearest = costs.to_nearest(rows)
        assert ((nearest >= 0) & (nearest < k)).all()
        costs.add_shares(rows, np.arange(33), nearest, np.ones(33), np.zeros((33, d)))


def check_transport(m: int, k: int, target: str, table: bool, choose: np.random.Generator) -> None:
    """All ways to place rows, before and after a round trip of the solved state."""
    with np.errstate(all="ignore"):
        references, centroids = points(m, 2, choose), points(k, 2, choose)
        costs = euclidean_costs(references, centroids)
        costs = np.where(costs < 1e150, costs, 1e150)
    masses = np.bincount(choose.integers(0, (k + 1) // 2, m + 1), minlength=k)
    _row_transport.MAX_STATES = 4096 if table else 0
    transport = RowTransport(costs, masses if target == "multiples" else target)
    _row_transport.MAX_STATES = 4096
    again = RowTransport.from_state(
        m, k, masses if target == "multiples" else target, transport.state()
    )
    rows = np.abs(np.minimum(choose.choice(VALUES, (5, k)), 1e160))
    rows[0], rows[1] = 0.0, costs[0]
    for each in (transport, again):
        assert np.isfinite(each.solve(rows, mass=True).total).all()


def check_partial_transport(k: int, d: int, choose: np.random.Generator) -> None:
    """Rows of any costs, to capacities of which some are zero; then bounded points of any units."""
    capacity = choose.choice([0.0, 1e-300, 0.1, 1.0, 1e15], k)
    capacity[choose.integers(k)] = 1.0
    transport = PartialTransport(capacity, mass=choose.choice([1e-3, 1.0]))
    for n in (0, 1, 63, 64, 65, 130):
        rows = np.abs(np.minimum(choose.choice(VALUES, (n, k)), 1e160))
        solved = transport.solve(rows, mass=True)
        assert np.isfinite(solved.own).all()
        assert (solved.mass <= capacity).all()
        points_ = points(130, d, choose)[:n]
        centroids = choose.uniform(-3, 3, (k, d))
        scale = 10.0 ** choose.uniform(-200, 200, d)
        costs = EuclideanCosts(centroids, scale=scale, bound=3.0)
        assert np.isfinite(transport.solve_points(points_, costs, mass=True).own).all()
        if n:
            points_[n - 1, d - 1] = np.nan
            try:
                transport.solve_points(points_, costs)
            except ValueError:
                continue
            raise AssertionError("NaN was not noticed")


def check_altered_models(choose: random.Random) -> Counter[str]:
    """Calibrators from altered files, if they are accepted."""
    outcomes: Counter[str] = Counter()
    items = [(example, *store(example.made())) for example in EXAMPLES]
    pool = [Model(stored, entries) for _, stored, entries in items]
    for (example, *_), model in zip(items, pool, strict=True):
        for _ in range(MUTATIONS_PER_MODEL):
            altered = mutated(model, choose, pool)
            try:
                calibrator = restore(altered.stored, altered.entries)
            except NotDescribedError:
                outcomes["refused"] += 1
                continue
            if not hasattr(calibrator, "delta_parts"):
                continue
            draws = [*getattr(calibrator, "draws_", ()), *getattr(calibrator, "wide_draws_", ())]
            if sum(draw.transport.work for draw in draws) > MAX_WORK:
                continue
            rows = X_NEW if example.rows is None else np.asarray(example.rows)
            rows = np.resize(rows, (12, calibrator.n_features_in_))
            rows[3:5] *= 1e90
            for method in (calibrator.delta, calibrator.delta_parts):
                try:
                    method(rows)
                    outcomes["scored"] += 1
                except InputError:
                    outcomes["rows refused"] += 1
    return outcomes


def main() -> None:
    """Check all; print what came of altered models."""
    warnings.simplefilter("ignore")
    check_that_indices_are_checked()
    choose = np.random.default_rng(0)
    for k, d in product((1, 2, 15, 16, 17, 200), (1, 2, 40)):
        for _ in range(5):
            check_distances(k, d, choose)
            check_partial_transport(k, d, choose)
    sizes = ((1, 1), (1, 2), (2, 1), (1, 9), (9, 1), (3, 4), (20, 5), (5, 20), (12, 13), (30, 7))
    for (m, k), target in product(sizes, ("uniform", "free", "multiples")):
        for table in (True, False, False):
            check_transport(m, k, target, table, choose)
    outcomes = check_altered_models(random.Random(0))
    assert min(outcomes.values()) > 0
    compiled = [
        function
        for module in (_distances, _greedy_placement, _partial_placement)
        for function in vars(module).values()
        if hasattr(function, "signatures")
    ]
    assert compiled
    assert all(function.signatures for function in compiled), "not all loops were used"
    print(dict(outcomes))


if __name__ == "__main__":
    main()
