"""The compiled loop of partial transport: the nearest centroids are filled first."""

import numpy as np
import numpy.typing as npt

from .._compiled import compiled

Floats = npt.NDArray[np.float64]

ROWS_AT_ONCE = 64  # a multiple of what the vector units of processors hold


@compiled
def place_rows_by_distance(
    costs: Floats, capacity: Floats, mass: float, own: Floats, placed: Floats
) -> None:
    """Place the mass of each row at its cheapest centroids, up to the capacity of each.

    Fills `own` (n,) with what each row pays and, unless it has no rows, `placed` (n, K) with the
    mass at each centroid: its capacity, or what those that are cheaper leave of the mass. Equally
    cheap centroids are filled in the order of their index.

    Comparing all pairs, for many rows at once and without branches, is faster than sorting a few
    centroids row by row.
    """
    n_rows, k_centroids = costs.shape
    cost = np.zeros((k_centroids, ROWS_AT_ONCE))
    cheaper = np.empty((k_centroids, ROWS_AT_ONCE))  # the capacity of the cheaper centroids
    for start in range(0, n_rows, ROWS_AT_ONCE):
        n_here = min(ROWS_AT_ONCE, n_rows - start)
        for r in range(n_here):
            for j in range(k_centroids):
                cost[j, r] = costs[start + r, j]
        cheaper[:] = 0.0
        for j in range(k_centroids):
            for i in range(j):
                for r in range(ROWS_AT_ONCE):
                    is_cheaper = cost[i, r] <= cost[j, r]
                    cheaper[j, r] += capacity[i] if is_cheaper else 0.0
                    cheaper[i, r] += 0.0 if is_cheaper else capacity[j]
        for r in range(n_here):
            paid = 0.0
            for j in range(k_centroids):
                amount = min(max(mass - cheaper[j, r], 0.0), capacity[j])
                paid += amount * cost[j, r]
                if placed.shape[0] > 0:
                    placed[start + r, j] = amount
            own[start + r] = paid
