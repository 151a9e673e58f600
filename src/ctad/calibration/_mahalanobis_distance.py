"""MahalanobisDistance: a baseline, the distance to the mean of the training rows."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.covariance import LedoitWolf

from .._types import Floats, Rows
from ..errors import InputError
from ._base_calibrator import BaseCalibrator
from ._delta_parts import DeltaParts


class MahalanobisDistance(BaseCalibrator):
    """Add the Mahalanobis distance to the training mean.

    The covariance is shrunk (Ledoit-Wolf), so that it can be inverted even with more columns than
    rows.

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
        # d = z' S z / d with the precision S. The part of column j is z_j (S z)_j / d: negative for
        # a column that makes an unusual value of a correlated column less surprising.
        delta = self._delta(rows)
        away = rows - self.location_
        columns = away * (away @ self.precision_)
        columns /= np.where(delta > 0, delta, 1.0)[:, np.newaxis]
        return DeltaParts.without_transport(delta, columns)
