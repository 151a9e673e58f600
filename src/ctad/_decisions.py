"""From scores to labels, as PyOD does it."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from ._input import Floats


class Decisions:
    """PyOD's meaning of threshold and labels, for what has scores of its training rows.

    Attributes
    ----------
    contamination : float in (0, 0.5]
        Share of the training rows above `threshold_`.
    decision_scores_ : ndarray of shape (n,)
    threshold_ : float
    labels_ : ndarray of shape (n,)
    """

    contamination: float
    decision_scores_: Floats
    threshold_: float
    labels_: npt.NDArray[np.int64]

    def decision_function(self, X: Any) -> Floats:
        """The score of each row: higher = more anomalous."""
        raise NotImplementedError

    def predict(self, X: Any) -> npt.NDArray[np.int64]:
        """1 for anomalies, 0 for normal rows, as PyOD does it.

        Parameters
        ----------
        X : array-like or data frame of shape (n, D)

        Returns
        -------
        ndarray of shape (n,)
        """
        return self._labels(self.decision_function(X))

    def predict_proba(self, X: Any) -> Floats:
        """PyOD's "linear" probabilities: the score's place in the range of training scores.

        These are not calibrated frequencies: 0.9 does not mean that nine of ten such rows
        are anomalies.

        Parameters
        ----------
        X : array-like or data frame of shape (n, D)

        Returns
        -------
        ndarray of shape (n, 2)
            Normal and anomalous.
        """
        scores = self.decision_function(X)
        finite = self.decision_scores_[np.isfinite(self.decision_scores_)]
        low, high = finite.min(), finite.max()
        anomalous = np.clip((scores - low) / ((high - low) or 1.0), 0.0, 1.0)
        return np.column_stack([1.0 - anomalous, anomalous])

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "labels_")

    def _check_contamination(self) -> None:
        if not (isinstance(self.contamination, Real) and 0 < self.contamination <= 0.5):
            raise ValueError(f"contamination must be in (0, 0.5], not {self.contamination!r}")

    def _decide(self, scores: Floats) -> None:
        """Threshold and labels by the scores of the training rows."""
        self.decision_scores_ = scores
        self.threshold_ = self._threshold()
        self.labels_ = self._labels(scores)

    def _threshold(self) -> float:
        scores, level = self.decision_scores_, 100 * (1 - self.contamination)
        with np.errstate(invalid="ignore"):
            threshold = np.percentile(scores, level)
        if not np.isfinite(threshold):  # between infinite scores nothing can be interpolated
            threshold = np.percentile(scores, level, method="lower")
        if threshold == np.inf:  # more of them than contamination allows: they alone are anomalies
            threshold = scores[np.isfinite(scores)].max()
        return float(threshold)

    def _labels(self, scores: Floats) -> npt.NDArray[np.int64]:
        return (scores > self.threshold_).astype(np.int64)
