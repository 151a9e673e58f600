"""How unusual a score is among those of normal rows that were held out of training.

Split-conformal p-values: if a new row is exchangeable with the n rows held out, its rank among
them is as good as drawn, so P(p <= a) <= a for every a [1]_.

References
----------
.. [1] S. Bates, E. Candes, L. Lei, Y. Romano, M. Sesia: Testing for Outliers with Conformal
   p-values, 2023; also why Benjamini-Hochberg holds its rate although all p-values share the rows
   held out.
"""

from __future__ import annotations

from math import ceil
from numbers import Real
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from scipy.stats import false_discovery_control
from sklearn.utils.validation import check_is_fitted

from .._decisions import Decisions
from .._input import Floats
from .._warning import warn_user


class Scored(NamedTuple):
    """A detector's scores, the calibration terms, and the calibrated scores of some rows.

    Attributes
    ----------
    base_score, delta, score : ndarray of shape (n,)
        The detector's score, the term, and the calibrated score.
    p_value : ndarray of shape (n,) or None
        None without normal rows held out of training.
    """

    base_score: Floats
    delta: Floats
    score: Floats
    p_value: Floats | None = None


class ConformalDecisions(Decisions):
    """Decisions by normal rows held out of training, beside PyOD's by the training rows."""

    normal_: Scored | None
    rows_depend_: bool

    def scored(self, X: Any) -> Scored:
        """All that makes up the score of each row."""
        raise NotImplementedError

    @property
    def gives_p_values(self) -> bool:
        """Whether there are normal rows held out of training."""
        check_is_fitted(self)
        return self.normal_ is not None

    def calibrate_threshold(self, X_normal: Any) -> Self:
        """Judge new rows by these: normal rows that were not used for training.

        They replace those that `fit` held out, if any. `threshold_` stays.

        Parameters
        ----------
        X_normal : array-like or data frame of shape (n, D)

        Returns
        -------
        self
        """
        self.normal_ = self.scored(X_normal)._replace(p_value=None)
        return self

    def p_value(self, X: Any) -> Floats:
        """How often a normal row scores as high as each row, at most.

        Split-conformal: of rows like those held out of training, on average at most a share a has a
        p-value of a or less, for every a; on average over the rows that may be held out, so with
        few of them a single model may be off. With n rows held out, the least is 1 / (n + 1).

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
        return p_values(self._normal_scores(), self.decision_function(X))

    def percentile(self, X: Any) -> Floats:
        """The percentage, 0 to 100, of the rows held out that score lower than each row; of those
        that score the same, half.

        Parameters
        ----------
        X : array-like or data frame of shape (n, D)

        Returns
        -------
        ndarray of shape (n,)
        """
        return percentiles(self._normal_scores(), self.decision_function(X))

    def select(self, X: Any, fdr: float = 0.05) -> npt.NDArray[np.bool_]:
        """The rows to act on, so that on average at most a share `fdr` of them is normal.

        Benjamini and Hochberg's procedure on `p_value`. Which rows are selected depends on all
        rows of the call; `predict(X, alarm_rate=...)` judges each by itself.

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
        p = self.p_value(X)
        selected = discoveries(p, fdr)
        if len(p) and not selected.any():
            warn_if_none_can_be_selected(len(p), len(self._normal_scores()), fdr)
        return selected

    def predict(self, X: Any, *, alarm_rate: float | None = None) -> npt.NDArray[np.int64]:
        """1 for anomalies, 0 for normal rows.

        Parameters
        ----------
        X : array-like or data frame of shape (n, D)
        alarm_rate : float in (0, 1), optional
            The share of normal rows that may be called anomalies, on average: those with a
            `p_value` of this or less. None: the rows above `threshold_`, as PyOD does it.

        Returns
        -------
        ndarray of shape (n,)
        """
        if alarm_rate is None:
            return super().predict(X)
        check_alarm_rate(alarm_rate, len(self._normal_scores()))
        return (self.p_value(X) <= alarm_rate).astype(np.int64)

    def _normal_scores(self) -> Floats:
        check_is_fitted(self)
        if self.normal_ is None:
            raise ValueError(
                "this needs normal rows that were not used for training: fit with holdout=0.2, or "
                "pass such rows to calibrate_threshold"
            )
        if self.rows_depend_:
            warn_user(
                "scores depend on the other rows of a call, so p-values hold only for calls with "
                "rows like those held out."
            )
        return self.normal_.score


def p_values(normal: Floats, scores: Floats) -> Floats:
    """(1 + the number of normal scores as high or higher) / (1 + the number of normal scores).

    Examples
    --------
    >>> p_values(np.array([1.0, 2.0, 2.0, 3.0]), np.array([0.0, 2.0, 9.0]))
    array([1. , 0.8, 0.2])
    """
    lower = np.searchsorted(np.sort(normal), scores, side="left")
    n: int = len(normal)
    return np.asarray((1 + n - lower) / (1 + n), dtype=np.float64)


def percentiles(normal: Floats, scores: Floats) -> Floats:
    """The percentage of normal scores that are lower; equal ones count half.

    Examples
    --------
    >>> percentiles(np.array([1.0, 2.0, 2.0, 3.0]), np.array([0.0, 2.0, 9.0]))
    array([  0.,  50., 100.])
    """
    ordered = np.sort(normal)
    lower = np.searchsorted(ordered, scores, side="left")
    not_higher = np.searchsorted(ordered, scores, side="right")
    return np.asarray(50 * (lower + not_higher) / len(ordered), dtype=np.float64)


def discoveries(p: Floats, fdr: float) -> npt.NDArray[np.bool_]:
    """The rows to act on, by Benjamini and Hochberg."""
    if not len(p):
        return np.zeros(0, dtype=bool)
    # Equality is not to be lost by rounding.
    selected: npt.NDArray[np.bool_] = false_discovery_control(p) <= fdr * (1 + 1e-12)
    return selected


def fewest_discoveries(n_rows: int, n_normal: int, fdr: float) -> int:
    """How many rows must have the least p-value there is for any of them to be selected."""
    return ceil(n_rows / (1 + n_normal) / fdr * (1 - 1e-12))


def warn_if_none_can_be_selected(n_rows: int, n_normal: int, fdr: float) -> None:
    """Tell a lack of anomalies from a lack of normal rows held out."""
    fewest = fewest_discoveries(n_rows, n_normal, fdr)
    if fewest > 1:
        at_least = f"fewer than {fewest:,} anomalies" if fewest <= n_rows else "any number of them"
        warn_user(
            f"no row is selected, but {n_normal:,} normal rows held out cannot tell {at_least} "
            f"among {n_rows:,} rows from chance at fdr={fdr:g}. Hold out more rows, "
            f"{ceil(n_rows / fdr):,} to tell a single one; or use predict(X, alarm_rate=...)."
        )


def check_alarm_rate(alarm_rate: Any, n_normal: int) -> None:
    """Raise if so few normal rows can never raise an alarm."""
    check_share("alarm_rate", alarm_rate)
    if 1 / (1 + n_normal) > alarm_rate:
        raise ValueError(
            f"{n_normal:,} normal rows held out cannot show what happens once in "
            f"{1 / alarm_rate:,.0f} rows: alarm_rate={alarm_rate:g} needs "
            f"{ceil(1 / alarm_rate) - 1:,} of them. Hold out more rows, or call "
            "calibrate_threshold with more."
        )


def check_share(name: str, value: Any) -> None:
    """Raise unless a parameter is between 0 and 1."""
    if not (isinstance(value, Real) and 0 < float(value) < 1):
        raise ValueError(f"{name} must be between 0 and 1, not {value!r}")
