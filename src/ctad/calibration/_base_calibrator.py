"""BaseCalibrator: a term per row, and its sum with a detector's score."""

from __future__ import annotations

from abc import ABC, abstractmethod
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .._saving import SaveMixin
from .._types import Floats, Rows
from .._validation import (
    LARGEST_VALUE,
    check_choice,
    check_new_rows,
    check_scores,
    check_training_rows,
)
from .._warnings import warn_user
from ..errors import InputError
from ._agreement import agreement
from ._delta_parts import DeltaParts
from ._score_scaling import SCORE_SCALINGS, ScoreScaling

SMALLEST_SPREAD = 1e-100  # squares of smaller differences may underflow in distances


def check_count(name: str, value: Any) -> None:
    """Raise unless a parameter is an integer >= 1."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be an integer, not {value!r}")
    if value < 1:
        raise InputError(f"{name} must be an integer >= 1, not {value}")


def limited_to_rows(n_rows: int, **counts: int) -> list[int]:
    """Numbers of centroids or references, at most one per training row, with one warning."""
    messages = [
        f"{name}={n_rows} instead of {count}" for name, count in counts.items() if count > n_rows
    ]
    if messages:
        warn_user(f"only {n_rows} training rows: using {' and '.join(messages)}.")
    return [min(count, n_rows) for count in counts.values()]


class BaseCalibrator(SaveMixin, BaseEstimator, ABC):
    """A term per row, fitted on normal rows, that is added to a detector's score.

    `CalibratedDetector` calls `fit(X, scores=...)`, `delta(X)` and `combine(scores, delta)`; its
    `explain` and `report` also call `delta_parts(X)`, `contributions(scores, delta)` and
    `reference_points()`. This class implements all of them. A subclass has the parameters `weight`
    and `score_scaling`, and defines

    - `_fit(rows)`: fit the term to checked rows and return their terms;
    - `_delta(rows)`: the term of each row;
    - `_delta_parts(rows)`: the same, attributed to the columns, as `DeltaParts`.

    It may override `check_parameters` and `reference_points`.

    Attributes
    ----------
    training_delta_ : ndarray of shape (n,)
        The term of each training row.
    n_training_rows_ : int
    agreement_ : float, only if scores were given
        Spearman's correlation of score and term on the training rows.
    score_scaling_ : ScoreScaling or None
        Shift and scale of scores and terms; None if `fit` had no scores but needs them.

    Examples
    --------
    >>> import numpy as np
    >>> from ctad.calibration import BaseCalibrator, DeltaParts
    >>> class DistanceFromMean(BaseCalibrator):
    ...     def __init__(self, weight=1.0, score_scaling="none"):
    ...         self.weight, self.score_scaling = weight, score_scaling
    ...     def _fit(self, rows):
    ...         self.mean_ = rows.mean(axis=0)
    ...         return self._delta(rows)
    ...     def _delta(self, rows):
    ...         return np.linalg.norm(rows - self.mean_, axis=1)
    ...     def _delta_parts(self, rows):
    ...         delta, squares = self._delta(rows), (rows - self.mean_) ** 2
    ...         return DeltaParts.without_transport(delta, squares / delta[:, np.newaxis])
    >>> calibrator = DistanceFromMean(weight=2.0).fit([[0.0, 0.0], [0.0, 2.0]])
    >>> calibrator.calibrate([0.5], [[3.0, 5.0]])
    array([10.5])
    >>> calibrator.delta_parts([[3.0, 5.0]]).columns
    array([[1.8, 3.2]])
    """

    weight: float
    score_scaling: str
    n_features_in_: int
    n_training_rows_: int
    training_delta_: Floats
    agreement_: float
    score_scaling_: ScoreScaling | None

    def fit(self, X: Any, y: Any = None, *, scores: Any = None) -> Self:
        """Fit the term to normal rows.

        Parameters
        ----------
        X : array-like of shape (n, D)
            Normal rows.
        y : ignored
        scores : array-like of shape (n,), optional
            The detector's scores of these rows, higher = more anomalous. Needed for
            `calibrate` with any `score_scaling` but "none".

        Returns
        -------
        self
        """
        for name in ("score_scaling_", "agreement_"):  # a failed fit leaves nothing fitted
            self.__dict__.pop(name, None)
        self.check_parameters()
        rows = check_training_rows(self, X)
        _check_range(rows)
        train_scores = None if scores is None else _check_training_scores(scores, rows)
        self.training_delta_ = self._check_finite(self._fit(rows))
        scaling: ScoreScaling | None = None
        if self.score_scaling == "none":
            is_usable = train_scores is None or np.isfinite(train_scores).any()
            scaling = ScoreScaling() if is_usable else ScoreScaling(score=None)
        elif train_scores is not None:
            scaling = ScoreScaling.from_training(
                self.score_scaling, train_scores, self.training_delta_, self._rounding(rows)
            )
        if train_scores is not None:
            self.agreement_ = agreement(train_scores, self.training_delta_)
        self.n_training_rows_ = len(rows)
        self.score_scaling_ = scaling
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "score_scaling_")

    def delta(self, X: Any) -> Floats:
        """The calibration term of each row, unscaled: higher = fits normal data worse.

        Parameters
        ----------
        X : array-like of shape (n, D)

        Returns
        -------
        ndarray of shape (n,)
        """
        check_is_fitted(self)
        return self._check_finite(self._delta(check_new_rows(self, X)))

    def calibrate(self, scores: Any, X: Any) -> Floats:
        """Add the term to scores made elsewhere: `s + weight * delta(X)`.

        Both are scaled by `score_scaling` first.

        Parameters
        ----------
        scores : array-like of shape (n,)
            The detector's scores, higher = more anomalous. An infinite score stays
            infinite; NaN is an error. If no training score was finite, scores are not used.
        X : array-like of shape (n, D)
            The rows they belong to.

        Returns
        -------
        ndarray of shape (n,)
        """
        self._fitted_scaling()  # fails before the work
        return self.combine(scores, self.delta(X))

    def combine(self, scores: Any, delta: Any) -> Floats:
        """Add terms that are already computed: `calibrate` for a given `delta`.

        Parameters
        ----------
        scores : array-like of shape (n,)
            The detector's scores, higher = more anomalous.
        delta : array-like of shape (n,)
            What `delta` returned for the rows they belong to.

        Returns
        -------
        ndarray of shape (n,)
        """
        of_scores, of_delta = self.contributions(scores, delta)
        return of_scores + of_delta

    def contributions(self, scores: Any, delta: Any) -> tuple[Floats, Floats]:
        """What score and term each add to the calibrated score; their sum is the score.

        Parameters
        ----------
        scores, delta : array-like of shape (n,)
            As for `combine`.

        Returns
        -------
        ndarray of shape (n,), ndarray of shape (n,)
            The contribution of the detector's score and that of the term.
        """
        scaling = self._fitted_scaling()
        terms = check_scores(delta, delta, "delta")
        return scaling.contributions(check_scores(scores, terms), terms, self.weight)

    def delta_parts(self, X: Any) -> DeltaParts:
        """The term of each row, attributed to its columns.

        Parameters
        ----------
        X : array-like of shape (n, D)

        Returns
        -------
        DeltaParts

        Examples
        --------
        >>> from ctad import CTAD
        >>> calibrator = CTAD(n_centroids=1, n_references=1, signal="own")
        >>> parts = calibrator.fit([[0.0, 0.0], [0.0, 2.0]]).delta_parts([[3.0, 5.0]])
        >>> parts.delta, parts.columns
        (array([2.5]), array([[0.9, 1.6]]))
        >>> parts.moves.distance
        array([5.])
        """
        check_is_fitted(self)
        return self._delta_parts(check_new_rows(self, X))

    def reference_points(self) -> tuple[Floats, Floats]:
        """Reference rows and centroids in the units of the rows; empty if the term has none.

        Returns
        -------
        ndarray of shape (M, D), ndarray of shape (K, D)
        """
        none = np.empty((0, self.n_features_in_))
        return none, none

    def _fitted_scaling(self) -> ScoreScaling:
        check_is_fitted(self)
        self._check_weight()
        if self.score_scaling_ is None:
            raise InputError(
                f"score_scaling={self.score_scaling!r} needs the detector's training scores: call "
                "fit(X, scores=...), or use score_scaling='none' for the plain sum."
            )
        return self.score_scaling_

    def _check_finite(self, delta: Floats) -> Floats:
        if not np.isfinite(delta).all():
            raise InputError("the calibration term overflows: rescale the columns of X")
        return delta

    def check_parameters(self) -> None:
        """Raise if a parameter has a value that `fit` would not accept."""
        self._check_weight()
        check_choice("score_scaling", self.score_scaling, SCORE_SCALINGS)

    def _check_weight(self) -> None:
        if not isinstance(self.weight, Real):
            raise TypeError(f"weight must be a number, not {self.weight!r}")
        if not 0 <= self.weight < np.inf:
            raise InputError(f"weight must be a finite number >= 0, not {self.weight}")

    def _rounding(self, rows: Floats) -> float:
        """An upper bound of the rounding error of a training row's term."""
        return 0.0

    @abstractmethod
    def _fit(self, rows: Floats) -> Floats:
        """Fit; return the terms of these rows."""

    @abstractmethod
    def _delta(self, rows: Rows) -> Floats: ...

    @abstractmethod
    def _delta_parts(self, rows: Rows) -> DeltaParts: ...


def _check_range(rows: Floats) -> None:
    largest, spread = np.abs(rows).max(), (rows.max(axis=0) - rows.min(axis=0)).max()
    if largest > LARGEST_VALUE:
        raise InputError(f"values of X reach {largest:g}, too large to be squared: rescale X")
    if 0 < spread < SMALLEST_SPREAD:
        raise InputError(f"values of X differ by at most {spread:g}, too little: rescale X")


def _check_training_scores(scores: Any, rows: Floats) -> Floats:
    checked = check_scores(scores, rows)
    if not np.isfinite(checked).any():
        warn_user(
            f"none of the {len(rows)} training scores is finite, so the calibrated score is the "
            "term alone. Some detectors fail like this on linearly dependent columns: drop them, "
            "or set n_components=0.99 for PyOD's PCA."
        )
    return checked
