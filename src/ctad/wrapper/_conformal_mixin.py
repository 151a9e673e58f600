"""Decisions of an estimator by normal rows held out of training."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from numbers import Real
from typing import Any, Self

from sklearn.utils.validation import check_is_fitted

from .._result_types import ScoreParts
from .._thresholds import ThresholdMixin, labels_above
from .._types import Booleans, Floats, Integers
from .._validation import check_share
from .._warnings import warn_user
from ..errors import InputError
from ._conformal_decisions import ConformalDecisions


class ConformalMixin(ThresholdMixin):
    """p-values, alarms and selections, for estimators that keep scores of rows held out.

    Attributes
    ----------
    calibration_scores_ : ScoreParts or None
        Scores of the normal rows held out of training.
    batch_dependent_ : bool
        Whether scores depend on the other rows of a call.
    """

    calibration_scores_: ScoreParts | None

    @property
    @abstractmethod
    def batch_dependent_(self) -> bool:
        """Whether scores depend on the other rows of a call."""

    @abstractmethod
    def score_parts(self, X: Any) -> ScoreParts:
        """The scores of rows, and what they are made of."""

    @property
    def has_p_values(self) -> bool:
        """Whether there are normal rows held out of training."""
        check_is_fitted(self)
        return self.calibration_scores_ is not None

    def conformalize(self, X_normal: Any) -> Self:
        """Use these normal rows, which were not trained on, for p-values and the threshold.

        They replace the rows that `fit` held out, if any. `threshold_` and `labels_` change.

        Parameters
        ----------
        X_normal : array-like or data frame of shape (n, D)

        Returns
        -------
        self
        """
        check_is_fitted(self)
        self.calibration_scores_ = replace(self.score_parts(X_normal), p_value=None)
        self._set_threshold_by_calibration_scores()
        return self

    def p_value(self, X: Any) -> Floats:
        """The probability, at most, that a normal row scores as high as each row.

        Split-conformal p-values: on average at most a share `a` of rows like those held out of
        training has a p-value of `a` or less, for every `a`. The average is also over the choice of
        the rows held out. With n rows held out, the smallest p-value is 1 / (n + 1).

        Parameters
        ----------
        X : array-like or data frame of shape (n, D)

        Returns
        -------
        ndarray of shape (n,)

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.ensemble import IsolationForest
        >>> from ctad import CalibratedDetector
        >>> X = np.random.default_rng(0).normal(size=(1000, 2))
        >>> detector = CalibratedDetector(IsolationForest(), holdout=0.2, random_state=0).fit(X)
        >>> normal, far_away = detector.p_value([[0.0, 0.0], [9.0, 9.0]])
        >>> bool(normal > 0.2), round(float(far_away), 3)
        (True, 0.005)
        """
        return self._conformal().p_values(self.decision_function(X))

    def percentile(self, X: Any) -> Floats:
        """The percentage, 0 to 100, of the rows held out that score lower than each row.

        Equal scores count half.

        Parameters
        ----------
        X : array-like or data frame of shape (n, D)

        Returns
        -------
        ndarray of shape (n,)
        """
        return self._conformal().percentiles(self.decision_function(X))

    def select(self, X: Any, fdr: float = 0.05) -> Booleans:
        """The rows to act on: on average at most a share `fdr` of them is normal.

        Benjamini and Hochberg's procedure on `p_value`. It depends on all rows of the call;
        `predict(X, alarm_rate=...)` decides on each row separately.

        Parameters
        ----------
        X : array-like or data frame of shape (n, D)
        fdr : float in (0, 1), default=0.05
            The false discovery rate.

        Returns
        -------
        ndarray of bool, of shape (n,)
        """
        check_share("fdr", fdr)
        return self._conformal().select(self.decision_function(X), fdr)

    def predict(self, X: Any, *, alarm_rate: float | None = None) -> Integers:
        """1 for anomalies, 0 for normal rows.

        For training rows use `labels_`: `predict` treats its input as new rows and flags too few
        training rows.

        Parameters
        ----------
        X : array-like or data frame of shape (n, D)
        alarm_rate : float in (0, 1), optional
            The false-alarm rate: rows with a `p_value` of this or less are anomalies, so that on
            average at most this share of normal rows is. None: rows above `threshold_` are
            anomalies.

        Returns
        -------
        ndarray of shape (n,)
        """
        if alarm_rate is None:
            return super().predict(X)
        return self._conformal().alarms(self.decision_function(X), alarm_rate)

    @property
    def _normal_scores(self) -> Floats | None:
        """Calibrated scores of the normal rows held out of training."""
        return None if self.calibration_scores_ is None else self.calibration_scores_.score

    def _conformal(self) -> ConformalDecisions:
        check_is_fitted(self)
        if self._normal_scores is None:
            raise InputError(
                "this needs normal rows that were not used for training: fit with holdout=0.2, or "
                "pass such rows to conformalize"
            )
        if self.batch_dependent_:
            warn_user(
                "scores depend on the other rows of a call, so p-values hold only for calls with "
                "rows like those held out."
            )
        return ConformalDecisions(self._normal_scores)

    def _set_threshold_by_calibration_scores(self) -> None:
        """Set the threshold by the rows held out, unless a PyThresh object sets it."""
        if self._normal_scores is not None and isinstance(self.contamination, Real):
            rate = float(self.contamination)
            self.threshold_ = ConformalDecisions(self._normal_scores).threshold(rate)
            self.labels_ = labels_above(self.threshold_, self.decision_scores_)
