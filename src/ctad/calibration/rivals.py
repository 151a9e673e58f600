"""The calibrations the paper compares with, behind the same interface as `CTAD`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.covariance import LedoitWolf

from .._input import Floats, Rows
from ._base import BaseCalibrator
from ._ctad import CTAD, is_auto
from ._parts import DeltaParts, without_transport
from ._saving import describe, restore

if TYPE_CHECKING:
    from ..modelfile import Reader, Writer


# What LedoitWolf learns, and the number of axes it has, each as long as there are columns.
COVARIANCE_ARRAYS = {"location_": 1, "covariance_": 2, "precision_": 2, "shrinkage_": 0}


class CentroidDistance(BaseCalibrator):
    """Add the distance to the nearest k-means centroid.

    Parameters
    ----------
    n_centroids : int or "many", default=5
    weight, n_draws, score_scaling, feature_scaling, n_jobs, random_state
        As in `CTAD`, but the paper's by default.

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
        n_draws: int = 1,
        score_scaling: str = "none",
        feature_scaling: str | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_centroids = n_centroids
        self.weight = weight
        self.n_draws = n_draws
        self.score_scaling = score_scaling
        self.feature_scaling = feature_scaling
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fit(self, rows: Floats) -> Floats:
        # Without a condition on the centroids' mass the row's own cost is its distance
        # to the nearest one, times its mass: one half beside a single reference.
        self._transport = CTAD.from_preset(
            "paper",
            n_centroids=self.n_centroids,
            n_references=1,
            target="free",
            signal="own",
            n_draws=self.n_draws,
            feature_scaling=self.feature_scaling,
            n_jobs=self.n_jobs,
            random_state=self.random_state,
        ).fit(rows)
        return 2.0 * self._transport.training_delta_

    def _state(self, writer: Writer) -> dict[str, Any]:
        return {"transport": describe(self._transport, writer)}

    def _set_state(self, state: dict[str, Any], reader: Reader) -> None:
        transport = restore(state["transport"], reader)
        if type(transport) is not CTAD or transport.n_features_in_ != self.n_features_in_:
            raise ValueError("no transport of these columns")
        self._transport = transport

    def _rounding(self, rows: Floats) -> float:
        return self._transport._rounding(rows)

    def _delta(self, rows: Rows) -> Floats:
        return 2.0 * self._transport.delta(rows)

    def described(self) -> tuple[Floats, Floats]:
        return self._transport.described()

    def _delta_parts(self, rows: Rows) -> DeltaParts:
        return self._transport.delta_parts(rows).times(2.0)


class MahalanobisDistance(BaseCalibrator):
    """Add the Mahalanobis distance to the training mean.

    The covariance is shrunk (Ledoit-Wolf), so it can be inverted also with more columns
    than rows.

    Parameters
    ----------
    weight, score_scaling
        As in `CTAD`, but the paper's by default.

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
            raise ValueError(f"all {len(rows)} training rows are equal: they have no covariance")
        self._covariance = LedoitWolf().fit(rows)
        return self._delta(rows)

    def _state(self, writer: Writer) -> dict[str, Any]:
        fitted = self._covariance
        return {name: writer.array(getattr(fitted, name)) for name in COVARIANCE_ARRAYS}

    def _set_state(self, state: dict[str, Any], reader: Reader) -> None:
        n = self.n_features_in_
        self._covariance = LedoitWolf()
        self._covariance.n_features_in_ = n
        for name, n_axes in COVARIANCE_ARRAYS.items():
            values = reader.floats(state[name], (n,) * n_axes)
            setattr(self._covariance, name, values if n_axes else float(values))

    def _delta(self, rows: Rows) -> Floats:
        squared: Floats = self._covariance.mahalanobis(rows)
        return np.sqrt(squared)

    def _delta_parts(self, rows: Rows) -> DeltaParts:
        # d = z' S z / d: a column's part is its own sum of products. Beside columns that it
        # usually goes with, a column may take away from the distance.
        delta = self._delta(rows)
        away = rows - self._covariance.location_
        columns = away * (away @ self._covariance.precision_)
        columns /= np.where(delta > 0, delta, 1.0)[:, np.newaxis]
        return without_transport(delta, columns)


class TransportOnly(CTAD):
    """The transport term alone: the detector's scores are checked, then ignored.

    Parameters are those of `CTAD`; the weight scales the result, and `score_scaling` "auto" is
    "none".

    Examples
    --------
    >>> from ctad.calibration import TransportOnly
    >>> only = TransportOnly(1, 1, target="uniform", weight=1.0, random_state=0)
    >>> only.fit([[1.0], [1.0]]).calibrate([0.3], [[4.0]])
    array([1.5])
    """

    def _score_scaling(self) -> str:
        return "none" if is_auto(self.score_scaling) else self.score_scaling

    def _parts_of(self, scores: Floats, delta: Floats) -> tuple[Floats, Floats]:
        of_scores, of_delta = super()._parts_of(scores, delta)
        return np.zeros_like(of_scores), of_delta
