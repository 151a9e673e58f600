r"""All ways a row can spread its units over the centroids, tabulated once.

Let `w` say how many units the row has placed on each centroid, and `V(w)` what the
references then pay at best: it does not depend on the row. A row with costs `c` pays

    OT(c) = min over w with |w| = units of  V(w) + <w, c>.

`V` is M-natural-convex, so placing unit after unit on the centroid `j` with the least
`c[j] + price`, where `price = V(w + e_j) - V(w)`, ends in the minimum. With few units
and centroids all `w` fit in a table, and a row costs `units` times K comparisons.
"""

import math
from typing import NamedTuple

import numpy as np

from ._compiled import compiled
from ._placement import Floats, Integers, Placement, copy_placement, place, restore


class Table(NamedTuple):
    """`V` and its differences; a state `w` is a row number, state 0 is `w = 0`."""

    units: int  # what a row has to place
    value: Floats  # (S,) V(w)
    price: Floats  # (S, K) V(w + e_j) - V(w), infinite where centroid j is full
    following: Integers  # (S, K) the state w + e_j


def n_states(units: int, n_centroids: int) -> int:
    """How many `w` with at most `units` units there are."""
    return math.comb(units + n_centroids, n_centroids)


def free_table(value: float, n_centroids: int) -> Table:
    """No limit on any centroid: the references do not care where the row goes."""
    return Table(
        units=1,
        value=np.full(2, value),
        price=np.zeros((1, n_centroids)),
        following=np.ones((1, n_centroids), np.int64),
    )


def build_table(references: Placement, reference_value: float, units: int) -> Table:
    """Tabulate every state a row can pass through, given the placed references."""
    k = references.room.size
    size = n_states(units, k)
    table = Table(
        units=units,
        value=np.empty(size),
        price=np.full((size, k), np.inf),
        following=np.zeros((size, k), np.int64),
    )
    _fill(table, copy_placement(references), references, reference_value)
    return table


@compiled
def _fill(table: Table, scratch: Placement, references: Placement, base: float) -> None:
    k_centroids = references.room.size
    # States are numbered in the combinatorial number system: with the partial sums
    # p_t = w_1 + ... + w_t, the number of w is the sum over t of C(p_t + t - 1, t).
    binomial = np.zeros((k_centroids + 1, table.units + 1), np.int64)
    for p in range(1, table.units + 1):
        binomial[0, p] = 1
        for t in range(1, k_centroids + 1):
            binomial[t, p] = binomial[t, p - 1] + binomial[t - 1, p]

    w = np.zeros(k_centroids, np.int64)
    last = k_centroids - 1
    while True:
        state = _number(w, binomial)
        table.value[state] = _reference_value(w, scratch, references, base)
        placed = w.sum()
        if placed < table.units:
            for j in range(k_centroids):
                w[j] += 1
                table.following[state, j] = _number(w, binomial)
                w[j] -= 1
        # The next w in lexicographic order.
        if placed < table.units:
            w[last] += 1
        else:
            j = last
            while j >= 0 and w[j] == 0:
                j -= 1
            w[j] = 0
            if j <= 0:
                break
            w[j - 1] += 1

    for state in range(table.value.size):
        if table.value[state] < np.inf:
            for j in range(k_centroids):
                following = table.following[state, j]
                if following > 0:
                    table.price[state, j] = table.value[following] - table.value[state]


@compiled
def _number(w: Integers, binomial: Integers) -> int:
    number = 0
    total = 0
    for j in range(w.size):
        total += w[j]
        number += binomial[j + 1, total]
    return number


@compiled
def _reference_value(w: Integers, scratch: Placement, references: Placement, base: float) -> float:
    """V(w): force w on the centroids and let the references make way."""
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
def walk_table(
    table: Table, unit_mass: float, costs: Floats, total: Floats, own: Floats, mass: Floats
) -> None:
    """Place every row of `costs`; fills `total`, `own` and, if it has rows, `mass`.

    Of equally cheap centroids the one with the lowest index gets the unit.
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
