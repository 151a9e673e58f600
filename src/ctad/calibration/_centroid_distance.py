"""CentroidDistance: a baseline, the distance to the nearest centroid."""

from __future__ import annotations

import numpy as np

from .._types import Floats, Rows
from .._validation import random_generator
from ..transport import EuclideanCosts
from ._base_calibrator import BaseCalibrator, check_count, limited_to_rows
from ._delta_parts import DeltaParts
from ._kmeans import find_centroids, leave_one_out_costs


class CentroidDistance(BaseCalibrator):
    """Add the distance to the nearest k-means centroid.

    Parameters
    ----------
    n_centroids : int, default=5
    weight : float, default=1.0
    score_scaling : {"none", "unit", "standard", "robust"}, default="none"
        As in `CTAD`.
    random_state : int, RandomState instance or None, default=None
        Seed of k-means.

    Attributes
    ----------
    centroids_ : ndarray of shape (K, D)

    Examples
    --------
    >>> from ctad.calibration import CentroidDistance
    >>> CentroidDistance(n_centroids=1).fit([[0.0], [2.0]]).delta([[1.0], [4.0]])
    array([0., 3.])
    """

    def __init__(
        self,
        n_centroids: int = 5,
        *,
        weight: float = 1.0,
        score_scaling: str = "none",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_centroids = n_centroids
        self.weight = weight
        self.score_scaling = score_scaling
        self.random_state = random_state

    def check_parameters(self) -> None:
        super().check_parameters()
        check_count("n_centroids", self.n_centroids)

    def _fit(self, rows: Floats) -> Floats:
        [k] = limited_to_rows(len(rows), n_centroids=self.n_centroids)
        self.centroids_, labels = find_centroids(rows, k, random_generator(self.random_state))
        _, without_row = leave_one_out_costs(rows, self.centroids_, np.ones(k), labels)
        return without_row

    def _rounding(self, rows: Floats) -> float:
        return float(10 * np.finfo(np.float64).eps * np.abs(rows).max())

    def _delta(self, rows: Rows) -> Floats:
        return self._nearest(rows)[0]

    def _nearest(self, rows: Rows) -> tuple[Floats, Floats]:
        """The distance to the nearest centroid, and that centroid."""
        distances, nearest = EuclideanCosts(self.centroids_).to_nearest(rows)
        return distances, self.centroids_[nearest]

    def reference_points(self) -> tuple[Floats, Floats]:
        return np.empty((0, self.n_features_in_)), self.centroids_

    def _delta_parts(self, rows: Rows) -> DeltaParts:
        delta, nearest = self._nearest(rows)
        columns = (rows - nearest) ** 2 / np.where(delta > 0, delta, 1.0)[:, np.newaxis]
        return DeltaParts.without_transport(delta, columns)
