"""k-means centroids of training rows, and how far rows are from them."""

from __future__ import annotations

import warnings

import numpy as np
import numpy.typing as npt
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from .._types import Floats
from ..transport import euclidean_costs

Labels = npt.NDArray[np.int32]

# The usual distance at a centroid is shrunk to the overall mean as if by this many rows.
PRIOR_ROWS = 10

BLOCK_NUMBERS = 2**20  # costs computed at a time


def find_centroids(
    rows: Floats, n_centroids: int, random: np.random.RandomState
) -> tuple[Floats, Labels]:
    """Centroids (K, d) and the centroid that each row belongs to."""
    kmeans = KMeans(n_centroids, n_init="auto", random_state=random.randint(2**31 - 1))
    # One thread: with several, the order of the sums, and so the bits, depend on which ends first.
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct rows than centroids
        labels = kmeans.fit_predict(rows)
    return np.ascontiguousarray(kmeans.cluster_centers_, dtype=np.float64), labels


def leave_one_out_costs(
    rows: Floats, centroids: Floats, radius: Floats, labels: Labels
) -> tuple[Floats, Floats]:
    """The least cost of each row, and the same as if k-means had not used the row.

    A centroid is close to a training row because it is the mean of that row and others. Without x,
    the mean of its n rows is n / (n - 1) times as far from x. A row that is alone is its own
    centroid, which would not exist without it.
    """
    n = np.bincount(labels, minlength=len(centroids))[labels]
    with_row, without_row = np.empty(len(rows)), np.empty(len(rows))
    step = max(1, BLOCK_NUMBERS // len(centroids))
    for start in range(0, len(rows), step):
        part = slice(start, start + step)
        costs = euclidean_costs(rows[part], centroids) / radius
        with_row[part] = costs.min(axis=1)
        own = np.arange(len(costs)), labels[part]
        costs[own] = np.where(
            n[part] > 1, costs[own] * n[part] / np.maximum(n[part] - 1, 1), np.inf
        )
        without_row[part] = costs.min(axis=1)
    return with_row, without_row


def usual_distances(rows: Floats, centroids: Floats, labels: Labels) -> Floats:
    """The mean leave-one-out distance of the rows of each centroid, shrunk to the overall mean."""
    _, distances = leave_one_out_costs(rows, centroids, np.ones(len(centroids)), labels)
    overall = distances.mean()
    if overall <= 10 * np.finfo(np.float64).eps * np.abs(rows).max():
        return np.ones(len(centroids))  # every distinct row is a centroid
    n = np.bincount(labels, minlength=len(centroids))
    total = np.bincount(labels, distances, minlength=len(centroids))
    usual: Floats = (total + PRIOR_ROWS * overall) / (n + PRIOR_ROWS)
    return usual
