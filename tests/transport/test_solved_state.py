"""A transport gives its solved state and is rebuilt from it; states that are wrong are refused."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from ctad.transport import RowTransport, _row_transport

from ..data import normal
from .problems import pot_value, problems, quotas, rng_seeds
from .test_row_transport import assert_same_bits


def new_transport(costs, target, max_states=_row_transport.MAX_STATES):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_row_transport, "MAX_STATES", max_states)
        return RowTransport(costs, target)


def copy_of(state):
    return {
        name: value.copy() if isinstance(value, np.ndarray) else value
        for name, value in state.items()
    }


@pytest.mark.interpreted
@given(
    problems(),
    rng_seeds,
    st.sampled_from(["uniform", "free", "multiples"]),
    st.sampled_from([0, _row_transport.MAX_STATES]),
)
def test_a_rebuilt_transport_gives_the_same_bits(problem, seed, name, max_states):
    references, centroids, rows = problem
    m, k = len(references), len(centroids)
    target = quotas(k, m + 1, np.random.default_rng(seed)) if name == "multiples" else name
    original = new_transport(cdist(references, centroids), target, max_states)

    again = RowTransport.from_state(m, k, target, copy_of(original.state()))

    costs = cdist(rows, centroids)
    assert_same_bits(again.solve(costs, mass=True), original.solve(costs, mass=True))
    assert_same_bits(again.solve_points(rows, centroids), original.solve_points(rows, centroids))
    assert again.work == original.work
    assert again.state().keys() == original.state().keys()
    for name, value in original.state().items():
        np.testing.assert_array_equal(again.state()[name], value)


def test_states_are_small():
    costs = np.abs(normal(20, 200))
    assert {name: np.shape(value) for name, value in RowTransport(costs).state().items()} == {
        "costs": (20, 200),
        "placed": (200, 20),
        "potential": (200,),
    }
    assert RowTransport(costs, "free").state().keys() == {"reference_cost"}
    assert RowTransport(costs[:, :5]).state()["values"].shape == (math.comb(10, 5),)
    # Of the centroids, four have mass.
    multiples = np.zeros(200, dtype=np.int64)
    multiples[[3, 50, 77, 199]] = [1, 9, 9, 2]
    assert RowTransport(costs, multiples).state()["values"].shape == (5,)


def test_a_table_is_in_the_order_that_the_page_on_model_files_states():
    references, rows = np.abs(normal(5, 4)), np.abs(normal(3, 4, seed=1))
    transport = RowTransport(references)
    values, units = transport.state()["values"], 2  # K / gcd(K, M + 1)
    least = np.full(3, np.inf)
    for w in itertools.product(range(units + 1), repeat=4):
        if sum(w) == units:
            place = sum(math.comb(p + t, t + 1) for t, p in enumerate(itertools.accumulate(w)))
            least = np.minimum(least, values[place] + rows @ w)
    np.testing.assert_allclose(transport.solve(rows).total, least / (units * 6), rtol=1e-12)


def test_only_the_search_takes_work_beyond_the_state():
    costs = np.abs(normal(20, 30))
    assert RowTransport(costs, "free").work == RowTransport(costs[:, :5]).work == 0
    search = RowTransport(costs)
    n_placed = np.count_nonzero(search.state()["placed"])
    assert search.work == 10 * 30 * (30 + n_placed)  # K / gcd(K, M + 1) = 10 units


def altered(values, place, value):
    changed = values.copy()
    changed[place] = value
    return changed


def moved(placed, amount, place, other):
    """Units of a reference at another centroid."""
    changed = placed.copy()
    changed[place] -= amount
    changed[other] += amount
    return changed


@pytest.fixture(scope="module")
def search():
    """K = 6, M = 20: two units each, which do not all fit at the nearest centroids."""
    transport = new_transport(np.abs(normal(20, 6, seed=3)), "uniform", max_states=0)
    return transport.state()


WRONG_PLACEMENTS = {
    "keys of a state": lambda s: {**s, "more": 1},
    "keys of": lambda s: {"costs": s["costs"]},
    "costs must be 20 x 6 numbers": lambda s: {**s, "costs": s["costs"][:, :5]},
    "costs must be": lambda s: {**s, "costs": s["costs"].astype(np.float32)},
    "costs must": lambda s: {**s, "costs": s["costs"].tolist()},
    "a cost is larger": lambda s: {**s, "costs": altered(s["costs"], (0, 0), np.nan)},
    "a cost is": lambda s: {**s, "costs": altered(s["costs"], (0, 0), 1e290)},
    "placed must be 6 x 20 integers": lambda s: {**s, "placed": s["placed"].T},
    "placed must be": lambda s: {**s, "placed": s["placed"].astype(np.float64)},
    "placed must be from 0 to 2": lambda s: {**s, "placed": altered(s["placed"], (0, 0), -1)},
    "from 0 to 2": lambda s: {**s, "placed": altered(s["placed"], (0, 0), 2**62)},
    "not placed completely": lambda s: {**s, "placed": s["placed"] // 2},
    "more than its capacity": lambda s: {
        **s,
        "placed": np.vstack([np.full((1, 20), 2), np.zeros((5, 20), np.int64)]),
    },
    "potential must be 6 numbers": lambda s: {**s, "potential": s["potential"][:5]},
    "potential is out of range": lambda s: {**s, "potential": altered(s["potential"], 0, -1.0)},
    "out of range": lambda s: {**s, "potential": s["potential"] + 1e200},
    "is out of": lambda s: {**s, "potential": altered(s["potential"], 0, np.nan)},
    "not 0 where capacity is left": lambda s: {**s, "potential": s["potential"] + 0.1},
    "not optimal": lambda s: {**s, "costs": s["costs"][::-1]},
    "is not optimal": lambda s: {**s, "potential": np.zeros(6)},
}


@pytest.mark.parametrize("message", WRONG_PLACEMENTS)
def test_wrong_placements_are_refused(search, message):
    assert RowTransport.from_state(20, 6, "uniform", search)
    with pytest.raises(ValueError, match=message):
        RowTransport.from_state(20, 6, "uniform", WRONG_PLACEMENTS[message](search))


# K = 6, M = 2: each centroid takes one of the two units of a row.
VALUES = RowTransport(np.abs(normal(2, 6))).state()["values"]

WRONG_VALUES = {
    "values must be 28 numbers": VALUES[:-1],
    "values must be": VALUES[:, np.newaxis],
    "28 numbers": VALUES.tolist(),
    "numbers": VALUES.astype(np.float32),
    "a value is larger": altered(VALUES, 1, np.nan),
    "value is larger": altered(VALUES, 1, np.inf),
    "is larger": altered(VALUES, 1, 1e290),
    "units do not fit": altered(VALUES, np.isinf(VALUES), 1.0),
    "do not fit": altered(VALUES, np.isinf(VALUES), -np.inf),
    "not fit": altered(VALUES, np.isinf(VALUES), np.nan),
    "values decrease": altered(VALUES, 0, VALUES[np.isfinite(VALUES)].max() * 2),
}


@pytest.mark.parametrize("message", WRONG_VALUES)
def test_wrong_tables_are_refused(message):
    assert np.isinf(VALUES).sum() == 6
    assert RowTransport.from_state(2, 6, "uniform", {"values": VALUES})
    with pytest.raises(ValueError, match=message):
        RowTransport.from_state(2, 6, "uniform", {"values": WRONG_VALUES[message]})


@pytest.mark.parametrize(
    ("target", "state"),
    [
        ("free", {}),
        ("free", {"values": VALUES}),
        ("free", {"reference_cost": np.nan}),
        ("free", {"reference_cost": np.inf}),
        ("free", {"reference_cost": "1"}),
        ("uniform", {"reference_cost": 1.0}),
        ("uniform", {}),
        ("sizes", {"reference_cost": 1.0}),
        (np.array([1, 1, 1]), {"values": VALUES}),
        (np.array([3, 0, 0, 0, 0, 0]), {"values": VALUES}),
    ],
)
def test_states_of_other_problems_are_refused(target, state):
    with pytest.raises(ValueError, match=r"."):
        RowTransport.from_state(2, 6, target, state)


@pytest.mark.parametrize(("m", "k"), [(16_001, 16_000), (15_999, 16_000), (10**9, 10**5 + 3)])
def test_problems_too_large_for_a_table_are_refused_at_once(m, k):
    with pytest.raises(ValueError, match="too many states"):
        RowTransport.from_state(m, k, "uniform", {"values": VALUES})


@given(problems(max_centroids=8, max_references=20, max_columns=2), rng_seeds)
def test_an_accepted_placement_is_optimal(problem, seed):
    """Whatever was altered, rows cost what POT says, or the state is refused."""
    references, centroids, rows = problem
    random = np.random.default_rng(seed)
    m, k = len(references), len(centroids)
    state = copy_of(new_transport(cdist(references, centroids), "uniform", 0).state())
    for _ in range(random.integers(1, 4)):
        match random.integers(4):
            case 0:
                state["costs"].flat[random.integers(m * k)] *= random.choice([0, 0.5, 1 - 1e-12, 2])
            case 1:
                state["potential"][random.integers(k)] *= random.choice([0, 0.5, 1 - 1e-12, 2])
            case 2:
                j, other = random.integers(k, size=2)
                state["placed"][[j, other]] = state["placed"][[other, j]]
            case 3:
                i, j, other = random.integers(m), *random.integers(k, size=2)
                state["placed"] = moved(state["placed"], 1, (j, i), (other, i))
    try:
        transport = RowTransport.from_state(m, k, "uniform", state)
    except ValueError:
        assume(False)
    row_costs = cdist(rows, centroids)
    totals = transport.solve(row_costs).total
    for costs, total in zip(row_costs, totals, strict=True):
        all_costs = np.vstack([state["costs"], costs])
        expected = pot_value(np.full(m + 1, 1 / (m + 1)), np.full(k, 1 / k), all_costs)
        assert total == pytest.approx(expected, rel=1e-6, abs=1e-6 * all_costs.max())
