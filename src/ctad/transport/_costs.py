"""What it costs rows to reach centroids: Euclidean distances in a space of their own."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ._distances import Floats, Screen, fill_costs, fill_least_costs, fill_scaled, screen_of

Integers = npt.NDArray[np.int64]


class EuclideanCosts:
    r"""Costs of rows at fixed centroids,

    .. math:: c_j(x) = \|(x_{\text{columns}} - \text{shift}) / \text{scale} - C_j\| / r_j .

    Parameters
    ----------
    centroids : array of shape (K, d)
    radius : array of shape (K,), optional
        The r_j that distances are divided by. Default: 1.
    columns : integers of shape (d,), optional
        The columns of the rows that are used. Default: all.
    shift, scale : float or array of shape (d,)

    Examples
    --------
    >>> import numpy as np
    >>> costs = EuclideanCosts(np.array([[0.0], [4.0]]), radius=[1.0, 2.0])
    >>> costs.n_centroids, costs.n_features
    (2, 1)
    """

    def __init__(
        self,
        centroids: npt.ArrayLike,
        *,
        radius: npt.ArrayLike | None = None,
        columns: npt.ArrayLike | None = None,
        shift: float | Floats = 0.0,
        scale: float | Floats = 1.0,
    ) -> None:
        self.centroids: Floats = np.array(centroids, dtype=np.float64, order="C")
        if self.centroids.ndim != 2:
            raise ValueError(f"centroids must be K x d, got shape {self.centroids.shape}")
        self.n_centroids, self.n_features = self.centroids.shape
        k, d = self.centroids.shape
        self.radius = np.ones(k) if radius is None else np.array(radius, dtype=np.float64)
        if self.radius.shape != (k,) or not ((self.radius > 0) & np.isfinite(self.radius)).all():
            raise ValueError(f"radius must be {k} finite numbers > 0")
        self.columns: Integers | None = None
        if columns is not None:
            self.columns = np.array(columns, dtype=np.int64)
            if self.columns.shape != (d,):
                raise ValueError(f"columns must be {d} integers")
        self.shift, self.scale = (
            np.broadcast_to(value, d).astype(np.float64) for value in (shift, scale)
        )
        self._scales = bool(self.shift.any() or (self.scale != 1.0).any())

    def check_points(self, points: npt.NDArray[Any]) -> None:
        """Raise unless the points have the columns that are used."""
        is_table = points.ndim == 2
        if self.columns is None:
            if not is_table or points.shape[1] != self.n_features:
                raise ValueError(
                    f"points must have {self.n_features} columns, got shape {points.shape}"
                )
        elif not is_table or not all(0 <= column < points.shape[1] for column in self.columns):
            raise ValueError(f"column index out of range for points of shape {points.shape}")

    def fill_all(
        self, block: npt.NDArray[Any], buffer: Floats, costs: Floats, _nearest: Integers
    ) -> None:
        """Fill `costs` (n, K); `buffer` (n, d) is scratch memory."""
        fill_costs(self._transformed(block, buffer), self.centroids, self.radius, costs)

    def fill_all_and_nearest(
        self, block: npt.NDArray[Any], buffer: Floats, costs: Floats, nearest: Integers
    ) -> None:
        """Fill `costs` (n, K), and `nearest` (n,) with the first of the cheapest centroids."""
        self.fill_all(block, buffer, costs, nearest)
        costs.argmin(axis=1, out=nearest)

    def fill_least(
        self, block: npt.NDArray[Any], buffer: Floats, costs: Floats, nearest: Integers
    ) -> None:
        """Fill `costs` (n, 1) with the least costs, and `nearest` with their centroids."""
        rows = self._transformed(block, buffer)
        fill_least_costs(rows, self.centroids, self.radius, self._screen, costs[:, 0], nearest)

    @cached_property
    def _screen(self) -> Screen:
        return screen_of(self.centroids, self.radius)

    def _transformed(self, block: npt.NDArray[Any], buffer: Floats) -> Floats:
        """The rows in the space of the centroids, C-contiguous."""
        rows: Floats = block.astype(np.float64, order="C", casting="same_kind", copy=False)
        width = rows.shape[1]
        columns = self.columns
        if columns is not None and len(columns) == width and (columns == np.arange(width)).all():
            columns = None  # all of them, in order
        if columns is None and not self._scales:
            return rows
        used = np.arange(width) if columns is None else columns
        fill_scaled(rows, used, self.shift, self.scale, buffer)
        return buffer
