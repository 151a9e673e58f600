"""RelaxedCTAD: the recommended calibration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._validation import check_choice
from ..errors import InputError
from ._base_calibrator import check_count, limited_to_rows
from ._draw import FEATURE_SCALINGS, DrawSettings
from ._transport_calibrator import TransportCalibrator

COLUMNS = ("all", "random")
COSTS = ("distance", "relative")

# At most one centroid per this many distinct rows: with more, many centroids are training rows.
MIN_ROWS_PER_CENTROID = 3


class RelaxedCTAD(TransportCalibrator):
    r"""Calibrate the scores of any anomaly detector by relaxed optimal transport.

    The method of `CTAD` with many centroids and without a condition on their mass. Each row then
    goes to its nearest centroid, and the term is its distance to that centroid, as a multiple of
    the usual distance there:

    .. math:: \Delta(x) = \tfrac{1}{M+1} \min_j \|x - C_j\| / r_j .

    It is the mean over several draws with different scalings and random subsets of the columns,
    because no single choice is right for every table. Score and term are brought to a common scale
    by robust statistics of the training rows.

    Parameters
    ----------
    n_centroids : int, default=200
        K. At most a third of the distinct rows that k-means uses.
    n_references : int, default=20
        M. Reference rows, which explanations compare a row with.
    weight : float, default=2.0
        Weight of the term in the calibrated score.
    n_draws : int, default=4
        Draw centroids this many times and average the term.
    score_scaling : {"robust", "standard", "unit", "none"}, default="robust"
        As in `CTAD`. All but "none" need `fit(X, scores=...)`.
    feature_scaling : {None, "standard", "robust", "minmax"} or a tuple, default=(None, "minmax")
        Scale the columns, by training statistics, before distances are measured. Draws alternate
        between several scalings.
    columns : {"random", "all"}, default="random"
        The columns that a draw uses. "random": the first draw uses all, each other draw a random
        subset of more than half of them.
    cost : {"relative", "distance"}, default="relative"
        The cost of reaching a centroid: the distance as a multiple of the usual distance of the
        rows at this centroid, or the distance itself. Distances in different scalings cannot be
        averaged, so "distance" needs a single `feature_scaling`.
    rows_per_centroid : int or None, default=64
        k-means uses a random sample of at most this many rows per centroid. None: all rows.
    n_jobs : int, default=None
        Threads for scoring; None is 1, -1 all processors. Results do not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of references, columns and k-means.

    Attributes
    ----------
    centroids_, references_, n_centroids_, n_references_, draws_, signal_
        As in `CTAD`.
    training_delta_, agreement_, score_scaling_, n_features_in_, feature_names_in_
        As in `CTAD`.

    Examples
    --------
    >>> import numpy as np
    >>> from ctad import RelaxedCTAD
    >>> X_train = np.random.default_rng(0).normal(size=(200, 3))
    >>> X_new = [[0.0, 0.0, 0.0], [9.0, 9.0, 9.0]]
    >>> calibrator = RelaxedCTAD(random_state=0).fit(X_train, scores=X_train[:, 0])
    >>> calibrator.n_centroids_
    66
    >>> normal, far_away = calibrator.calibrate([0.1, 0.2], X_new)
    >>> bool(far_away > normal)
    True
    """

    # Not a parameter: with a free target the cost of the references is the same for all rows.
    signal = "own"

    def __init__(
        self,
        n_centroids: int = 200,
        n_references: int = 20,
        *,
        weight: float = 2.0,
        n_draws: int = 4,
        score_scaling: str = "robust",
        feature_scaling: str | Sequence[str | None] | None = (None, "minmax"),
        columns: str = "random",
        cost: str = "relative",
        rows_per_centroid: int | None = 64,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_centroids = n_centroids
        self.n_references = n_references
        self.weight = weight
        self.n_draws = n_draws
        self.score_scaling = score_scaling
        self.feature_scaling = feature_scaling
        self.columns = columns
        self.cost = cost
        self.rows_per_centroid = rows_per_centroid
        self.n_jobs = n_jobs
        self.random_state = random_state

    def check_parameters(self) -> None:
        super().check_parameters()
        if self.rows_per_centroid is not None:
            check_count("rows_per_centroid", self.rows_per_centroid)
        check_choice("columns", self.columns, COLUMNS)
        check_choice("cost", self.cost, COSTS)
        scalings = _as_tuple(self.feature_scaling)
        if not scalings:
            raise InputError("feature_scaling is empty: name at least one scaling")
        for scaling in scalings:
            check_choice("feature_scaling", scaling, FEATURE_SCALINGS)
        if self.cost == "distance" and len(set(scalings)) > 1:
            raise InputError(
                f"cost='distance' needs a single feature_scaling, not {self.feature_scaling!r}: "
                "distances in different scalings cannot be averaged"
            )

    def _draw_settings(self, n_rows: int) -> list[DrawSettings]:
        [m] = limited_to_rows(n_rows, n_references=self.n_references)
        scalings = _as_tuple(self.feature_scaling)
        most = None
        if self.rows_per_centroid is not None:
            most = max(2, self.rows_per_centroid * self.n_centroids)
        return [
            DrawSettings(
                self.n_centroids,
                m,
                target="free",
                feature_scaling=scalings[number % len(scalings)],
                relative_costs=self.cost == "relative",
                random_columns=self.columns == "random" and number > 0,
                max_kmeans_rows=most,
                min_rows_per_centroid=MIN_ROWS_PER_CENTROID,
            )
            for number in range(self.n_draws)
        ]


def _as_tuple(scaling: Any) -> tuple[str | None, ...]:
    return tuple(scaling) if isinstance(scaling, list | tuple) else (scaling,)
