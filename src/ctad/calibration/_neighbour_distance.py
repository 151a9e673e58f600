"""NeighbourDistance: a baseline, the mean distance to the nearest training rows."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral, Real

import numpy as np
from sklearn.neighbors import NearestNeighbors

from .._types import Floats, Integers, Rows
from ..errors import InputError
from ._base_calibrator import BaseCalibrator, check_count, limited_to_rows
from ._delta_parts import DeltaParts

BLOCK_NUMBERS = 2**22  # coordinates of neighbours compared at a time


class NeighbourDistance(BaseCalibrator):
    """Add the mean distance to the nearest training rows.

    Parameters
    ----------
    n_neighbors : int or float, default=5
        A number of training rows, or a share of them in (0, 1).
    weight : float, default=1.0
    score_scaling : {"none", "unit", "standard", "robust"}, default="none"
        As in `CTAD`.

    Attributes
    ----------
    n_neighbors_ : int
        The number of neighbours in use.
    search_ : NearestNeighbors

    Examples
    --------
    >>> from ctad.calibration import NeighbourDistance
    >>> NeighbourDistance(n_neighbors=2).fit([[0.0], [2.0], [9.0]]).delta([[1.0], [4.0]])
    array([1., 3.])
    """

    def __init__(
        self, n_neighbors: float = 5, *, weight: float = 1.0, score_scaling: str = "none"
    ) -> None:
        self.n_neighbors = n_neighbors
        self.weight = weight
        self.score_scaling = score_scaling

    def check_parameters(self) -> None:
        super().check_parameters()
        if isinstance(self.n_neighbors, Real) and not isinstance(self.n_neighbors, Integral):
            if not 0 < self.n_neighbors < 1:
                raise InputError(
                    f"n_neighbors must be in (0, 1) as a share, not {self.n_neighbors}"
                )
        else:
            check_count("n_neighbors", self.n_neighbors)

    def _fit(self, rows: Floats) -> Floats:
        if isinstance(self.n_neighbors, Integral):
            [k] = limited_to_rows(len(rows) - 1, n_neighbors=int(self.n_neighbors))
        else:
            k = max(1, round(float(self.n_neighbors) * (len(rows) - 1)))
        self.n_neighbors_ = k
        # A tree: the arithmetic of a search by brute force depends on the batch.
        self.search_ = NearestNeighbors(n_neighbors=k, algorithm="kd_tree").fit(rows)
        parts = [
            # One more, because a training row is its own neighbour.
            distances[:, 1:].mean(axis=1)
            for _, distances, _ in self._neighbours(rows, k + 1)
        ]
        return np.concatenate(parts)

    def _rounding(self, rows: Floats) -> float:
        return float(10 * np.finfo(np.float64).eps * np.abs(rows).max())

    def _delta(self, rows: Rows) -> Floats:
        k = self.n_neighbors_
        parts = [distances.mean(axis=1) for _, distances, _ in self._neighbours(rows, k)]
        return np.concatenate(parts)

    def _neighbours(self, rows: Rows, k: int) -> Iterator[tuple[Floats, Floats, Integers]]:
        """Blocks of rows, with the distances and indices of their k nearest training rows."""
        step = max(1, BLOCK_NUMBERS // (k * rows.shape[1]))
        for start in range(0, len(rows), step):
            block = np.asarray(rows[start : start + step], dtype=np.float64)
            yield block, *self.search_.kneighbors(block, k)

    def _delta_parts(self, rows: Rows) -> DeltaParts:
        known, delta, columns = self.search_._fit_X, [], []
        for block, distances, nearest in self._neighbours(rows, self.n_neighbors_):
            squares = (block[:, np.newaxis] - known[nearest]) ** 2
            squares /= np.where(distances > 0, distances, 1.0)[:, :, np.newaxis]
            columns.append(squares.mean(axis=1))
            delta.append(distances.mean(axis=1))
        return DeltaParts.without_transport(np.concatenate(delta), np.concatenate(columns))
