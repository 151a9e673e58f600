"""TransportOnly: a baseline, the term of CTAD without the detector's score."""

from __future__ import annotations

import numpy as np

from .._types import Floats, Rows
from ._base_calibrator import BaseCalibrator
from ._ctad import CTAD
from ._delta_parts import DeltaParts


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

    # Not parameters: the calibrated score is the unscaled term.
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
