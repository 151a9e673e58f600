"""CTAD: calibrate anomaly scores by optimal transport."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from joblib import effective_n_jobs
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import MinMaxScaler, RobustScaler, StandardScaler
from sklearn.utils import check_random_state, check_scalar
from threadpoolctl import threadpool_limits

from .._input import Floats, Rows, one_of
from .._progress import progress
from .._warning import warn_user
from ..transport import RowTransport, euclidean_costs
from ._base import BaseCalibrator
from ._presets import PRESETS

if TYPE_CHECKING:
    from ..modelfile import Reader, Writer

TARGETS = ("uniform", "sizes", "free")
SIGNALS = ("total", "own")
FEATURE_SCALINGS = (None, "standard", "robust", "minmax")

# Rows scored at a time: bounds the memory for what is not returned.
CHUNK_ROWS = 2**20

# A model file may not ask for more memory than about this many numbers.
MAX_SAVED_COSTS = 2**28


class Draw(NamedTuple):
    """One description of normal data: P without the row, Q, and their transport."""

    references: Floats
    centroids: Floats
    transport: RowTransport
    target: str | npt.NDArray[np.int64]  # mass on the centroids, as `transport` was given it


class CTAD(BaseCalibrator):
    r"""Calibrate the scores of any anomaly detector by optimal transport.

    Normal data is described twice: by M random training rows (P) and by K k-means
    centroids (Q). With the row in question put into P, the optimal-transport distance
    between P and Q says how badly the row fits [1]_:

    .. math:: \Delta(x) = \mathrm{OT}\Bigl(\tfrac{1}{M+1}\bigl(\delta_x + \sum_i
        \delta_{x_i}\bigr),\; \sum_j b_j \delta_{C_j}\Bigr), \qquad
        s^*(x) = s(x) + \text{weight} \cdot \Delta(x).

    The defaults are the paper's settings. `CTAD.from_preset()` has the recommended ones.

    Parameters
    ----------
    n_centroids : int or "auto", default=5
        K. "auto": 100, but at most a third of the distinct training rows.
    n_references : int, default=20
        M. If K divides M+1 a row needs a single step and is placed fastest.
    target : {"uniform", "sizes", "free"}, default="uniform"
        The mass on the centroids: 1/K each (the paper), in proportion to the cluster
        sizes (rounded to multiples of 1/(M+1)), or free: each row goes to its nearest
        centroid.
    signal : {"total", "own"}, default="total"
        The value of the transport problem (the paper's equations) or what the row
        itself pays in it (the paper's tables).
    weight : float, default=1.0
        Weight of the term in the calibrated score.
    n_draws : int, default=1
        Draw references and centroids this many times and average the term.
    score_scaling : {"none", "unit", "standard", "robust"}, default="none"
        How score and term meet, by statistics of the training rows only: the plain sum;
        scores to [0, 1] by minimum and maximum, plus the plain term; both by mean and
        standard deviation; both by median and interquartile range. All but "none" need
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
    draws_ : list of Draw
        References, centroids and transport of every draw.
    n_features_in_ : int
    feature_names_in_ : ndarray of str, only if the training rows had named columns

    Notes
    -----
    With fewer training rows than K or M these are reduced, with one warning. With fewer
    distinct rows than K some centroids coincide, and the term of training rows is zero.

    References
    ----------
    .. [1] H. Ye, H. Zhao, W. Fan, X. Song, D. Guo, Y. Chang, H. Zha: Calibrating Tabular
       Anomaly Detection via Optimal Transport.

    Examples
    --------
    >>> import numpy as np
    >>> from ctad import CTAD
    >>> X_train = np.random.default_rng(0).normal(size=(200, 3))
    >>> calibrator = CTAD(random_state=0).fit(X_train)
    >>> normal, far_away = calibrator.delta([[0.0, 0.0, 0.0], [9.0, 9.0, 9.0]])
    >>> bool(far_away > normal)
    True
    >>> calibrator.calibrate([0.1, 0.2], [[0.0, 0.0, 0.0], [9.0, 9.0, 9.0]]).shape
    (2,)
    """

    def __init__(
        self,
        n_centroids: int | Literal["auto"] = 5,
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

    @classmethod
    def from_preset(cls, name: str = "recommended", **changes: Any) -> Self:
        """A calibrator with named settings.

        Parameters
        ----------
        name : {"recommended", "paper"}, default="recommended"
            "paper": Algorithm 1 to the letter (K=5, M=20, plain sum).
        **changes
            Parameters to set differently, such as `random_state`.

        Examples
        --------
        >>> CTAD.from_preset("paper", random_state=0)
        CTAD(random_state=0)
        """
        one_of("preset", name, PRESETS)
        return cls(**{**PRESETS[name], **changes})

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not (isinstance(self.n_centroids, str) and self.n_centroids == "auto"):
            check_scalar(self.n_centroids, "n_centroids", Integral, min_val=1)
        check_scalar(self.n_references, "n_references", Integral, min_val=1)
        check_scalar(self.n_draws, "n_draws", Integral, min_val=1)
        if self.n_jobs is not None:
            check_scalar(self.n_jobs, "n_jobs", Integral)
        effective_n_jobs(self.n_jobs)  # refuses 0
        one_of("target", self.target, TARGETS)
        one_of("signal", self.signal, SIGNALS)
        one_of("feature_scaling", self.feature_scaling, FEATURE_SCALINGS)

    def _fit(self, rows: Floats) -> None:
        self._shift, self._scale = _feature_location(self.feature_scaling, rows)
        rows = (rows - self._shift) / self._scale
        k, m = self._sizes_for(rows)
        random = check_random_state(self.random_state)
        self._signal = self.signal
        self.draws_ = []
        for number in range(self.n_draws):
            progress("Finding centroids", number, self.n_draws)
            self.draws_.append(self._draw(rows, k, m, random))
        progress("Finding centroids", self.n_draws, self.n_draws)
        self.centroids_ = self.draws_[0].centroids
        self.references_ = self.draws_[0].references

    def _sizes_for(self, rows: Floats) -> tuple[int, int]:
        """K and M, reduced to what the rows allow."""
        n = len(rows)
        if self.n_centroids == "auto":
            wanted = min(100, max(1, len(np.unique(rows, axis=0)) // 3))
        else:
            wanted = int(self.n_centroids)
        k, m = min(wanted, n), min(int(self.n_references), n)
        reduced = [
            f"{name}={now} instead of {before}"
            for name, now, before in (
                ("n_centroids", k, wanted),
                ("n_references", m, self.n_references),
            )
            if now < before
        ]
        if reduced:
            warn_user(f"only {n} training rows: using {' and '.join(reduced)}.")
        return k, m

    def _draw(self, rows: Floats, k: int, m: int, random: np.random.RandomState) -> Draw:
        references = rows[random.choice(len(rows), m, replace=False)]
        kmeans = KMeans(k, n_init="auto", random_state=random.randint(2**31 - 1))
        # One thread: k-means adds up its centroids in the order its threads finish.
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct rows than k
            labels = kmeans.fit_predict(rows)
        centroids = np.ascontiguousarray(kmeans.cluster_centers_, dtype=np.float64)
        target: Any = self.target
        if target == "sizes":
            target = _in_proportion(np.bincount(labels, minlength=k), m + 1)
        return _draw_of(references, centroids, target)

    def _state(self, writer: Writer) -> dict[str, Any]:
        return {
            "shift": writer.array(self._shift),
            "scale": writer.array(self._scale),
            "signal": self._signal,
            "draws": [
                {
                    "references": writer.array(draw.references),
                    "centroids": writer.array(draw.centroids),
                    "target": (
                        draw.target
                        if isinstance(draw.target, str)
                        else {"array": writer.array(draw.target)}
                    ),
                }
                for draw in self.draws_
            ],
        }

    def _set_state(self, state: dict[str, Any], reader: Reader) -> None:
        self._shift = self._saved_location(state["shift"], reader)
        self._scale = self._saved_location(state["scale"], reader)
        if not np.all(self._scale):
            raise ValueError("columns are divided by zero")
        one_of("signal", state["signal"], SIGNALS)
        self._signal = state["signal"]
        draws = state["draws"]
        self.draws_ = [self._saved_draw(draw, reader, len(draws)) for draw in draws]
        self.centroids_ = self.draws_[0].centroids
        self.references_ = self.draws_[0].references

    def _saved_location(self, name: Any, reader: Reader) -> float | Floats:
        """A shift or scale: one number, or one per column."""
        if reader.array(name).ndim == 0:
            return float(reader.floats(name, ()))
        return reader.floats(name, (self.n_features_in_,))

    def _saved_draw(self, state: dict[str, Any], reader: Reader, n_draws: int) -> Draw:
        references = reader.floats(state["references"], (None, self.n_features_in_))
        centroids = reader.floats(state["centroids"], (None, self.n_features_in_))
        k, m = len(centroids), len(references)
        if n_draws * k * max(k, m) > MAX_SAVED_COSTS:
            raise ValueError(f"{n_draws} times {m} references and {k} centroids are too many")
        target: Any = state["target"]
        if isinstance(target, dict):
            target = reader.array(target["array"])
            # A sum may overflow: no centroid takes more than there is.
            if target.dtype != np.int64 or target.min() < 0 or target.max() > m + 1:
                raise ValueError("centroids with a mass that cannot be")
        return _draw_of(references, centroids, target)

    def _rounding(self, rows: Floats) -> float:
        largest = np.abs((rows - self._shift) / self._scale).max()
        return float(10 * np.finfo(np.float64).eps * largest)

    def _delta(self, rows: Rows) -> Floats:
        n_threads = effective_n_jobs(self.n_jobs)
        delta = np.zeros(len(rows))
        for start in range(0, len(rows), CHUNK_ROWS):
            chunk = slice(start, start + CHUNK_ROWS)
            for draw in self.draws_:
                transported = draw.transport.solve_points(
                    rows[chunk],
                    draw.centroids,
                    shift=self._shift,
                    scale=self._scale,
                    n_threads=n_threads,
                )
                delta[chunk] += transported.total if self._signal == "total" else transported.own
        delta /= len(self.draws_)
        return delta


def _draw_of(references: Floats, centroids: Floats, target: Any) -> Draw:
    transport = RowTransport(euclidean_costs(references, centroids), target)
    return Draw(references, centroids, transport, target)


def _feature_location(scaling: str | None, rows: Floats) -> tuple[float | Floats, float | Floats]:
    """What to subtract from and divide each column by; constant columns by 1."""
    if scaling is None:
        return 0.0, 1.0
    if scaling == "minmax":
        scaler = MinMaxScaler().fit(rows)
        return scaler.data_min_, 1.0 / scaler.scale_
    if scaling == "robust":
        scaler = RobustScaler().fit(rows)
        return scaler.center_, scaler.scale_
    scaler = StandardScaler().fit(rows)
    return scaler.mean_, scaler.scale_


def _in_proportion(sizes: npt.NDArray[np.int64], total: int) -> npt.NDArray[np.int64]:
    """Whole numbers in proportion to `sizes` that sum to `total` (largest remainders)."""
    whole, remainder = np.divmod(sizes * total, sizes.sum())
    most_cut = np.argsort(-remainder, kind="stable")
    whole[most_cut[: total - whole.sum()]] += 1
    return whole
