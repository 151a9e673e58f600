"""The cost of each centroid to rows: Euclidean distances in a space of their own."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ._distances import (
    Floats,
    Screen,
    add_shares,
    fill_costs,
    fill_nearest,
    fill_nearest_screened,
    fill_scaled,
    new_screen,
)

Integers = npt.NDArray[np.int64]

# From this many centroids on, ruling most of them out first is faster than measuring all.
SCREEN_FROM = 16


class EuclideanCosts:
    r"""Costs of rows at fixed centroids,

    .. math:: c_j(x) = \|z - C_j\| / r_j, \quad z = (x - \text{shift}) / \text{scale} .

    Parameters
    ----------
    centroids : array of shape (K, D)
    radius : array of shape (K,), optional
        The r_j that distances are divided by. Default: 1.
    shift, scale : float or array of shape (D,)
    bound : float, default=inf
        If finite, :math:`z / \sqrt{1 + (z / \text{bound})^2}` replaces z: no value is beyond the
        bound.

    Examples
    --------
    >>> import numpy as np
    >>> costs = EuclideanCosts(np.array([[0.0], [4.0]]), radius=[1.0, 2.0])
    >>> costs.to_all(np.array([[1.0], [4.0]]))
    array([[1. , 1.5],
           [4. , 0. ]])
    >>> costs.to_nearest(np.array([[1.0], [4.0]]))
    (array([1., 0.]), array([0, 1]))
    """

    def __init__(
        self,
        centroids: npt.ArrayLike,
        *,
        radius: npt.ArrayLike | None = None,
        shift: float | Floats = 0.0,
        scale: float | Floats = 1.0,
        bound: float = np.inf,
    ) -> None:
        self.centroids: Floats = np.array(centroids, dtype=np.float64, order="C")
        if self.centroids.ndim != 2:
            raise ValueError(f"centroids must be K x D, got shape {self.centroids.shape}")
        self.n_centroids, self.n_features = k, d = self.centroids.shape
        self.radius = np.ones(k) if radius is None else np.array(radius, dtype=np.float64)
        if self.radius.shape != (k,) or not ((self.radius > 0) & np.isfinite(self.radius)).all():
            raise ValueError(f"radius must be {k} finite numbers > 0")
        self.shift, self.scale = (
            np.broadcast_to(value, d).astype(np.float64) for value in (shift, scale)
        )
        if not bound > 0:
            raise ValueError(f"bound must be > 0, not {bound}")
        self.bound = float(bound)
        self._scales = bool(self.shift.any() or (self.scale != 1).any() or bound < np.inf)

    def check_points(self, points: npt.NDArray[Any]) -> None:
        """Raise unless the points have the columns of the centroids."""
        if points.ndim != 2 or points.shape[1] != self.n_features:
            raise ValueError(
                f"points must have {self.n_features} columns, got shape {points.shape}"
            )

    def to_all(self, points: npt.NDArray[Any]) -> Floats:
        """The costs (n, K) of all centroids."""
        costs = np.empty((len(points), self.n_centroids))
        fill_costs(self.transformed(points), self.centroids, self.radius, costs)
        return costs

    def to_nearest(self, points: npt.NDArray[Any]) -> tuple[Floats, Integers]:
        """The least cost (n,) of each point, and the first centroid (n,) that has it."""
        costs, nearest = np.empty(len(points)), np.empty(len(points), dtype=np.int64)
        rows = self.transformed(points)
        if self.n_centroids < SCREEN_FROM:
            fill_nearest(rows, self.centroids, self.radius, costs, nearest)
        else:
            fill_nearest_screened(rows, self.centroids, self.radius, self._screen, costs, nearest)
        return costs, nearest

    def add_shares(
        self,
        points: npt.NDArray[Any],
        point: Integers,
        centroid: Integers,
        amounts: Floats,
        shares: Floats,
    ) -> None:
        """Divide amounts among the columns, and add the parts to `shares`.

        An amount belongs to a point and a centroid. Each column gets its share of the squared
        distance between the two; nothing is added if the distance is zero.

        Parameters
        ----------
        points : array of shape (n, D)
        point, centroid : array of int of shape (m,)
            The index of the point and of the centroid of each amount.
        amounts : array of shape (m,)
        shares : array of shape (n, D)

        Examples
        --------
        >>> import numpy as np
        >>> first, shares = np.array([0]), np.zeros((1, 2))
        >>> costs = EuclideanCosts([[0.0, 0.0]])
        >>> costs.add_shares(np.array([[3.0, 4.0]]), first, first, np.ones(1), shares)
        >>> shares
        array([[0.36, 0.64]])
        """
        rows = self.transformed(points)
        add_shares(rows, self.centroids, point, centroid, amounts, shares)

    @cached_property
    def _screen(self) -> Screen:
        return new_screen(self.centroids, self.radius)

    def transformed(self, points: npt.NDArray[Any]) -> Floats:
        """The points in the space of the centroids, C-contiguous."""
        rows: Floats = points.astype(np.float64, order="C", casting="same_kind", copy=False)
        if not self._scales:
            return rows
        transformed = np.empty(rows.shape)
        fill_scaled(rows, self.shift, self.scale, self.bound, transformed)
        return transformed
