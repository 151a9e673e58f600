"""CalibratedDetector: any detector, with calibrated scores."""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state, check_scalar
from sklearn.utils.validation import check_is_fitted

from .._input import Rows, Scores, is_frame, new_rows, one_of, training_rows
from ..calibration import CTAD, BaseCalibrator
from ._scoring import (
    POLARITIES,
    final_step,
    is_fitted,
    reading_of,
    scores_depend_on_other_rows,
    scores_in_full_blocks,
    scores_of,
    training_scores,
)


class CalibratedDetector(BaseEstimator):
    """Wrap any anomaly detector and calibrate its scores.

    Parameters
    ----------
    detector : PyOD or scikit-learn detector, object with `fit` and `decision_function` or \
            `score_samples`, or function of X
        Cloned and fitted by `fit`. One that is already fitted, in a `FrozenEstimator`
        or bare, is used as it is and never retrained; so is a function.
    calibrator : CTAD or another calibrator, default=None
        Cloned and fitted by `fit`. None: `CTAD.from_preset("recommended")`.
    polarity : {"auto", "higher", "lower"}, default="auto"
        Whether higher or lower scores of the detector are more anomalous. "auto" knows
        PyOD and scikit-learn, also in pipelines; anything else must say.
    contamination : float in (0, 0.5], default=0.1
        Share of the training rows above `threshold_`, as in PyOD.
    random_state : int, RandomState instance or None, default=None
        Seeds every `random_state` of detector and calibrator that is None.

    Attributes
    ----------
    detector_ : the fitted detector
    calibrator_ : the fitted calibrator
    decision_scores_ : ndarray of shape (n,)
        Calibrated scores of the training rows. The detector's part is its own
        `decision_scores_` where it keeps them, as PyOD's do.
    threshold_ : float
        The score above which a row is an anomaly.
    labels_ : ndarray of shape (n,)
        Labels of the training rows, 1 = anomaly.
    n_features_in_ : int
    feature_names_in_ : ndarray of str, only if the training rows had named columns

    Notes
    -----
    A row's score does not depend on the other rows of the call. If the wrapped detector
    breaks this rule, as PyOD's ECOD does, `fit` warns and names it.

    `GridSearchCV(scoring="roc_auc")` needs scikit-learn 1.9: until then its scorers accept
    `decision_function` only from classifiers and from detectors that predict -1 and 1.

    A detector that was fitted before is assumed to have been fitted on the rows passed
    to `fit` here, if it kept as many training scores; else these rows are scored anew.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.ensemble import IsolationForest
    >>> from ctad import CalibratedDetector
    >>> X_train = np.random.default_rng(0).normal(size=(300, 2))
    >>> detector = CalibratedDetector(IsolationForest(), random_state=0).fit(X_train)
    >>> normal, far_away = detector.anomaly_score([[0.0, 0.0], [9.0, 9.0]])
    >>> bool(far_away > normal)
    True
    >>> detector.predict([[0.0, 0.0], [9.0, 9.0]])
    array([0, 1])
    """

    def __init__(
        self,
        detector: Any,
        calibrator: BaseCalibrator | None = None,
        *,
        polarity: str = "auto",
        contamination: float = 0.1,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.detector = detector
        self.calibrator = calibrator
        self.polarity = polarity
        self.contamination = contamination
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the detector, unless it is fitted already, and the calibrator.

        Parameters
        ----------
        X : array-like or data frame of shape (n, D)
            Normal rows.
        y : ignored

        Returns
        -------
        self
        """
        one_of("polarity", self.polarity, POLARITIES)
        check_scalar(
            self.contamination, "contamination", Real, min_val=0, max_val=0.5,
            include_boundaries="right",
        )  # fmt: skip
        self._reading = reading_of(self.detector, self.polarity)
        rows = training_rows(self, X)
        random = check_random_state(self.random_state)

        if is_fitted(self.detector):
            self.detector_ = self.detector
        else:
            self.detector_ = self._seeded_clone(self.detector, random)
            self.detector_.fit(X if is_frame(X) else rows)
        calibrator = CTAD.from_preset() if self.calibrator is None else self.calibrator
        self.calibrator_ = self._seeded_clone(calibrator, random)

        detector_rows = self._detector_rows(X, rows)
        self._rows_depend = scores_depend_on_other_rows(
            self.detector_, self._reading, detector_rows
        )
        if self._rows_depend:
            warnings.warn(
                f"{type(final_step(self.detector_)).__name__} scores a row differently alone and "
                "among others, so calibrated scores also depend on the other rows of a call.",
                UserWarning,
                stacklevel=2,
            )
        base = training_scores(self.detector_, self._reading, len(rows))
        if base is None:
            base = self._base_score(detector_rows)
        self.calibrator_.fit(rows, scores=base)
        self.decision_scores_ = self.calibrator_.calibrate(base, rows)
        self._set_threshold()
        return self

    def base_score(self, X: Any) -> Scores:
        """The wrapped detector's score of each row, turned so that higher = more anomalous.

        Parameters
        ----------
        X : array-like or data frame of shape (n, D)

        Returns
        -------
        ndarray of shape (n,)
        """
        check_is_fitted(self)
        return self._base_score(self._detector_rows(X, new_rows(self, X)))

    def anomaly_score(self, X: Any) -> Scores:
        """The calibrated score of each row: higher = more anomalous.

        Parameters
        ----------
        X : array-like or data frame of shape (n, D)

        Returns
        -------
        ndarray of shape (n,)
        """
        check_is_fitted(self)
        rows = new_rows(self, X)
        base = self._base_score(self._detector_rows(X, rows))
        calibrated: Scores = self.calibrator_.calibrate(base, rows)
        return calibrated

    def decision_function(self, X: Any) -> Scores:
        """The same as `anomaly_score`, under PyOD's name."""
        return self.anomaly_score(X)

    def predict(self, X: Any) -> npt.NDArray[np.int64]:
        """1 for anomalies, 0 for normal rows, as PyOD does it.

        Parameters
        ----------
        X : array-like or data frame of shape (n, D)

        Returns
        -------
        ndarray of shape (n,)
        """
        return (self.anomaly_score(X) > self.threshold_).astype(np.int64)

    def predict_proba(self, X: Any) -> Scores:
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
        scores = self.anomaly_score(X)
        finite = self.decision_scores_[np.isfinite(self.decision_scores_)]
        low, high = finite.min(), finite.max()
        anomalous = np.clip((scores - low) / ((high - low) or 1.0), 0.0, 1.0)
        return np.column_stack([1.0 - anomalous, anomalous])

    def _base_score(self, detector_rows: Any) -> Scores:
        score = scores_of if self._rows_depend else scores_in_full_blocks
        return score(self.detector_, self._reading, detector_rows)

    def _detector_rows(self, X: Any, rows: Rows) -> Any:
        """A frame for detectors that know column names or are not known to us."""
        if not is_frame(X):
            return rows
        knows_names = hasattr(self.detector_, "feature_names_in_")
        is_estimator = isinstance(self.detector_, BaseEstimator)
        return X if knows_names or not is_estimator else rows

    def _seeded_clone(self, estimator: Any, random: np.random.RandomState) -> Any:
        copy = clone(estimator, safe=False)
        if self.random_state is not None and hasattr(copy, "get_params"):
            unset = [
                name
                for name, value in sorted(copy.get_params(deep=True).items())
                if name.rpartition("__")[2] == "random_state" and value is None
            ]
            copy.set_params(**{name: random.randint(2**31 - 1) for name in unset})
        return copy

    def _set_threshold(self) -> None:
        level = 100 * (1 - self.contamination)
        with np.errstate(invalid="ignore"):
            threshold = np.percentile(self.decision_scores_, level)
        if np.isnan(threshold):  # between infinite scores there is nothing to interpolate
            threshold = np.percentile(self.decision_scores_, level, method="lower")
        self.threshold_ = float(threshold)
        self.labels_ = (self.decision_scores_ > self.threshold_).astype(np.int64)
