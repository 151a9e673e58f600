"""What all calibrators share: a term per row, and its sum with a detector's score."""

from __future__ import annotations

from abc import ABC, abstractmethod
from numbers import Real
from os import PathLike
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_scalar
from sklearn.utils.validation import check_is_fitted

from .._input import Floats, Rows, checked_scores, new_rows, one_of, training_rows
from ._agreement import agreement
from ._combination import SCORE_SCALINGS, Combination, combination_from_training
from ._parts import DeltaParts

# Distances square the values: far beyond these they would overflow, or vanish.
LARGEST_VALUE = 1e100
SMALLEST_SPREAD = 1e-100


class BaseCalibrator(BaseEstimator, ABC):
    """A term per row, learnt from normal rows, that is added to a detector's score.

    Subclasses say how the term is learnt (`_fit`), computed (`_delta`) and what it is made of
    (`_delta_parts`).
    """

    weight: float
    score_scaling: str
    n_features_in_: int
    training_delta_: Floats
    agreement_: float
    _combination: Combination | None
    _n_training_rows: int

    def fit(self, X: Any, y: Any = None, *, scores: Any = None) -> Self:
        """Learn what normal rows look like.

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
        for name in ("_combination", "agreement_"):  # not fitted until all is well
            self.__dict__.pop(name, None)
        self._check_parameters()
        rows = training_rows(self, X)
        largest, spread = np.abs(rows).max(), (rows.max(axis=0) - rows.min(axis=0)).max()
        if largest > LARGEST_VALUE:
            raise ValueError(f"values of X reach {largest:g}, too large to be squared: rescale X")
        if 0 < spread < SMALLEST_SPREAD:
            raise ValueError(f"values of X differ by {spread:g} at most, too little: rescale X")
        train_scores = None if scores is None else checked_scores(scores, rows)
        if train_scores is not None and not np.isfinite(train_scores).any():
            raise ValueError(
                f"none of the {len(rows)} training scores is finite. Columns that follow from "
                "others do this to some detectors: drop them, or tell PyOD's PCA n_components=0.99."
            )
        self.training_delta_ = self._checked(self._fit(rows))
        scaling = self._score_scaling()
        if scaling == "none":
            combination: Combination | None = Combination()
        elif train_scores is None:
            combination = None
        else:
            combination = combination_from_training(
                scaling, train_scores, self.training_delta_, self._rounding(rows)
            )
        if train_scores is not None:
            self.agreement_ = agreement(train_scores, self.training_delta_)
        self._n_training_rows = len(rows)
        self._combination = combination
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_combination")

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
        return self._finite_delta(new_rows(self, X))

    def calibrate(self, scores: Any, X: Any) -> Floats:
        """Add the term to scores made elsewhere: `s + weight * delta(X)`, both as scaled
        by `score_scaling`.

        Parameters
        ----------
        scores : array-like of shape (n,)
            The detector's scores, higher = more anomalous. An infinite score stays
            infinite; NaN is an error.
        X : array-like of shape (n, D)
            The rows they belong to.

        Returns
        -------
        ndarray of shape (n,)
        """
        self._check_ready_to_combine()
        rows = new_rows(self, X)
        return self._combine(checked_scores(scores, rows), self._finite_delta(rows))

    def combine(self, scores: Any, delta: Any) -> Floats:
        """What `calibrate` does, where the terms are known already.

        Parameters
        ----------
        scores : array-like of shape (n,)
            The detector's scores, higher = more anomalous.
        delta : array-like of shape (n,)
            What `delta` gave for the rows they belong to.

        Returns
        -------
        ndarray of shape (n,)
        """
        self._check_ready_to_combine()
        terms = checked_scores(delta, delta, "delta")
        return self._combine(checked_scores(scores, terms), terms)

    def parts(self, scores: Any, delta: Any) -> tuple[Floats, Floats]:
        """What score and term each add to the calibrated score: the two sum to it.

        Parameters
        ----------
        scores, delta : array-like of shape (n,)
            As for `combine`.

        Returns
        -------
        ndarray of shape (n,), ndarray of shape (n,)
            The part of the detector's score and that of the term.
        """
        self._check_ready_to_combine()
        terms = checked_scores(delta, delta, "delta")
        return self._parts_of(checked_scores(scores, terms), terms)

    def delta_parts(self, X: Any) -> DeltaParts:
        """What the term of each row is made of.

        Parameters
        ----------
        X : array-like of shape (n, D)

        Returns
        -------
        DeltaParts

        Examples
        --------
        >>> from ctad import CTAD
        >>> calibrator = CTAD.from_preset("paper", n_centroids=1, n_references=1, signal="own")
        >>> parts = calibrator.fit([[0.0, 0.0], [0.0, 2.0]]).delta_parts([[3.0, 5.0]])
        >>> parts.delta, parts.columns
        (array([2.5]), array([[0.9, 1.6]]))
        >>> parts.moves.distance
        array([5.])
        """
        check_is_fitted(self)
        return self._delta_parts(new_rows(self, X))

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted calibrator to a file that `ctad.load` reads.

        Parameters
        ----------
        path : path-like
            Replaced at once, or left as it is if something goes wrong. Usually ends in .ctad.
        """
        from ._saving import save

        save(self, path)

    def _check_ready_to_combine(self) -> None:
        check_is_fitted(self)
        self._check_weight()
        if self._combination is None:
            raise ValueError(
                "score and term meet on the scale of training rows, so their scores are needed: "
                "call fit(X, scores=...), or fit with score_scaling='none' for the plain sum."
            )

    def _combine(self, scores: Floats, delta: Floats) -> Floats:
        of_scores, of_delta = self._parts_of(scores, delta)
        of_delta += of_scores
        return of_delta

    def _parts_of(self, scores: Floats, delta: Floats) -> tuple[Floats, Floats]:
        assert self._combination is not None
        return self._combination.parts(scores, delta, self.weight)

    def _finite_delta(self, rows: Rows) -> Floats:
        return self._checked(self._delta(rows))

    def _checked(self, delta: Floats) -> Floats:
        if not np.isfinite(delta).all():
            raise ValueError("the calibration term overflows: rescale the columns of X")
        return delta

    def _check_parameters(self) -> None:
        self._check_weight()
        one_of("score_scaling", self._score_scaling(), SCORE_SCALINGS)

    def _score_scaling(self) -> str:
        """How score and term meet; one of SCORE_SCALINGS."""
        return self.score_scaling

    def _check_weight(self) -> None:
        check_scalar(self.weight, "weight", Real, min_val=0)
        if not np.isfinite(self.weight):
            raise ValueError(f"weight must be a finite number >= 0, not {self.weight}")

    def _rounding(self, rows: Floats) -> float:
        """What the term of a training row may be off by."""
        return 0.0

    @abstractmethod
    def _fit(self, rows: Floats) -> Floats:
        """Learn; return the terms of these rows."""

    @abstractmethod
    def _delta(self, rows: Rows) -> Floats: ...

    def described(self) -> tuple[Floats, Floats]:
        """References (M, D) and centroids (K, D) of the first draw, in the units of the rows; none
        where the term is no transport."""
        none = np.empty((0, self.n_features_in_))
        return none, none

    @abstractmethod
    def _delta_parts(self, rows: Rows) -> DeltaParts: ...
