"""From scores to labels, as PyOD does it."""

from __future__ import annotations

from copy import deepcopy
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from ._input import Floats

POINTS = 1001  # at which a thresholder is asked at a time


class Decisions:
    """PyOD's meaning of threshold and labels, for what has scores of its training rows.

    Attributes
    ----------
    contamination : float in (0, 0.5], or a PyThresh object
        Share of the training rows above `threshold_`, or what finds the threshold.
    decision_scores_ : ndarray of shape (n,)
    threshold_ : float
    labels_ : ndarray of shape (n,)
    """

    contamination: Any
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
        given = self.contamination
        if isinstance(given, Real) and 0 < float(given) <= 0.5:
            return
        if isinstance(given, type) or not (hasattr(given, "eval") and hasattr(given, "fit")):
            raise ValueError(
                f"contamination must be in (0, 0.5], or an object of PyThresh, not {given!r}"
            )

    def _decide(self, scores: Floats) -> None:
        """Threshold and labels by the scores of the training rows."""
        self.decision_scores_ = scores
        self.threshold_ = self._threshold()
        self.labels_ = self._labels(scores)

    def _threshold(self) -> float:
        scores = self.decision_scores_
        if not isinstance(self.contamination, Real):
            return _threshold_by(self.contamination, scores[np.isfinite(scores)])
        level = 100 * (1 - float(self.contamination))
        with np.errstate(invalid="ignore"):
            threshold = np.percentile(scores, level)
        if not np.isfinite(threshold):  # between infinite scores nothing can be interpolated
            threshold = np.percentile(scores, level, method="lower")
        if threshold == np.inf:  # more of them than contamination allows: they alone are anomalies
            threshold = scores[np.isfinite(scores)].max()
        return float(threshold)

    def _labels(self, scores: Floats) -> npt.NDArray[np.int64]:
        return (scores > self.threshold_).astype(np.int64)


def _threshold_by(thresholder: Any, scores: Floats) -> float:
    """The score above which a PyThresh object calls a row an anomaly, from training scores.

    What it keeps itself is on a scale of its own. Some keep nothing and judge rows by each other:
    of these, the highest training score that is called normal.
    """
    fitted = deepcopy(thresholder).fit(scores)
    normal = scores[np.asarray(fitted.labels_) == 0]
    if not len(normal):
        raise ValueError(f"{thresholder!r} calls every training row an anomaly")
    low = float(normal.max())
    if getattr(fitted, "thresh_", None) is None:
        return low
    above = scores[scores > low]
    high = float(above.min()) if len(above) else low + (float(np.ptp(scores)) or 1.0)
    while np.isfinite(high):
        grid = np.linspace(low, high, POINTS)
        anomalous = np.asarray(fitted.predict(grid), dtype=bool)
        if not anomalous.any():  # it is beyond the training rows
            low, high = high, high + 2.0 * (high - low)
            continue
        first = int(anomalous.argmax())
        between = float(grid[max(first - 1, 0)]), float(grid[first])
        if between == (low, high) or first == 0:
            break
        low, high = between
    return low
