"""What all transports of rows share: they are solved in blocks, in threads, with checked costs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ._costs import EuclideanCosts

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

# Rows are solved in blocks of about this many numbers: small enough for the processor's cache, and
# large enough that the overhead of Python is negligible.
BLOCK_NUMBERS = 2**18


@dataclass(frozen=True, eq=False)
class Transported:
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
        With the target "free", the centroid that takes all of the row's mass: the first of equally
        cheap ones.
    """

    total: Floats
    own: Floats
    mass: Floats | None = None
    nearest: Integers | None = None


class Transport(ABC):
    """The transport of each of many rows to K centroids.

    Attributes
    ----------
    n_centroids : int
        K.
    """

    n_centroids: int

    @property
    def _goes_to_one_centroid(self) -> bool:
        """Whether all mass of a row goes to one centroid, which results name."""
        return False

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
        """
        rows = np.asarray(costs)
        if rows.ndim != 2 or rows.shape[1] != self.n_centroids:
            raise ValueError(f"costs must have {self.n_centroids} columns, got shape {rows.shape}")

        def solve_block(first: int, block: npt.NDArray[Any]) -> Transported:
            block_costs: Floats = block.astype(
                np.float64, order="C", casting="same_kind", copy=False
            )
            check_finite(block_costs, first)
            return self._solve_costs(block_costs, mass)

        return self._solve_blocks(rows, solve_block, mass, n_threads)

    def solve_points(
        self,
        points: npt.ArrayLike,
        centroids: EuclideanCosts | npt.ArrayLike,
        *,
        mass: bool = False,
        n_threads: int = 1,
    ) -> Transported:
        """Transport rows given by their coordinates, at Euclidean cost.

        Works in blocks of rows, so that large arrays are never copied or converted at once.

        Parameters
        ----------
        points : array of shape (n, D)
            Rows, of any real dtype and memory order.
        centroids : EuclideanCosts, or array of shape (K, D)
            Centroids, in the same order as the columns of costs.
        mass, n_threads
            As in `solve`.

        Returns
        -------
        Transported
        """
        costs = centroids if isinstance(centroids, EuclideanCosts) else EuclideanCosts(centroids)
        if costs.n_centroids != self.n_centroids:
            raise ValueError(f"{self.n_centroids} centroids are needed, got {costs.n_centroids}")
        rows = np.asarray(points)
        costs.check_points(rows)

        def solve_block(first: int, block: npt.NDArray[Any]) -> Transported:
            return self._solve_points(first, block, costs, mass)

        return self._solve_blocks(rows, solve_block, mass, n_threads)

    @abstractmethod
    def _solve_costs(self, costs: Floats, with_mass: bool) -> Transported:
        """Transport a block of rows with finite costs (n, K)."""

    @abstractmethod
    def _solve_points(
        self, first: int, points: npt.NDArray[Any], costs: EuclideanCosts, with_mass: bool
    ) -> Transported:
        """Transport a block of points, the first of which has the number `first`."""

    def _rows_at_once(self, n_columns: int) -> int:
        """Make what all blocks share; return the number of rows in a block."""
        return max(16, BLOCK_NUMBERS // max(n_columns, self.n_centroids))

    def _solve_blocks(
        self,
        rows: npt.NDArray[Any],
        solve_block: Callable[[int, npt.NDArray[Any]], Transported],
        with_mass: bool,
        n_threads: int,
    ) -> Transported:
        """Solve blocks of rows, in threads, and join the results."""
        n, n_columns = rows.shape
        step = self._rows_at_once(n_columns)
        total, own = np.empty(n), np.empty(n)
        mass = np.empty((n, self.n_centroids)) if with_mass else None
        nearest = np.empty(n, dtype=np.int64) if self._goes_to_one_centroid else None

        def work(start: int) -> None:
            block = slice(start, start + step)
            solved = solve_block(start, rows[block])
            total[block], own[block] = solved.total, solved.own
            if mass is not None and solved.mass is not None:
                mass[block] = solved.mass
            if nearest is not None and solved.nearest is not None:
                nearest[block] = solved.nearest

        starts = range(0, n, step)
        n_threads = min(n_threads, len(starts))
        if n_threads > 1:
            with ThreadPoolExecutor(n_threads) as pool:
                list(pool.map(work, starts))
        else:
            for start in starts:
                work(start)
        return Transported(total, own, mass, nearest)


def check_finite(costs: Floats, first: int) -> None:
    """Raise if a cost is not finite; `first` is the number of the first row."""
    finite = np.isfinite(costs)
    if not finite.all():
        row = first + int(np.argwhere(~finite)[0, 0])
        raise ValueError(
            f"row {row}: its cost to a centroid is not finite (NaN, infinity, or coordinates too "
            "large to be squared)"
        )
