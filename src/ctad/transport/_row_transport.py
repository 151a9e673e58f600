"""Exact optimal transport of "M references and one row" to K centroids, for many rows."""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from ._costs import EuclideanCosts
from ._placement import (
    Floats,
    Integers,
    Placement,
    Table,
    build_table,
    copy_placement,
    empty_placement,
    free_table,
    n_states,
    place_references,
    place_rows,
    walk_table,
)

# Above this many states a table costs more to fill than it saves, and leaves the cache.
MAX_STATES = 4096

# Rows are worked on in blocks of about this many numbers: small enough for the
# processor's cache, large enough that Python's part does not count.
BLOCK_NUMBERS = 2**18

# From this many centroids on, ruling most of them out first is faster than measuring all.
SCREEN_FROM = 16

# Rows, buffer, costs, nearest.
FillCosts = Callable[[npt.NDArray[Any], Floats, Floats, Integers], None]
PlaceBlock = Callable[[Floats, Floats, Floats, Floats], None]  # costs, total, own, mass


class Transported(NamedTuple):
    """The solved transport problem of each row; see `RowTransport.solve`.

    Attributes
    ----------
    total : ndarray of shape (n,)
        The value of the transport problem.
    own : ndarray of shape (n,)
        The part of it that the row itself pays.
    mass : ndarray of shape (n, K) or None
        Mass the row sends to each centroid, with `mass=True`.
    nearest : ndarray of shape (n,) or None
        The centroid that takes all of it, with `nearest=True`.
    """

    total: Floats
    own: Floats
    mass: Floats | None
    nearest: Integers | None


class RowTransport:
    r"""Solve, for many rows against one fixed rest,

    .. math::
        \min_{T \ge 0} \sum_{ij} T_{ij} C_{ij} \quad\text{with}\quad
        T \mathbf 1 = \tfrac{1}{M+1} \mathbf 1, \quad T^\top \mathbf 1 = b,

    where the first M rows of `C` are the same for all and the last one is the row's.

    In units of mass that divide both 1/(M+1) and b this is an integer problem in which
    only the units of the row are free: they are placed one after the other, each where
    it and the references that make way for it pay least. That is exact, and needs no
    linear program per row [1]_.

    Parameters
    ----------
    reference_costs : array of shape (M, K)
        Cost from each reference to each centroid.
    target : "uniform", "free", or integers of shape (K,)
        The masses b. "uniform": 1/K each. Integers: multiples of 1/(M+1), which sum to
        M+1. "free": no condition on b; then everything goes to its nearest centroid.

    Notes
    -----
    Where several plans are optimal, `own` and `mass` are those of one of them. The choice is
    deterministic and depends on this row alone. While all states of a row fit in a table (at
    most 4096, as with K=5, M=20 or whenever K divides M+1), its units are placed one at a
    time on the cheapest centroid, and of equally cheap ones (as rounded) on the one with the
    lowest index. Beyond that they take the cheapest path to free room that Dijkstra's search
    finds first, settling equally distant centroids (as rounded) in the order of their index.

    References
    ----------
    .. [1] K. Murota: Discrete Convex Analysis, 2003, on M-natural-convex functions and
       why greedy placement minimises them.

    Examples
    --------
    >>> import numpy as np
    >>> references = np.array([[0.0], [1.0], [4.0]])
    >>> centroids = np.array([[0.5], [4.0]])
    >>> transport = RowTransport(np.abs(references - centroids.T))
    >>> row = transport.solve_points(np.array([[10.0]]), centroids, mass=True)
    >>> row.total, row.own, row.mass
    (array([1.75]), array([1.5]), array([[0.  , 0.25]]))
    """

    def __init__(
        self,
        reference_costs: npt.ArrayLike,
        target: Literal["uniform", "free"] | npt.ArrayLike = "uniform",
    ) -> None:
        costs = np.array(reference_costs, dtype=np.float64, order="C")
        if costs.ndim != 2 or 0 in costs.shape:
            raise ValueError(f"reference_costs must be M x K with M, K >= 1, not {costs.shape}")
        if not np.isfinite(costs).all():
            raise ValueError("reference_costs must be finite")
        self.n_references, self.n_centroids = costs.shape
        n_sources = self.n_references + 1

        self._table: Table | None = None
        self._is_free = isinstance(target, str) and target == "free"
        if self._is_free:
            self._units = 1
            self._table = free_table(float(costs.min(axis=1).sum()), self.n_centroids)
        else:
            self._units, room = self._units_and_room(target)
            self._references: Placement = empty_placement(costs, room)
            self._reference_value = place_references(self._references, self._units)
            if n_states(self._units, self.n_centroids) <= MAX_STATES:
                self._table = build_table(self._references, self._reference_value, self._units)
        self._unit_mass = 1.0 / (self._units * n_sources)

    def _units_and_room(self, target: object) -> tuple[int, Integers]:
        """Units each source has to place, and units each centroid takes."""
        n_sources, k = self.n_references + 1, self.n_centroids
        if isinstance(target, str):
            if target != "uniform":
                raise ValueError(f"target must be 'uniform', 'free' or integers, not {target!r}")
            divisor = math.gcd(k, n_sources)
            return k // divisor, np.full(k, n_sources // divisor, dtype=np.int64)
        room = np.asarray(target)
        if room.shape != (k,) or room.dtype.kind not in "iu" or room.min() < 0:
            raise ValueError(f"target must be {k} integers >= 0")
        if room.sum() != n_sources:
            raise ValueError(f"target must sum to M + 1 = {n_sources}, not {room.sum()}")
        return 1, room.astype(np.int64)

    def solve(self, costs: npt.ArrayLike, *, mass: bool = False, n_threads: int = 1) -> Transported:
        """Transport rows given by their costs.

        Parameters
        ----------
        costs : array of shape (n, K)
            Cost from each row to each centroid.
        mass : bool, default=False
            Also return the mass the row sends to each centroid.
        n_threads : int, default=1
            Threads to use; the result is the same, bit for bit.

        Returns
        -------
        Transported
            `total`, `own` and `mass` per row.
        """
        rows = np.asarray(costs)
        if rows.ndim != 2 or rows.shape[1] != self.n_centroids:
            raise ValueError(f"costs must have {self.n_centroids} columns, got shape {rows.shape}")

        def copy(
            block: npt.NDArray[Any], _buffer: Floats, block_costs: Floats, _nearest: Integers
        ) -> None:
            np.copyto(block_costs, block, casting="same_kind")

        return self._solve_blocks(rows, copy, mass, n_threads)

    def solve_points(
        self,
        points: npt.ArrayLike,
        centroids: EuclideanCosts | npt.ArrayLike,
        *,
        mass: bool = False,
        nearest: bool = False,
        n_threads: int = 1,
    ) -> Transported:
        """Transport rows given by their coordinates, at Euclidean cost.

        Works through blocks of rows: the points are never copied or converted whole.

        Parameters
        ----------
        points : array of shape (n, D)
            Rows, of any real dtype and memory order.
        centroids : EuclideanCosts, or array of shape (K, D)
            Centroids, in the same order as in `reference_costs`.
        mass, n_threads
            As in `solve`.
        nearest : bool, default=False
            Also return the index of the centroid that each row goes to, the first of equally cheap
            ones. Only with the target "free".

        Returns
        -------
        Transported
            `total`, `own`, `mass` and `nearest` per row.
        """
        if nearest and not self._is_free:
            raise ValueError("a row goes to one centroid only with target='free': use mass=True")
        costs = centroids if isinstance(centroids, EuclideanCosts) else EuclideanCosts(centroids)
        if costs.n_centroids != self.n_centroids:
            raise ValueError(f"{self.n_centroids} centroids are needed, got {costs.n_centroids}")
        rows = np.asarray(points)
        costs.check_points(rows)
        only_least = self._is_free and not mass and self.n_centroids >= SCREEN_FROM
        if only_least:
            measure: FillCosts = costs.fill_least
        elif nearest:
            measure = costs.fill_all_and_nearest
        else:
            measure = costs.fill_all
        return self._solve_blocks(
            rows,
            measure,
            mass,
            n_threads,
            n_features=costs.n_features,
            only_least=only_least,
            with_nearest=nearest,
        )

    def _solve_blocks(
        self,
        rows: npt.NDArray[Any],
        fill: FillCosts,
        with_mass: bool,
        n_threads: int,
        *,
        n_features: int = 0,
        only_least: bool = False,
        with_nearest: bool = False,
    ) -> Transported:
        """Cost and place blocks of rows; each thread works on one contiguous part of them."""
        n, n_columns = rows.shape
        total, own = np.empty(n), np.empty(n)
        mass = np.zeros((n if with_mass else 0, self.n_centroids))
        nearest = np.empty(n, dtype=np.int64)
        step = min(max(n, 1), max(64, BLOCK_NUMBERS // max(n_columns, self.n_centroids)))

        def work(first: int, last: int) -> None:
            place_block = self._placer(only_least)
            buffer = np.empty((step, n_features))
            costs = np.empty((step, 1 if only_least else self.n_centroids))
            for start in range(first, last, step):
                stop = min(start + step, last)
                block_costs = costs[: stop - start]
                fill(rows[start:stop], buffer[: stop - start], block_costs, nearest[start:stop])
                if not np.isfinite(block_costs).all():
                    row = start + int(np.argmin(np.isfinite(block_costs).all(axis=1)))
                    raise ValueError(
                        f"row {row}: its cost to a centroid is not finite (NaN, infinity, or "
                        "coordinates too large to be squared)"
                    )
                place_block(block_costs, total[start:stop], own[start:stop], mass[start:stop])

        n_threads = min(n_threads, -(-n // step))  # no more than there are blocks
        if n_threads > 1:
            edges = np.linspace(0, n, n_threads + 1).astype(int).tolist()
            with ThreadPoolExecutor(n_threads) as pool:
                list(pool.map(work, edges[:-1], edges[1:]))
        else:
            work(0, n)
        return Transported(
            total, own, mass if with_mass else None, nearest if with_nearest else None
        )

    def _placer(self, only_least: bool) -> PlaceBlock:
        """The compiled loop over a block of costs, with scratch memory of its own."""
        if self._table is not None:
            table = self._table
            if only_least:  # the other centroids might as well not be there
                table = free_table(float(table.value[0]), 1)
            return lambda costs, total, own, mass: walk_table(
                table, self._unit_mass, costs, total, own, mass
            )
        scratch = copy_placement(self._references)
        return lambda costs, total, own, mass: place_rows(
            self._references,
            scratch,
            self._reference_value,
            self._units,
            self._unit_mass,
            costs,
            total,
            own,
            mass,
        )
