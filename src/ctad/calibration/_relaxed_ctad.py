"""RelaxedCTAD: the recommended calibration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from numbers import Real

import numpy as np

from .._progress import report_progress
from .._types import Booleans, Floats, Rows
from .._validation import check_choice, check_share, random_generator
from ..errors import InputError
from ._base_calibrator import check_count, limited_to_rows
from ._delta_parts import DeltaParts, Moves
from ._draw import Draw
from ._transport_calibrator import TransportCalibrator
from ._views import near_view, wide_view

TRAINING = ("mixed", "normal")

# More do not help: the mass of a row is spread over many rows anyway.
WIDE_CENTROIDS = 20


class RelaxedCTAD(TransportCalibrator):
    r"""Calibrate the scores of any anomaly detector by relaxed optimal transport.

    The method of `CTAD` with other conditions on the mass of the centroids. A row is looked at in
    two views, and the term is the larger one of their costs:

    - **near**: there are many centroids without a condition on their mass. A row goes to its
      nearest centroid. The cost is its distance, as a multiple of the usual distance there.
    - **wide**: a centroid has room in proportion to the rows that it stands for. A row spreads its
      mass over the nearest share `mass_share` of the rows that are not trimmed. The cost is the
      mean distance.

    .. math:: \Delta(x) = \tfrac{1}{M+1} \max\Bigl( \min_j \|x - C_j\| / r_j ,\;
        \tfrac 1u \min_w \sum_j w_j \|x - C'_j\| \Bigr)
        \quad\text{with}\quad w_j \le \frac{n_j}{m N},\ \sum_j w_j = 1 .

    Anomalies among the training rows are near to others of their kind, but they are few: they have
    no room for a share m of the mass. So the wide view sees them. Distances are measured in half
    ranges of the columns, so that the term does not depend on units. Score and term are brought to
    a common scale by robust statistics of the training rows.

    Parameters
    ----------
    n_centroids : int, default=300
        K of the near view; the wide view has 20. At most a third of the distinct rows that k-means
        uses.
    n_references : int, default=20
        M. Reference rows, which explanations compare a row with.
    training : {"mixed", "normal"}, default="mixed"
        "normal": all training rows are known to be normal, so that the near view is enough.
        "mixed": there may be anomalies among them.
    weight : float, default=2.0
        Weight of the term in the calibrated score.
    n_draws : int, default=1
        Make each view this many times and average its costs.
    mass_share : float in (0, 1), default=0.3
        The share m of the rows that are not trimmed, N in number, that the mass of a row is spread
        over in the wide view.
    trimmed : float in [0, 1), default=0.2
        The share of the training rows that the wide view leaves out: those that are farthest from
        the others.
    score_scaling : {"robust", "standard", "unit", "none"}, default="robust"
        As in `CTAD`. All but "none" need `fit(X, scores=...)`.
    rows_per_centroid : int or None, default=64
        k-means uses a random sample of at most this many rows per centroid of the near view. None:
        all rows.
    n_jobs : int, default=None
        Threads for scoring; None is 1, -1 all processors. Results do not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of references, samples and k-means.

    Attributes
    ----------
    draws_, wide_draws_ : list of Draw
        The near views, and the wide ones, of which there are none if training="normal". The moves
        of an explanation count the wide ones after the near ones.
    centroids_, references_, n_centroids_, n_references_, signal_
        As in `CTAD`, of the first near view.
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

    wide_draws_: list[Draw]

    # Not a parameter: the cost of the references is the same for all rows.
    signal = "own"

    def __init__(
        self,
        n_centroids: int = 300,
        n_references: int = 20,
        *,
        training: str = "mixed",
        weight: float = 2.0,
        n_draws: int = 1,
        mass_share: float = 0.3,
        trimmed: float = 0.2,
        score_scaling: str = "robust",
        rows_per_centroid: int | None = 64,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_centroids = n_centroids
        self.n_references = n_references
        self.training = training
        self.weight = weight
        self.n_draws = n_draws
        self.mass_share = mass_share
        self.trimmed = trimmed
        self.score_scaling = score_scaling
        self.rows_per_centroid = rows_per_centroid
        self.n_jobs = n_jobs
        self.random_state = random_state

    def check_parameters(self) -> None:
        super().check_parameters()
        check_choice("training", self.training, TRAINING)
        check_share("mass_share", self.mass_share)
        if not (isinstance(self.trimmed, Real) and 0 <= float(self.trimmed) < 1):
            raise InputError(f"trimmed must be a number >= 0 and < 1, not {self.trimmed!r}")
        if self.rows_per_centroid is not None:
            check_count("rows_per_centroid", self.rows_per_centroid)

    def _fit(self, rows: Floats) -> Floats:
        [m] = limited_to_rows(len(rows), n_references=self.n_references)
        most = len(rows)
        if self.rows_per_centroid is not None:
            most = max(2, self.rows_per_centroid * self.n_centroids)
        random = random_generator(self.random_state)
        near, wide = [], []
        for number in range(self.n_draws):
            report_progress("Finding centroids", number, self.n_draws)
            near.append(near_view(rows, self.n_centroids, m, most, random))
            if self.training == "mixed":
                wide.append(
                    wide_view(rows, WIDE_CENTROIDS, m, most, self.mass_share, self.trimmed, random)
                )
        report_progress("Finding centroids", self.n_draws, self.n_draws)
        self.set_views([draw for draw, _ in near], [draw for draw, _ in wide], self.signal)
        terms = np.mean([terms for _, terms in near], axis=0)
        if wide:
            terms = np.maximum(terms, np.mean([terms for _, terms in wide], axis=0))
        return np.asarray(terms, dtype=np.float64)

    def set_views(self, near: Sequence[Draw], wide: Sequence[Draw], signal: str) -> None:
        """Set the fitted attributes that follow from the views.

        Parameters
        ----------
        near, wide : sequence of Draw
        signal : "own"
        """
        self.set_draws(near, signal)
        self.wide_draws_ = list(wide)

    def _rounding(self, rows: Floats) -> float:
        return max(draw.rounding(rows) for draw in (*self.draws_, *self.wide_draws_))

    def _delta(self, rows: Rows) -> Floats:
        near = self._mean_term(self.draws_, rows)
        if not self.wide_draws_:
            return near
        return np.maximum(near, self._mean_term(self.wide_draws_, rows))

    def _delta_parts(self, rows: Rows) -> DeltaParts:
        near = self._mean_parts(self.draws_, rows)
        if not self.wide_draws_:
            return near
        wide = self._mean_parts(self.wide_draws_, rows, first_number=len(self.draws_))
        is_wide = wide.delta > near.delta
        return DeltaParts(
            np.maximum(near.delta, wide.delta),
            np.where(is_wide[:, np.newaxis], wide.columns, near.columns),
            near.references,
            _moves_of(near.moves, wide.moves, is_wide),
            near.neighbours,
        )


def _moves_of(near: Moves, wide: Moves, is_wide: Booleans) -> Moves:
    """The moves of each row in the view with the larger cost."""
    from_near, from_wide = ~is_wide[near.row], is_wide[wide.row]
    return Moves(
        **{
            field.name: np.concatenate(
                [getattr(near, field.name)[from_near], getattr(wide, field.name)[from_wide]]
            )
            for field in fields(Moves)
        }
    )
