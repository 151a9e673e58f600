"""Euclidean distances from rows to centroids, without the cancellation of |x|^2 - 2xc + |c|^2."""

from functools import partial

import numpy as np

from ._compiled import compiled
from ._placement import Floats


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
    fill_distances(np.ascontiguousarray(rows), np.ascontiguousarray(centroids), costs)
    return costs


@compiled
def fill_distances(rows: Floats, centroids: Floats, distances: Floats) -> None:
    """Fill `distances` (n, K) with the distances from `rows` to `centroids`."""
    for r in range(rows.shape[0]):
        for j in range(centroids.shape[0]):
            distances[r, j] = np.sqrt(_squared_distance(rows[r], centroids[j]))
