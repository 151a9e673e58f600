"""Euclidean distances from rows to centroids, without the cancellation of |x|^2 - 2xc + |c|^2.

A cost is such a distance, divided by the radius of the centroid.

All costs of a row are measured one by one (`fill_costs`). Where only the least is wanted there is
a shortcut (`fill_least_costs`): squared costs, expanded, are one matrix product,

    |x - c|^2 / r^2  =  <(x, 1, |x|^2), (-2c, |c|^2, 1) / r^2>.

In single precision it is fast, and wrong by no more than a known bound. Only centroids which that
bound cannot rule out, mostly a single one, are then measured: the result is the same, as long as
squares are not too small for double precision.

Compiled functions that call each other share this file: numba's cache notices a change in the file
of a function, not in the files of those it calls.
"""

from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ._compiled import compiled

Floats = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]

# BLAS libraries do a matrix product of up to about this many multiplications in the calling thread,
# as they should: who asks for one thread gets one.
MULTIPLICATIONS = 2**18
LARGEST_NORM = 1e15  # its square, times a few, is far below what single precision can hold
EPS = float(np.finfo(np.float32).eps)


# The order of this sum may change with the processor but not with the row's place in
# the table; reordering lets the compiler use all lanes and doubles the speed.
@partial(compiled, fastmath={"reassoc", "contract", "nsz"})
def _squared_distance(x: Floats, y: Floats) -> float:
    total = 0.0
    for d in range(x.size):
        difference = x[d] - y[d]
        total += difference * difference
    return total


def euclidean_costs(rows: Floats, centroids: Floats) -> Floats:
    """Euclidean distances (n, K) from `rows` (n, D) to `centroids` (K, D), both float64."""
    costs = np.empty((len(rows), len(centroids)))
    fill_costs(
        np.ascontiguousarray(rows), np.ascontiguousarray(centroids), np.ones(len(centroids)), costs
    )
    return costs


@compiled
def fill_costs(rows: Floats, centroids: Floats, radius: Floats, costs: Floats) -> None:
    """Fill `costs` (n, K) with the distances from `rows` to `centroids` over their radius."""
    for r in range(rows.shape[0]):
        for j in range(centroids.shape[0]):
            costs[r, j] = np.sqrt(_squared_distance(rows[r], centroids[j])) / radius[j]


@compiled
def add_shares(
    rows: Floats,
    centroids: Floats,
    row: npt.NDArray[np.int64],
    centroid: npt.NDArray[np.int64],
    amounts: Floats,
    columns: npt.NDArray[np.int64],
    shares: Floats,
) -> None:
    """Divide each amount among columns by their share of the squared distance from its row to its
    centroid, and add that to `shares`; between equal points there is nothing to divide.

    `rows` and `centroids` have the columns of `shares` that `columns` names.
    """
    for i in range(amounts.size):
        x, y = rows[row[i]], centroids[centroid[i]]
        squared = _squared_distance(x, y)
        if squared > 0.0:
            for d in range(columns.size):
                difference = x[d] - y[d]
                shares[row[i], columns[d]] += amounts[i] * (difference * difference / squared)


@compiled
def fill_scaled(
    rows: Floats,
    columns: npt.NDArray[np.int64],
    shift: Floats,
    scale: Floats,
    scaled: Floats,
) -> None:
    """Fill `scaled` (n, d) with `(rows[:, columns] - shift) / scale`."""
    for r in range(rows.shape[0]):
        for d in range(columns.size):
            scaled[r, d] = (rows[r, columns[d]] - shift[d]) / scale[d]


class Screen(NamedTuple):
    """Centroids in single precision, in units in which none is farther than 1 from 0."""

    centre: Floats  # (D,)
    per_unit: float
    factors: Singles  # (K, D + 2) (-2c, |c|^2, 1) / r^2, with the smallest r as unit


def screen_of(centroids: Floats, radius: Floats) -> Screen:
    """What `fill_least_costs` needs to rule centroids out."""
    centre = centroids.mean(axis=0)
    from_centre = centroids - centre
    farthest = float(np.linalg.norm(from_centre, axis=1).max())
    per_unit = 1.0 / farthest if farthest > 0 else 1.0
    from_centre *= per_unit
    squares = np.einsum("kd,kd->k", from_centre, from_centre)
    factors = np.column_stack([-2.0 * from_centre, squares, np.ones(len(centroids))])
    factors *= (radius.min() / radius[:, np.newaxis]) ** 2
    return Screen(centre, per_unit, factors.astype(np.float32))


@compiled
def fill_least_costs(
    rows: Floats,
    centroids: Floats,
    radius: Floats,
    screen: Screen,
    costs: Floats,
    nearest: npt.NDArray[np.int64],
) -> None:
    """Fill `costs` (n,) with the least of the costs that `fill_costs` gives for each row, and
    `nearest` (n,) with the first centroid that has it."""
    k_centroids, n_factors = screen.factors.shape
    # Rows in whole vectors of the processor, as long as 16 centroids fit beside them.
    most = min(128, MULTIPLICATIONS // (16 * n_factors), rows.shape[0] + 15)
    step = max(16, most // 16 * 16)
    at_once = max(1, MULTIPLICATIONS // (step * n_factors))
    factors = np.zeros((n_factors, step), np.float32)
    bound = np.zeros(step, np.float32)
    squared = np.empty((k_centroids, step), np.float32)
    least = np.empty(step, np.float32)
    second = np.empty(step, np.float32)
    chosen = np.empty(step, np.int32)
    for start in range(0, rows.shape[0], step):
        block = rows[start : start + step]
        _in_single_precision(block, screen, factors, bound)
        for j in range(0, k_centroids, at_once):
            np.dot(screen.factors[j : j + at_once], factors, squared[j : j + at_once])
        _two_least(squared, least, second, chosen)
        for r in range(block.shape[0]):
            limit = least[r] + bound[r]
            first, last = 0, k_centroids
            if second[r] > limit:
                first, last = chosen[r], chosen[r] + 1
            best, best_j = np.inf, first
            for j in range(first, last):
                if squared[j, r] <= limit:
                    cost = np.sqrt(_squared_distance(block[r], centroids[j])) / radius[j]
                    if not cost >= best:  # NaN too
                        best, best_j = cost, j
            costs[start + r] = best
            nearest[start + r] = best_j


@compiled
def _in_single_precision(rows: Floats, screen: Screen, factors: Singles, bound: Singles) -> None:
    """Fill the columns of `factors` with (x, 1, |x|^2), and `bound` with what two of their products
    may be off by together.

    Each is a sum of D + 2 products of rounded factors, which is off by (D + 4) / 2 eps (|x| + 1)^2
    at most, plus terms in eps^2 [1]_.

    References
    ----------
    .. [1] N. Higham: Accuracy and Stability of Numerical Algorithms, chapter 3.
    """
    n, n_columns = rows.shape
    relative = (n_columns + 10) * EPS
    for r in range(n):
        squares = 0.0
        for d in range(n_columns):
            value = (rows[r, d] - screen.centre[d]) * screen.per_unit
            squares += value * value
            factors[d, r] = value
        norm = np.sqrt(squares)
        if norm < LARGEST_NORM:
            factors[n_columns, r] = 1.0
            factors[n_columns + 1, r] = squares
            bound[r] = relative * (norm + 1.0) ** 2
        else:  # its square might not fit, or it is NaN: nothing can be ruled out
            factors[:, r] = 0.0
            bound[r] = np.inf


@compiled
def _two_least(
    squared: Singles, least: Singles, second: Singles, chosen: npt.NDArray[np.int32]
) -> None:
    """The two smallest numbers in each column of `squared`, and where the first is."""
    k_centroids, n = squared.shape
    for r in range(n):
        least[r] = squared[0, r]
        second[r] = np.inf
        chosen[r] = 0
    for j in range(1, k_centroids):
        for r in range(n):  # without branches, so that the compiler uses all lanes
            here = squared[j, r]
            is_less = here < least[r]
            larger = least[r] if is_less else here
            second[r] = larger if larger < second[r] else second[r]
            chosen[r] = j if is_less else chosen[r]
            least[r] = here if is_less else least[r]
