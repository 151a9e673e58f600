"""The two views that RelaxedCTAD has of a row: near centroids, and a share of all rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .._types import Booleans, Floats, Integers
from ..transport import PartialTransport, RowTransport, euclidean_costs
from ._column_scaling import ColumnScaling
from ._draw import Draw
from ._kmeans import (
    BLOCK_NUMBERS,
    Labels,
    find_centroids,
    leave_one_out_costs,
    usual_distances,
)

# At most one centroid per this many distinct rows: with more, many centroids are training rows.
MIN_ROWS_PER_CENTROID = 3

# Costs are multiples of this quantile of the training rows' costs, so that views are comparable.
USUAL = 0.75

ROUNDING = 1e-12  # smaller costs, as shares of the largest one, are rounding errors
GRID = 2.0**36  # steps per half range of a column

# A row is out of the way if the nearest of these rows, a share of them, are far from it.
COMPARED_ROWS = 500
COMPARED_SHARE = 0.05


def near_view(
    rows: Floats, n_centroids: int, n_references: int, most: int, random: np.random.RandomState
) -> tuple[Draw, Floats]:
    """The distance to the nearest centroid, as a multiple of the usual distance there.

    Parameters
    ----------
    rows : ndarray of shape (n, D)
        Training rows.
    n_centroids, n_references : int
        K and M.
    most : int
        k-means uses a random sample of at most this many rows.
    random : RandomState

    Returns
    -------
    Draw
    ndarray of shape (n,)
        The cost of each training row; for those that k-means used, as if it had not.
    """
    scaling = ColumnScaling.by_range(rows, rows)
    references = scaling.transform(rows[random.choice(len(rows), n_references, replace=False)])
    sample = _sample(len(rows), most, random)
    used = scaling.transform(rows[sample])
    centroids, labels = _centroids(used, n_centroids, random)
    radius = usual_distances(used, centroids, labels)
    _, costs = leave_one_out_costs(used, centroids, radius, labels)
    usual = _usual(costs)
    transport = RowTransport(euclidean_costs(references, centroids) / (radius * usual), "free")
    draw = Draw(references, centroids, radius * usual, scaling, "free", transport)
    terms = draw.solve(rows).own
    terms[sample] = costs / usual / (n_references + 1)
    return draw, terms


def wide_view(
    rows: Floats,
    n_centroids: int,
    n_references: int,
    most: int,
    share: float,
    trimmed: float,
    random: np.random.RandomState,
) -> tuple[Draw, Floats]:
    """The mean distance to the nearest share of the rows, without the rows that are out of the way.

    Centroids stand for the rows. A row's mass is 1 / (M + 1), and a centroid that stands for the
    share p of the rows has room for the share p / `share` of it.

    Parameters
    ----------
    rows, n_centroids, n_references, most
        As for `near_view`.
    share : float
        The share of the rows that the mass of a row is spread over.
    trimmed : float
        The share of the rows that are left out.
    random : RandomState

    Returns
    -------
    Draw
    ndarray of shape (n,)
        The cost of each training row; for those that k-means used, as if it had not.
    """
    sample = _sample(len(rows), most, random)
    in_range_of_all = ColumnScaling.by_range(rows, rows).transform(rows[sample])
    kept = sample[_is_kept(_without_rounding(in_range_of_all), trimmed, random)]
    scaling = ColumnScaling.by_range(rows[kept], rows)
    references = scaling.transform(rows[random.choice(len(rows), n_references, replace=False)])
    used = scaling.transform(rows[kept])
    centroids, labels = _centroids(used, n_centroids, random)
    sizes = np.bincount(labels, minlength=len(centroids))
    mass = 1.0 / (n_references + 1)
    transport = PartialTransport(_room(sizes, share, mass), mass)
    draw = Draw(references, centroids, np.ones(len(centroids)), scaling, "partial", transport)
    terms = draw.solve(rows).own
    terms[kept] = mass * _costs_without_row(used, centroids, labels, share)
    usual = _usual(terms / mass)
    return replace(draw, radius=draw.radius * usual), terms / usual


def _sample(n: int, most: int, random: np.random.RandomState) -> Integers:
    """The places of at most this many rows, chosen at random."""
    return np.arange(n) if n <= most else random.choice(n, most, replace=False)


def _centroids(
    rows: Floats, n_centroids: int, random: np.random.RandomState
) -> tuple[Floats, Labels]:
    """k-means centroids of scaled rows, and the centroid that each row belongs to."""
    rows = _without_rounding(rows)
    most = max(1, len(np.unique(rows, axis=0)) // MIN_ROWS_PER_CENTROID)
    return find_centroids(rows, min(n_centroids, most), random)


def _without_rounding(rows: Floats) -> Floats:
    """Scaled rows on a grid that is far coarser than rounding errors.

    k-means and trimming compare numbers that are often equal but for rounding. In other units, the
    last bits of the rows would decide otherwise.
    """
    return np.round(rows * GRID) / GRID


def _usual(costs: Floats) -> float:
    """What costs are divided by. If most rows cost nothing, it is usual for the others."""
    smallest = ROUNDING * max(1.0, costs.max())
    usual = float(np.quantile(costs, USUAL))
    if usual <= smallest and (costs > smallest).any():
        usual = float(np.quantile(costs[costs > smallest], USUAL))
    return usual if usual > smallest else 1.0


def _is_kept(rows: Floats, trimmed: float, random: np.random.RandomState) -> Booleans:
    """Whether each row is not among the share `trimmed` of rows that are most out of the way: the
    nearest share of some random rows are far from them."""
    n = len(rows)
    if n <= 2:
        return np.ones(n, dtype=bool)
    places = random.choice(n, min(n, COMPARED_ROWS), replace=False)
    # The mean distance to the nearest rows, without the row itself.
    n_nearest = max(1, round(COMPARED_SHARE * len(places)))
    away = np.empty(n)
    step = max(1, BLOCK_NUMBERS // len(places))
    for start in range(0, n, step):
        part = np.arange(start, min(start + step, n))
        distances = euclidean_costs(rows[part], rows[places])
        distances[part[:, np.newaxis] == places] = np.inf
        nearest = np.partition(distances, n_nearest - 1, axis=1)[:, :n_nearest]
        away[part] = nearest.mean(axis=1)
    kept: Booleans = away <= np.quantile(away, 1.0 - trimmed)
    return kept


def _room(sizes: Integers, share: float, mass: float = 1.0) -> Floats:
    """The most of its mass that a row places at each of these centroids."""
    with np.errstate(over="ignore"):  # a tiny share
        room: Floats = np.minimum(mass * sizes / (share * sizes.sum()), mass)
    return room


def _costs_without_row(rows: Floats, centroids: Floats, labels: Labels, share: float) -> Floats:
    """The mean distance of each row to the nearest share of the others, if k-means had not used it.

    The centroid of the row then stands for one row less, and is farther away.
    """
    n, sizes = len(rows), np.bincount(labels, minlength=len(centroids))
    costs = np.empty(n)
    for centroid in range(len(centroids)):
        here = np.flatnonzero(labels == centroid)
        others = sizes - (np.arange(len(centroids)) == centroid) if n > 1 else sizes
        distances = euclidean_costs(rows[here], centroids)
        distances[:, centroid] *= sizes[centroid] / max(sizes[centroid] - 1, 1)
        costs[here] = PartialTransport(_room(others, share)).solve(distances).own
    return costs
