"""CTAD: calibrate anomaly scores by optimal transport, as in the paper."""

from __future__ import annotations

import numpy as np

from .._progress import report_progress
from .._types import Floats, Rows
from .._validation import check_choice, random_generator
from ._base_calibrator import limited_to_rows
from ._column_scaling import FEATURE_SCALINGS
from ._delta_parts import DeltaParts
from ._draw import TARGETS, new_draw
from ._transport_calibrator import TransportCalibrator

SIGNALS = ("total", "own")


class CTAD(TransportCalibrator):
    r"""Calibrate the scores of any anomaly detector by optimal transport.

    Normal data is described twice: by M random training rows (P) and by K k-means
    centroids (Q). The row is added to P. The optimal-transport distance between P and Q then
    measures how badly it fits [1]_:

    .. math:: \Delta(x) = \mathrm{OT}\Bigl(\tfrac{1}{M+1}\bigl(\delta_x + \sum_i
        \delta_{x_i}\bigr),\; \sum_j b_j \delta_{C_j}\Bigr), \qquad
        s^*(x) = s(x) + \text{weight} \cdot \Delta(x).

    The defaults are Algorithm 1 of the paper. `RelaxedCTAD` improves more detectors on more data
    and is the default of `CalibratedDetector`.

    Parameters
    ----------
    n_centroids : int, default=5
        K.
    n_references : int, default=20
        M. Scoring is fastest if K divides M+1.
    target : {"uniform", "sizes", "free"}, default="uniform"
        The mass on the centroids: 1/K each (the paper); in proportion to the cluster sizes (rounded
        to multiples of 1/(M+1)); or free, so that each row goes to its nearest centroid.
    signal : {"total", "own"}, default="total"
        The value of the transport problem (the paper's equations), or the part of it that the row
        itself pays (the paper's tables).
    weight : float, default=1.0
        Weight of the term in the calibrated score.
    n_draws : int, default=1
        Draw references and centroids this many times and average the term.
    score_scaling : {"none", "unit", "standard", "robust"}, default="none"
        How scores and terms are scaled before they are added, by statistics of the training rows.
        "none": not at all; "unit": scores to [0, 1] by minimum and maximum; "standard": both by
        mean and standard deviation; "robust": both by median and interquartile range (if half of
        the rows are nearly equal, by the range of the middle 90 %). All but "none" need
        `fit(X, scores=...)`.
    feature_scaling : {None, "standard", "robust", "minmax"}, default=None
        Scale the columns, by training statistics, before distances are measured.
    n_jobs : int, default=None
        Threads for scoring; None is 1, -1 all processors. Results do not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of references and k-means.

    Attributes
    ----------
    centroids_ : ndarray of shape (K, D)
        Q, in the space the transport is computed in; of the first draw.
    references_ : ndarray of shape (M, D)
        P without the row, in the same space; of the first draw.
    n_centroids_, n_references_ : int
        K and M that are used. Both are at most the number of training rows.
    draws_ : list of Draw
        References, centroids and transport of every draw.
    signal_ : str
        The `signal` at the time of `fit`.
    training_delta_ : ndarray of shape (n,)
        The term of each training row; with the target "free", the term it would have if k-means had
        not used the row, like a new row. Not kept in model files.
    agreement_ : float, only if scores were given
        Spearman's correlation of score and term on the training rows. The closer to 1, the smaller
        the gain to expect: see `expected_gain` of `ctad.calibration`. NaN if all scores or all
        terms are equal. Not kept in model files.
    score_scaling_ : ScoreScaling or None
        Shift and scale of scores and terms; None if `fit` had no scores but needs them.
    n_features_in_ : int
    feature_names_in_ : ndarray of str, only if the training rows had named columns

    Notes
    -----
    With fewer distinct rows than K some centroids coincide, and `delta` of training rows is zero.

    References
    ----------
    .. [1] H. Ye, H. Zhao, W. Fan, X. Song, D. Guo, Y. Chang, H. Zha: Calibrating Tabular
       Anomaly Detection via Optimal Transport.

    Examples
    --------
    >>> import numpy as np
    >>> from ctad import CTAD
    >>> X_train = np.random.default_rng(0).normal(size=(200, 3))
    >>> X_new = [[0.0, 0.0, 0.0], [9.0, 9.0, 9.0]]
    >>> calibrator = CTAD(random_state=0).fit(X_train)
    >>> normal, far_away = calibrator.delta(X_new)
    >>> bool(far_away > normal)
    True
    >>> calibrator.calibrate([0.1, 0.2], X_new) - calibrator.delta(X_new)
    array([0.1, 0.2])
    """

    def __init__(
        self,
        n_centroids: int = 5,
        n_references: int = 20,
        *,
        target: str = "uniform",
        signal: str = "total",
        weight: float = 1.0,
        n_draws: int = 1,
        score_scaling: str = "none",
        feature_scaling: str | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_centroids = n_centroids
        self.n_references = n_references
        self.target = target
        self.signal = signal
        self.weight = weight
        self.n_draws = n_draws
        self.score_scaling = score_scaling
        self.feature_scaling = feature_scaling
        self.n_jobs = n_jobs
        self.random_state = random_state

    def check_parameters(self) -> None:
        super().check_parameters()
        check_choice("target", self.target, TARGETS)
        check_choice("signal", self.signal, SIGNALS)
        check_choice("feature_scaling", self.feature_scaling, FEATURE_SCALINGS)

    def _fit(self, rows: Floats) -> Floats:
        k, m = limited_to_rows(
            len(rows), n_centroids=self.n_centroids, n_references=self.n_references
        )
        random = random_generator(self.random_state)
        draws, extra = [], np.zeros(len(rows))
        for number in range(self.n_draws):
            report_progress("Finding centroids", number, self.n_draws)
            draw, more = new_draw(rows, k, m, self.target, self.feature_scaling, random)
            draws.append(draw)
            extra += more
        report_progress("Finding centroids", self.n_draws, self.n_draws)
        self.set_draws(draws, self.signal)
        return self._delta(rows) + extra / len(draws)

    def _delta(self, rows: Rows) -> Floats:
        return self._mean_term(self.draws_, rows)

    def _delta_parts(self, rows: Rows) -> DeltaParts:
        return self._mean_parts(self.draws_, rows)
