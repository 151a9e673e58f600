"""Thresholds and labels from scores, with PyOD's meaning."""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import deepcopy
from numbers import Real
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from ._types import Floats
from .errors import InputError

GRID_SIZE = 1001  # scores per call when searching the threshold of a PyThresh object


class ThresholdMixin(ABC):
    """`predict`, `fit_predict` and `predict_proba` of PyOD, for detectors with a threshold.

    Attributes
    ----------
    contamination : float in (0, 0.5], or a PyThresh object
        Share of the training rows above `threshold_`, or the object that finds the threshold.
    decision_scores_ : ndarray of shape (n,)
        Scores of the training rows.
    threshold_ : float
        Rows with a higher score are anomalies.
    labels_ : ndarray of shape (n,)
        Labels of the training rows, 1 = anomaly.
    """

    contamination: Any
    decision_scores_: Floats
    threshold_: float
    labels_: npt.NDArray[np.int64]

    @abstractmethod
    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit to training rows."""

    @abstractmethod
    def decision_function(self, X: Any) -> Floats:
        """The score of each row: higher = more anomalous."""

    def predict(self, X: Any) -> npt.NDArray[np.int64]:
        """1 for anomalies, 0 for normal rows, as in PyOD.

        Parameters
        ----------
        X : array-like or data frame of shape (n, D)

        Returns
        -------
        ndarray of shape (n,)
        """
        scores = self.decision_function(X)  # raises if not fitted
        return labels_above(self.threshold_, scores)

    def fit_predict(self, X: Any, y: Any = None) -> npt.NDArray[np.int64]:
        """Fit, and return `labels_`: 1 for anomalies among the training rows.

        Parameters
        ----------
        X : array-like or data frame of shape (n, D)
        y : array-like of shape (n,), optional
            As for `fit`.

        Returns
        -------
        ndarray of shape (n,)
        """
        return self.fit(X, y).labels_

    def predict_proba(self, X: Any) -> Floats:
        """PyOD's "linear" probabilities: the score's position in the range of training scores.

        These are not calibrated frequencies: 0.9 does not mean that nine of ten such rows
        are anomalies.

        Parameters
        ----------
        X : array-like or data frame of shape (n, D)

        Returns
        -------
        ndarray of shape (n, 2)
            The probabilities that a row is normal and that it is anomalous.
        """
        scores = self.decision_function(X)
        finite = self.decision_scores_[np.isfinite(self.decision_scores_)]
        low, high = finite.min(), finite.max()
        anomalous = np.clip((scores - low) / ((high - low) or 1.0), 0.0, 1.0)
        return np.column_stack([1.0 - anomalous, anomalous])

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "labels_")

    def _check_contamination(self) -> None:
        given = self.contamination
        if isinstance(given, Real) and 0 < float(given) <= 0.5:
            return
        if isinstance(given, type) or not (hasattr(given, "eval") and hasattr(given, "fit")):
            raise InputError(
                f"contamination must be in (0, 0.5], or an object of PyThresh, not {given!r}"
            )

    def _decide(self, scores: Floats) -> None:
        """Set threshold and labels from the scores of the training rows."""
        self.decision_scores_ = scores
        self.threshold_ = training_threshold(self.contamination, scores)
        self.labels_ = labels_above(self.threshold_, scores)


def labels_above(threshold: float, scores: Floats) -> npt.NDArray[np.int64]:
    """1 for scores above the threshold, else 0."""
    return (scores > threshold).astype(np.int64)


def training_threshold(contamination: Any, scores: Floats) -> float:
    """The threshold for a share `contamination` of the training scores above it, or the one that a
    PyThresh object finds."""
    if not isinstance(contamination, Real):
        return _threshold_by(contamination, scores[np.isfinite(scores)])
    level = 100 * (1 - float(contamination))
    with np.errstate(invalid="ignore"):
        threshold = np.percentile(scores, level)
    if not np.isfinite(threshold):  # infinite scores cannot be interpolated
        threshold = np.percentile(scores, level, method="lower")
    if threshold == np.inf:  # too many infinite scores: only these rows are anomalies
        threshold = scores[np.isfinite(scores)].max()
    return float(threshold)


def _threshold_by(thresholder: Any, scores: Floats) -> float:
    """The score above which a PyThresh object labels a row as an anomaly.

    The object's own `thresh_` is on a different scale, so the threshold is searched. Objects
    without `thresh_` compare rows with each other: then it is the highest training score that is
    labelled normal.
    """
    fitted = deepcopy(thresholder).fit(scores)
    normal = scores[np.asarray(fitted.labels_) == 0]
    if not len(normal):
        raise InputError(f"{thresholder!r} labels every training row as an anomaly")
    low = float(normal.max())
    if getattr(fitted, "thresh_", None) is None:
        return low
    above = scores[scores > low]
    high = float(above.min()) if len(above) else low + (float(np.ptp(scores)) or 1.0)
    while np.isfinite(high):
        grid = np.linspace(low, high, GRID_SIZE)
        anomalous = np.asarray(fitted.predict(grid), dtype=bool)
        if not anomalous.any():  # the threshold is above all training scores
            low, high = high, high + 2.0 * (high - low)
            continue
        first = int(anomalous.argmax())
        between = float(grid[max(first - 1, 0)]), float(grid[first])
        if between == (low, high) or first == 0:
            break
        low, high = between
    return low
