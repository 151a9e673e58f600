"""The calibrations that the paper compares with, behind the same interface as `CTAD`."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.covariance import LedoitWolf
from sklearn.utils import check_random_state, check_scalar

from .._types import Floats, Rows
from ..errors import InputError
from ..transport import RowTransport
from ._base import BaseCalibrator
from ._contributions import DeltaParts, without_transport
from ._ctad import CTAD
from ._kmeans import find_centroids, leave_one_out_costs
from ._transport_calibrator import reduced


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
        check_scalar(self.n_centroids, "n_centroids", Integral, min_val=1)

    def _fit(self, rows: Floats) -> Floats:
        [k] = reduced(len(rows), n_centroids=self.n_centroids)
        self.centroids_, labels = find_centroids(rows, k, check_random_state(self.random_state))
        _, without_row = leave_one_out_costs(rows, self.centroids_, np.ones(k), labels)
        return without_row

    def _rounding(self, rows: Floats) -> float:
        return float(10 * np.finfo(np.float64).eps * np.abs(rows).max())

    def _delta(self, rows: Rows) -> Floats:
        return self._nearest(rows)[0]

    def _nearest(self, rows: Rows) -> tuple[Floats, Floats]:
        """The distance to the nearest centroid, and that centroid."""
        # The transport of a row alone, without reference rows that pay anything.
        transport = RowTransport(np.zeros((1, len(self.centroids_))), "free")
        found = transport.solve_points(rows, self.centroids_)
        assert found.nearest is not None
        return 2.0 * found.own, self.centroids_[found.nearest]

    def reference_points(self) -> tuple[Floats, Floats]:
        return np.empty((0, self.n_features_in_)), self.centroids_

    def _delta_parts(self, rows: Rows) -> DeltaParts:
        delta, nearest = self._nearest(rows)
        columns = (rows - nearest) ** 2 / np.where(delta > 0, delta, 1.0)[:, np.newaxis]
        return without_transport(delta, columns)


class MahalanobisDistance(BaseCalibrator):
    """Add the Mahalanobis distance to the training mean.

    The covariance is shrunk (Ledoit-Wolf), so it can be inverted also with more columns
    than rows.

    Parameters
    ----------
    weight : float, default=1.0
    score_scaling : {"none", "unit", "standard", "robust"}, default="none"
        As in `CTAD`.

    Attributes
    ----------
    location_ : ndarray of shape (D,)
        The mean of the training rows.
    precision_ : ndarray of shape (D, D)
        The inverse of their shrunk covariance.

    Examples
    --------
    >>> from ctad.calibration import MahalanobisDistance
    >>> MahalanobisDistance().fit([[0.0], [2.0]]).delta([[1.0], [4.0]])
    array([0., 3.])
    """

    def __init__(self, *, weight: float = 1.0, score_scaling: str = "none") -> None:
        self.weight = weight
        self.score_scaling = score_scaling

    def _fit(self, rows: Floats) -> Floats:
        if (rows == rows[0]).all():
            raise InputError(f"all {len(rows)} training rows are equal: they have no covariance")
        covariance = LedoitWolf().fit(rows)
        self.location_, self.precision_ = covariance.location_, covariance.precision_
        return self._delta(rows)

    def _delta(self, rows: Rows) -> Floats:
        distances: Floats = cdist(
            rows, self.location_[np.newaxis], "mahalanobis", VI=self.precision_
        )
        return distances[:, 0]

    def _delta_parts(self, rows: Rows) -> DeltaParts:
        # d = z' S z / d, and a column's part is its own sum of products. It is negative for a
        # column that makes an unusual value of a correlated one less surprising.
        delta = self._delta(rows)
        away = rows - self.location_
        columns = away * (away @ self.precision_)
        columns /= np.where(delta > 0, delta, 1.0)[:, np.newaxis]
        return without_transport(delta, columns)


class TransportOnly(BaseCalibrator):
    """The transport term of `CTAD` alone; the detector's scores are checked, then ignored.

    Parameters
    ----------
    n_centroids, n_references, target, signal, n_jobs, random_state
        As in `CTAD`.

    Attributes
    ----------
    transport_ : CTAD
        The fitted transport.

    Examples
    --------
    >>> from ctad.calibration import TransportOnly
    >>> only = TransportOnly(1, 1, random_state=0)
    >>> only.fit([[1.0], [1.0]]).calibrate([0.3], [[4.0]])
    array([1.5])
    """

    # The result is the unscaled term.
    weight = 1.0
    score_scaling = "none"

    def __init__(
        self,
        n_centroids: int = 5,
        n_references: int = 20,
        *,
        target: str = "uniform",
        signal: str = "total",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_centroids = n_centroids
        self.n_references = n_references
        self.target = target
        self.signal = signal
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fit(self, rows: Floats) -> Floats:
        self.transport_ = CTAD(**self.get_params(deep=False)).fit(rows)
        return self.transport_.training_delta_

    def _delta(self, rows: Rows) -> Floats:
        return self.transport_.delta(rows)

    def contributions(self, scores: object, delta: object) -> tuple[Floats, Floats]:
        of_scores, of_delta = super().contributions(scores, delta)
        return np.zeros_like(of_scores), of_delta

    def reference_points(self) -> tuple[Floats, Floats]:
        return self.transport_.reference_points()

    def _delta_parts(self, rows: Rows) -> DeltaParts:
        return self.transport_.delta_parts(rows)
