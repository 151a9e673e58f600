"""Euclidean distances from rows to centroids, without the cancellation of |x|^2 - 2xc + |c|^2.

A cost is such a distance, divided by the radius of the centroid.

`fill_costs` measures all costs of a row. If only the nearest centroid is needed and there are many,
`fill_nearest_screened` is faster. Squared costs, expanded, are one matrix product,

    |x - c|^2 / r^2  =  <(x, 1, |x|^2), (-2c, |c|^2, 1) / r^2>.

In single precision the product is fast, and its error has a known bound. Only the centroids that
this bound cannot rule out, mostly a single one, are then measured. The result is the same, unless
squares are too small for double precision.

Functions that call each other share this file: numba's cache notices a change in the file of a
function, but not in the files of the functions it calls.
"""

from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .._compiled import compiled

Floats = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]

# BLAS libraries do matrix products of up to about this many multiplications in the calling thread.
# Larger ones would use threads that the caller did not ask for.
MULTIPLICATIONS = 2**18
SQUARES = 2**22  # squared distances kept at a time
LARGEST_NORM = 1e15  # its square is far below the largest number of single precision
SMALLEST_NORM = 1e-300  # its inverse is finite
EPS = float(np.finfo(np.float32).eps)
SATURATED = 1e8  # from this multiple of the bound on, bounded values equal the bound, as rounded


# Reordering lets the compiler vectorise the sum and doubles the speed. The order may differ between
# processors, but not between rows.
@partial(compiled, fastmath={"reassoc", "contract", "nsz"})
def _squared_distance(x: Floats, y: Floats) -> float:
    total = 0.0
    for d in range(x.size):
        difference = x[d] - y[d]
        total += difference * difference
    return total


def euclidean_costs(rows: Floats, centroids: Floats) -> Floats:
    """Euclidean distances from rows to centroids.

    Parameters
    ----------
    rows : ndarray of shape (n, D)
    centroids : ndarray of shape (K, D)
        Both of float64.

    Returns
    -------
    ndarray of shape (n, K)

    Examples
    --------
    >>> import numpy as np
    >>> euclidean_costs(np.array([[3.0, 4.0]]), np.array([[0.0, 0.0], [3.0, 4.0]]))
    array([[5., 0.]])
    """
    costs = np.empty((len(rows), len(centroids)))
    fill_costs(
        np.ascontiguousarray(rows), np.ascontiguousarray(centroids), np.ones(len(centroids)), costs
    )
    return costs


@compiled
def fill_costs(rows: Floats, centroids: Floats, radius: Floats, costs: Floats) -> None:
    """Fill `costs` (n, K) with the distances from `rows` to `centroids`, divided by `radius`."""
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
    shares: Floats,
) -> None:
    """Divide each amount among columns by their shares of the squared distance from its row to its
    centroid, and add the parts to `shares` (n, D). If the distance is zero, nothing is added."""
    for i in range(amounts.size):
        x, y = rows[row[i]], centroids[centroid[i]]
        squared = _squared_distance(x, y)
        if squared > 0.0:
            for d in range(x.size):
                difference = x[d] - y[d]
                shares[row[i], d] += amounts[i] * (difference * difference / squared)


@partial(compiled, error_model="numpy")  # no divisor is zero
def fill_scaled(rows: Floats, shift: Floats, scale: Floats, bound: float, scaled: Floats) -> None:
    """Fill `scaled` (n, D) with `z = (rows - shift) / scale`, or, if `bound` is finite, with
    `z / sqrt(1 + (z / bound)^2)`, which is about z near 0 and never beyond `bound`."""
    for r in range(rows.shape[0]):
        for d in range(shift.size):
            scaled[r, d] = (rows[r, d] - shift[d]) / scale[d]
        if bound < np.inf:
            for d in range(shift.size):
                share = min(max(scaled[r, d] / bound, -SATURATED), SATURATED)
                scaled[r, d] = bound * share / np.sqrt(1.0 + share * share)


class Screen(NamedTuple):
    """Centroids in single precision, in units in which none is farther than 1 from 0."""

    centre: Floats  # (D,)
    per_unit: float
    factors: Singles  # (K, D + 2) (-2c, |c|^2, 1) / r^2, with the smallest r as unit


def new_screen(centroids: Floats, radius: Floats) -> Screen:
    """What `fill_nearest_screened` needs to rule centroids out."""
    centre = centroids.mean(axis=0)
    from_centre = centroids - centre
    farthest = float(np.linalg.norm(from_centre, axis=1).max())
    per_unit = 1.0 / farthest if farthest > SMALLEST_NORM else 1.0
    from_centre *= per_unit
    squares = np.einsum("kd,kd->k", from_centre, from_centre)
    factors = np.column_stack([-2.0 * from_centre, squares, np.ones(len(centroids))])
    factors *= (radius.min() / radius[:, np.newaxis]) ** 2
    return Screen(centre, per_unit, factors.astype(np.float32))


@compiled
def fill_nearest(
    rows: Floats, centroids: Floats, radius: Floats, costs: Floats, nearest: npt.NDArray[np.int64]
) -> None:
    """Fill `costs` (n,) with the least cost of each row, and `nearest` (n,) with the first centroid
    that has it."""
    for r in range(rows.shape[0]):
        best, best_j = np.inf, 0
        for j in range(centroids.shape[0]):
            cost = np.sqrt(_squared_distance(rows[r], centroids[j])) / radius[j]
            if not cost >= best:  # NaN too
                best, best_j = cost, j
        costs[r] = best
        nearest[r] = best_j


@compiled
def fill_nearest_screened(
    rows: Floats,
    centroids: Floats,
    radius: Floats,
    screen: Screen,
    costs: Floats,
    nearest: npt.NDArray[np.int64],
) -> None:
    """The same, but measure only the centroids that `screen` does not rule out."""
    k_centroids, n_factors = screen.factors.shape
    # Rows at a time: a multiple of 16, for the vector units of the processor, at most 128, and few
    # enough that a product with 16 centroids, and the squared distances, stay below the limits.
    most = min(128, MULTIPLICATIONS // (16 * n_factors), SQUARES // k_centroids)
    most = min(most, rows.shape[0] + 15)
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
    """Fill the columns of `factors` with (x, 1, |x|^2), and `bound` with the largest error that two
    of their products can have together.

    Each product is a sum of D + 2 products of rounded factors. Its error is at most
    (D + 4) / 2 eps (|x| + 1)^2, plus terms in eps^2 [1]_.

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
        else:  # its square might overflow, or it is NaN: no centroid can be ruled out
            factors[:, r] = 0.0
            bound[r] = np.inf


@compiled
def _two_least(
    squared: Singles, least: Singles, second: Singles, chosen: npt.NDArray[np.int32]
) -> None:
    """Find the two smallest numbers in each column of `squared`, and the row of the smallest."""
    k_centroids, n = squared.shape
    for r in range(n):
        least[r] = squared[0, r]
        second[r] = np.inf
        chosen[r] = 0
    for j in range(1, k_centroids):
        for r in range(n):  # without branches, so that the compiler vectorises the loop
            here = squared[j, r]
            is_less = here < least[r]
            larger = least[r] if is_less else here
            second[r] = larger if larger < second[r] else second[r]
            chosen[r] = j if is_less else chosen[r]
            least[r] = here if is_less else least[r]
