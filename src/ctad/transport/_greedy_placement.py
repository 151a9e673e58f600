r"""The greedy placement of mass: each unit goes where it costs least, and that is optimal.

All masses are integer numbers of *units*, and each centroid has capacity for a limited number of
them. Placing one more source is a shortest-path problem: a unit goes from the source to some
centroid `j`; if `j` is full, a unit of a reference already there moves on to another centroid `k`,
which costs

    move_cost[j, k] = min over references i at j of (C[i, k] - C[i, j]),

and so on until a centroid with free capacity is reached. Always taking the cheapest such path
keeps the placement optimal (successive shortest paths [1]_). The search is Dijkstra's. It uses a
`potential` per centroid, a lower bound of the cheapest path from there to free capacity, which
makes all moves non-negative and shortens the search.

For many rows against the same references there is a shortcut. Let `w` be the number of units that
the row has placed on each centroid, and `V(w)` the least cost of the references given `w`. `V` does
not depend on the row. A row with costs `c` pays

    OT(c) = min over w with |w| = units of  V(w) + <w, c>.

`V` is M-natural-convex [2]_, so placing unit after unit on the centroid `j` with the least
`c[j] + price`, where `price = V(w + e_j) - V(w)`, ends in the minimum. With few units and
centroids all `w` fit in a table, and a row takes `units` times K comparisons.

Functions that call each other share this file: numba's cache notices a change in the file of a
function, but not in the files of the functions it calls.

References
----------
.. [1] Ahuja, Magnanti, Orlin: Network Flows, chapter 9.7, 1993.
.. [2] Murota: Discrete Convex Analysis, 2003.
"""

import math
from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .._compiled import compiled

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


class Placement(NamedTuple):
    """References placed on K centroids, and what the search for cheap moves needs."""

    costs: Floats  # (M, K) cost of a unit of reference i at centroid j
    placed: Integers  # (K, M) units of reference i at centroid j
    capacity: Integers  # (K,) units that still fit
    move_cost: Floats  # (K, K) cheapest move of a unit from j to k
    mover: Integers  # (K, K) the reference that makes this move
    potential: Floats  # (K,) lower bound of the path from j to free capacity
    changed: npt.NDArray[np.bool_]  # (K,) centroids where `placed` was changed
    # Scratch of the search
    cost_to: Floats  # (K,) cheapest known path from the source to j
    estimate: Floats  # (K,) the same plus the potential of j
    came_from: Integers  # (K,) the centroid before j on that path, -1 for none
    unsettled: Integers  # (K,) centroids the search has not settled
    settled: Integers  # (K,) centroids it has settled, in order


def empty_placement(costs: Floats, capacity: Integers) -> Placement:
    """K centroids with capacity for `capacity` units each, and no reference placed yet."""
    m, k = costs.shape
    return Placement(
        costs=costs,
        placed=np.zeros((k, m), np.int64),
        capacity=capacity.copy(),
        move_cost=np.full((k, k), np.inf),
        mover=np.zeros((k, k), np.int64),
        potential=np.zeros(k),
        changed=np.zeros(k, np.bool_),
        cost_to=np.zeros(k),
        estimate=np.zeros(k),
        came_from=np.zeros(k, np.int64),
        unsettled=np.zeros(k, np.int64),
        settled=np.zeros(k, np.int64),
    )


def copy_placement(placement: Placement) -> Placement:
    """A copy that can be changed without touching the original."""
    return Placement._make(array.copy() for array in placement)


@compiled
def restore(state: Placement, original: Placement) -> None:
    """Undo all that was done to `state` since it was a copy of `original`."""
    for j in range(state.capacity.size):
        state.capacity[j] = original.capacity[j]
        state.potential[j] = original.potential[j]
        if state.changed[j]:
            state.placed[j] = original.placed[j]
            state.move_cost[j] = original.move_cost[j]
            state.mover[j] = original.mover[j]
            state.changed[j] = False


@compiled
def update_moves(state: Placement, j: int) -> None:
    """Recompute the cheapest moves away from centroid `j`."""
    k_centroids = state.capacity.size
    state.changed[j] = True
    for k in range(k_centroids):
        state.move_cost[j, k] = np.inf
    for i in range(state.placed.shape[1]):
        if state.placed[j, i] > 0:
            for k in range(k_centroids):
                cost = state.costs[i, k] - state.costs[i, j]
                if cost < state.move_cost[j, k]:
                    state.move_cost[j, k] = cost
                    state.mover[j, k] = i


@compiled
def find_capacity(state: Placement, source_costs: Floats) -> int:
    """Find the cheapest path from a source to free capacity; return its end, or -1 for none.

    The path is left in `came_from`, its cost in `cost_to`. Potentials are raised to the costs that
    the search found. Among equally cheap centroids the lowest index is settled first.
    """
    k_centroids = state.capacity.size
    n_unsettled = k_centroids
    n_settled = 0
    here = -1
    best = np.inf
    for j in range(k_centroids):
        state.cost_to[j] = source_costs[j]
        state.came_from[j] = -1
        state.unsettled[j] = j
        state.estimate[j] = source_costs[j] + state.potential[j]
        if state.estimate[j] < best:
            best = state.estimate[j]
            here = j
    while here >= 0 and state.capacity[here] == 0:
        state.settled[n_settled] = here
        n_settled += 1
        next_here = -1
        best = np.inf
        kept = 0
        for p in range(n_unsettled):
            k = state.unsettled[p]
            if k != here:
                state.unsettled[kept] = k
                kept += 1
                cost = state.cost_to[here] + state.move_cost[here, k]
                estimate = cost + state.potential[k]
                if estimate < state.estimate[k]:
                    state.cost_to[k] = cost
                    state.estimate[k] = estimate
                    state.came_from[k] = here
                if state.estimate[k] < best:
                    best = state.estimate[k]
                    next_here = k
        n_unsettled = kept
        here = next_here
    if here >= 0:
        for p in range(n_settled):
            j = state.settled[p]
            # Rounding may settle a centroid a hair after a cheaper one.
            state.potential[j] += max(0.0, best - state.estimate[j])
    return here


@compiled
def place(state: Placement, source_costs: Floats, units: int, sent: Integers) -> float:
    """Place `units` of a new source; add to `sent` where they went; return the cost.

    The cost is that of the source plus the extra cost of the references that make way for it. It
    is infinite if the units do not fit.
    """
    total = 0.0
    while units > 0:
        end = find_capacity(state, source_costs)
        if end < 0:
            return np.inf
        amount = min(units, state.capacity[end])
        k = end
        while state.came_from[k] >= 0:
            j = state.came_from[k]
            amount = min(amount, state.placed[j, state.mover[j, k]])
            k = j
        state.capacity[end] -= amount
        k = end
        while state.came_from[k] >= 0:
            j = state.came_from[k]
            i = state.mover[j, k]
            state.placed[j, i] -= amount
            state.placed[k, i] += amount
            k = j
        sent[k] += amount
        units -= amount
        total += amount * state.cost_to[end]
        if end != k:
            k = end
            while k >= 0:
                update_moves(state, k)
                k = state.came_from[k]
    return total


@compiled
def place_references(state: Placement, units: int) -> None:
    """Place all references, `units` each."""
    m, k_centroids = state.costs.shape
    for i in range(m):
        sent = np.zeros(k_centroids, np.int64)
        place(state, state.costs[i], units, sent)
        for j in range(k_centroids):
            if sent[j] > 0:
                state.placed[j, i] += sent[j]
                update_moves(state, j)
    # Every row starts from the potentials of the finished placement, so they are made tight.
    source_costs = np.full(k_centroids, np.inf)
    for j in range(k_centroids):
        source_costs[j] = 0.0
        find_capacity(state, source_costs)
        source_costs[j] = np.inf
    state.changed[:] = False


@compiled
def find_moves(state: Placement) -> None:
    """Find the cheapest moves of references that are already placed."""
    for j in range(state.capacity.size):
        update_moves(state, j)
    state.changed[:] = False


@compiled
def cost_of_references(placed: Integers, costs: Floats) -> float:
    """The cost of all references where they are placed."""
    total = 0.0
    for j in range(placed.shape[0]):
        for i in range(placed.shape[1]):
            total += placed[j, i] * costs[i, j]
    return total


@compiled
def place_rows_by_search(
    references: Placement,
    scratch: Placement,
    reference_cost: float,
    units: int,
    unit_mass: float,
    costs: Floats,
    total: Floats,
    own: Floats,
    mass: Floats,
) -> None:
    """Place every row of `costs`; fill `total`, `own` and, if it has rows, `mass`.

    `scratch` is a copy of `references`. It is restored after each row.
    """
    n, k_centroids = costs.shape
    sent = np.zeros(k_centroids, np.int64)
    for r in range(n):
        total[r] = unit_mass * (reference_cost + place(scratch, costs[r], units, sent))
        paid = 0.0
        for j in range(k_centroids):
            paid += sent[j] * costs[r, j]
            if mass.shape[0] > 0:
                mass[r, j] = unit_mass * sent[j]
            sent[j] = 0
        own[r] = unit_mass * paid
        restore(scratch, references)


class Table(NamedTuple):
    """`V` and its differences. A state `w` is a row number; state 0 is `w = 0`."""

    units: int  # that a row has to place
    value: Floats  # (S,) V(w)
    # Of states with fewer units than a row has to place, which have the lowest numbers:
    price: Floats  # (S', K) V(w + e_j) - V(w), infinite where centroid j is full
    following: Integers  # (S', K) the state w + e_j


def n_states(units: int, n_centroids: int) -> float:
    """The number of states `w` with at most `units` units; infinite if it is very large."""
    if min(units, n_centroids) > 64:  # at least 2^64
        return math.inf
    return math.comb(units + n_centroids, n_centroids)


def values_of_states(references: Placement, reference_cost: float, units: int) -> Floats:
    """V(w) of all states that a row can pass through, given the placed references."""
    values = np.empty(int(n_states(units, references.capacity.size)))
    _fill_values(values, copy_placement(references), references, reference_cost)
    return values


@compiled
def _fill_values(
    values: Floats, scratch: Placement, references: Placement, reference_cost: float
) -> None:
    w = np.zeros(references.capacity.size, np.int64)
    for state in range(values.size):
        values[state] = _value_given(w, scratch, references, reference_cost)
        # The next w in the order of `following_states`.
        j = 1
        while j < w.size and w[j] == 0:
            j += 1
        first = w[0]
        w[0] = 0
        if j < w.size:
            w[j] -= 1
        w[j - 1] = first + 1


def table_of_values(values: Floats, units: int, capacity: Integers) -> Table:
    """The table of all states, given V(w) of each."""
    following, fits = following_states(units, capacity)
    price = np.full(following.shape, np.inf)
    np.subtract(values[following], values[: len(price), np.newaxis], out=price, where=fits)
    return Table(units, values, price, following)


def following_states(units: int, capacity: Integers) -> tuple[Integers, npt.NDArray[np.bool_]]:
    """The states w + e_j (S', K) of all w with fewer than `units` units, and whether they fit.

    States are numbered in the combinatorial number system: with the partial sums
    p_t = w_1 + ... + w_t, the number of w is the sum over t of C(p_t + t - 1, t). So one more unit
    at centroid j adds the sum over t >= j of C(p_t + t - 1, t - 1) to the number.
    """
    k = capacity.size
    sums = np.array(list(combinations_with_replacement(range(units), k)), dtype=np.int64)
    sums = sums[np.lexsort(sums.T)]
    binomial = np.ones((units, k), dtype=np.int64)  # C(p + t, t)
    for p in range(1, units):
        np.cumsum(binomial[p - 1], out=binomial[p])
    added = binomial[sums, np.arange(k)][:, ::-1].cumsum(axis=1)[:, ::-1]
    following = np.arange(len(sums))[:, np.newaxis] + added
    w = np.diff(sums, axis=1, prepend=0)
    return following, (w <= capacity).all(axis=1, keepdims=True) & (w < capacity)


@compiled
def _value_given(w: Integers, scratch: Placement, references: Placement, base: float) -> float:
    """V(w): force `w` on the centroids and let the references make way."""
    restore(scratch, references)
    sent = np.zeros(w.size, np.int64)
    only_here = np.full(w.size, np.inf)
    value = base
    for j in range(w.size):
        only_here[j] = 0.0
        value += place(scratch, only_here, w[j], sent)
        only_here[j] = np.inf
    return value


@compiled
def place_rows_by_table(
    table: Table, unit_mass: float, costs: Floats, total: Floats, own: Floats, mass: Floats
) -> None:
    """Place the units of every row one by one, each on the centroid where it costs least.

    Fills `total`, `own` and, if it has rows, `mass`. Among equally cheap centroids the one with the
    lowest index gets the unit.
    """
    n, k_centroids = costs.shape
    for r in range(n):
        state = 0
        paid = 0.0
        for _ in range(table.units):
            best = np.inf
            chosen = 0
            for j in range(k_centroids):
                cost = costs[r, j] + table.price[state, j]
                if cost < best:
                    best = cost
                    chosen = j
            paid += costs[r, chosen]
            if mass.shape[0] > 0:
                mass[r, chosen] += unit_mass
            state = table.following[state, chosen]
        total[r] = unit_mass * (table.value[state] + paid)
        own[r] = unit_mass * paid
