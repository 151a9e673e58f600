"""CTAD: calibrate anomaly scores by optimal transport."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils import check_random_state, check_scalar

from .._input import Floats, Rows, one_of
from .._progress import progress
from .._warning import warn_user
from ._base import BaseCalibrator
from ._draw import COLUMNS, COSTS, Settings, check_feature_scaling, new_draw, saved_draw
from ._parts import DeltaParts, Moves
from ._presets import PRESETS

if TYPE_CHECKING:
    from ..modelfile import Reader, Writer

TARGETS = ("uniform", "sizes", "free")
SIGNALS = ("total", "own")
# Whole numbers, and what may stand in their place.
COUNTS: dict[str, tuple[str | None, ...]] = {
    "n_centroids": ("many", "auto"),
    "n_references": (),
    "n_draws": ("auto",),
    "rows_per_centroid": (None, "auto"),
}

# Rows scored at a time: bounds the memory for what is not returned.
CHUNK_ROWS = 2**20


def is_auto(value: Any) -> bool:
    """Whether a parameter is left to us."""
    return isinstance(value, str) and value == "auto"


class CTAD(BaseCalibrator):
    r"""Calibrate the scores of any anomaly detector by optimal transport.

    Normal data is described twice: by M random training rows (P) and by K k-means
    centroids (Q). With the row in question put into P, the optimal-transport distance
    between P and Q says how badly the row fits [1]_:

    .. math:: \Delta(x) = \mathrm{OT}\Bigl(\tfrac{1}{M+1}\bigl(\delta_x + \sum_i
        \delta_{x_i}\bigr),\; \sum_j b_j \delta_{C_j}\Bigr), \qquad
        s^*(x) = s(x) + \text{weight} \cdot \Delta(x).

    The defaults are the recommended settings: a free target, the row's own part of the value, on a
    common scale with the score. "auto" follows the target: with "uniform" or "sizes", transport and
    sum are as in the paper.

    Parameters
    ----------
    n_centroids : int, "many" or "auto", default="auto"
        K. "many": 200, but at most a third of the distinct rows that k-means sees. "auto": "many"
        with a free target, otherwise 5.
    n_references : int, default=20
        M. If K divides M+1 a row needs a single step and is placed fastest.
    target : {"free", "uniform", "sizes"}, default="free"
        The mass on the centroids: free, so that each row goes to its nearest centroid; 1/K each
        (the paper); or in proportion to the cluster sizes (rounded to multiples of 1/(M+1)).
    signal : {"own", "total"}, default="own"
        What the row itself pays in the transport problem (the paper's tables), or the value of
        the problem (the paper's equations).
    weight : float, default=2.0
        Weight of the term in the calibrated score.
    n_draws : int or "auto", default="auto"
        Draw references and centroids this many times and average the term. "auto": 4 with a free
        target, otherwise 1.
    score_scaling : {"auto", "none", "unit", "standard", "robust"}, default="auto"
        How score and term meet, by statistics of the training rows only. "none": the plain sum;
        "unit": scores to [0, 1] by minimum and maximum, plus the plain term; "standard": both by
        mean and standard deviation; "robust": both by median and distance of the quartiles (if
        half of the rows are nearly equal, by how far 90 % of them lie apart). "auto": "robust"
        with a free target, otherwise "none". All but "none" need `fit(X, scores=...)`.
    feature_scaling : {"auto", None, "standard", "robust", "minmax"} or a tuple, default="auto"
        Scale the columns, by training statistics, before distances are measured. Of several
        scalings, draws take turns. "auto": (None, "minmax") with relative costs, otherwise None,
        because distances in different units have no mean.
    columns : {"auto", "all", "random"}, default="auto"
        What a draw sees. "random": the first draw all columns, each other one more than half of
        them, at random. "auto": "random" with a free target, otherwise "all".
    cost : {"auto", "distance", "relative"}, default="auto"
        What it costs to reach a centroid: the Euclidean distance, or the distance as a multiple
        of what is usual for the rows at this centroid. "auto": "relative" with a free target,
        otherwise "distance".
    rows_per_centroid : int, "auto" or None, default="auto"
        k-means learns from so many random rows per centroid at most; None: from all rows. "auto":
        64 with a free target, otherwise None.
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
        References, centroids and transport of every draw, and the space they are in.
    training_delta_ : ndarray of shape (n,)
        The term of each training row. With target "free" as if its centroids had been found
        without it: new rows that are like it have such terms. Not kept in model files.
    agreement_ : float, only if scores were given
        How alike score and term rank the training rows (Spearman's correlation). The closer to
        1, the less there is to gain: `what_to_expect` of `ctad.calibration` has it in words. NaN
        if all scores or all terms are equal. Not kept in model files.
    n_features_in_ : int
    feature_names_in_ : ndarray of str, only if the training rows had named columns

    Notes
    -----
    With fewer training rows than K or M these are reduced, with one warning. With fewer
    distinct rows than K some centroids coincide, and `delta` of training rows is zero.

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
    >>> calibrator = CTAD(random_state=0).fit(X_train, scores=X_train[:, 0])
    >>> normal, far_away = calibrator.delta(X_new)
    >>> bool(far_away > normal)
    True
    >>> normal, far_away = calibrator.calibrate([0.1, 0.2], X_new)
    >>> bool(far_away > normal)
    True
    >>> paper = CTAD(5, 20, target="uniform", signal="total", weight=1.0, random_state=0)
    >>> paper.fit(X_train).calibrate([0.1, 0.2], X_new) - paper.delta(X_new)
    array([0.1, 0.2])
    """

    def __init__(
        self,
        n_centroids: int | Literal["many", "auto"] = "auto",
        n_references: int = 20,
        *,
        target: str = "free",
        signal: str = "own",
        weight: float = 2.0,
        n_draws: int | Literal["auto"] = "auto",
        score_scaling: str = "auto",
        feature_scaling: str | Sequence[str | None] | None = "auto",
        columns: str = "auto",
        cost: str = "auto",
        rows_per_centroid: int | Literal["auto"] | None = "auto",
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
        self.columns = columns
        self.cost = cost
        self.rows_per_centroid = rows_per_centroid
        self.n_jobs = n_jobs
        self.random_state = random_state

    @classmethod
    def from_preset(cls, name: str = "recommended", **changes: Any) -> Self:
        """A calibrator with named settings.

        Parameters
        ----------
        name : {"recommended", "paper"}, default="recommended"
            "recommended": what `CTAD()` does, all settings spelt out. "paper": Algorithm 1 to the
            letter (K=5, M=20, plain sum).
        **changes
            Parameters to set differently, such as `random_state`.

        Examples
        --------
        >>> paper = CTAD.from_preset("paper", random_state=0)
        >>> paper.n_centroids, paper.n_references, paper.score_scaling
        (5, 20, 'none')
        """
        one_of("preset", name, PRESETS)
        return cls(**{**PRESETS[name], **changes})

    def _of(self, name: str) -> Any:
        """A parameter, or what suits the target in the place of "auto"."""
        value = getattr(self, name)
        if not is_auto(value):
            return value
        if name == "feature_scaling":
            recommended = self._of("cost") == "relative"
        else:
            recommended = self.target == "free"
        return PRESETS["recommended" if recommended else "paper"][name]

    def _score_scaling(self) -> str:
        scaling: str = self._of("score_scaling")
        return scaling

    def _check_parameters(self) -> None:
        one_of("target", self.target, TARGETS)
        super()._check_parameters()
        for name, others in COUNTS.items():
            value = getattr(self, name)
            if not (isinstance(value, str | None) and value in others):
                check_scalar(value, name, Integral, min_val=1)
        if self.n_jobs is not None:
            check_scalar(self.n_jobs, "n_jobs", Integral)
        effective_n_jobs(self.n_jobs)  # refuses 0
        one_of("signal", self.signal, SIGNALS)
        one_of("columns", self.columns, ("auto", *COLUMNS))
        one_of("cost", self.cost, ("auto", *COSTS))
        check_feature_scaling(self._of("feature_scaling"))

    def _fit(self, rows: Floats) -> Floats:
        settings = self._settings_for(len(rows))
        scalings = check_feature_scaling(self._of("feature_scaling"))
        n_draws: int = self._of("n_draws")
        random = check_random_state(self.random_state)
        self._signal = self.signal
        self.draws_ = []
        unseen = np.zeros(len(rows))
        for number in range(n_draws):
            progress("Finding centroids", number, n_draws)
            scaling = scalings[number % len(scalings)]
            draw, extra = new_draw(rows, settings, scaling, random, all_columns=number == 0)
            self.draws_.append(draw)
            unseen += extra
        progress("Finding centroids", n_draws, n_draws)
        self._show_first_draw()
        return self._delta(rows) + unseen / n_draws

    def _settings_for(self, n: int) -> Settings:
        """The settings, with K and M reduced to what the rows allow."""
        k, m, reduced = self._of("n_centroids"), self.n_references, []
        if k != "many" and k > n:
            reduced.append(f"n_centroids={n} instead of {k}")
            k = n
        if m > n:
            reduced.append(f"n_references={n} instead of {m}")
            m = n
        if reduced:
            warn_user(f"only {n} training rows: using {' and '.join(reduced)}.")
        others = (self._of(name) for name in ("cost", "columns", "rows_per_centroid"))
        return Settings(k, m, self.target, *others)

    def _show_first_draw(self) -> None:
        self.centroids_ = self.draws_[0].centroids
        self.references_ = self.draws_[0].references

    def _state(self, writer: Writer) -> dict[str, Any]:
        return {"signal": self._signal, "draws": [draw.state(writer) for draw in self.draws_]}

    def _set_state(self, state: dict[str, Any], reader: Reader) -> None:
        one_of("signal", state["signal"], SIGNALS)
        self._signal = state["signal"]
        # In format version 1 all draws share one space.
        space = {name: state[name] for name in ("shift", "scale") if name in state}
        draws = [{**space, **draw} for draw in state["draws"]]
        self.draws_ = [saved_draw(draw, reader, self.n_features_in_, len(draws)) for draw in draws]
        self._show_first_draw()

    def _rounding(self, rows: Floats) -> float:
        return max(draw.rounding(rows) for draw in self.draws_)

    def _delta(self, rows: Rows) -> Floats:
        n_threads = effective_n_jobs(self.n_jobs)
        delta = np.zeros(len(rows))
        for start in range(0, len(rows), CHUNK_ROWS):
            chunk = slice(start, start + CHUNK_ROWS)
            for draw in self.draws_:
                transported = draw.solve(rows[chunk], n_threads=n_threads)
                delta[chunk] += transported.total if self._signal == "total" else transported.own
        delta /= len(self.draws_)
        return delta

    def described(self) -> tuple[Floats, Floats]:
        draw = self.draws_[0]  # sees all columns
        references = draw.references * draw.scale + draw.shift
        return references, draw.centroids * draw.scale + draw.shift

    def _delta_parts(self, rows: Rows) -> DeltaParts:
        n_threads = effective_n_jobs(self.n_jobs)
        delta, references, moves = np.zeros(len(rows)), np.zeros(len(rows)), []
        columns = np.zeros(rows.shape)
        for number, draw in enumerate(self.draws_):
            transported, moved = draw.divide(rows, columns, n_threads)
            moves.append(moved._replace(draw=moved.draw + number))
            if self._signal == "total":
                delta += transported.total
                references += transported.total - transported.own
            else:
                delta += transported.own
        for part in (delta, references, columns):
            part /= len(self.draws_)
        together = Moves(*map(np.concatenate, zip(*moves, strict=True)))
        return DeltaParts(delta, columns, references, together, self.draws_[0].neighbours(rows))
