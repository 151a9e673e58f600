"""Decisions by the scores of normal rows that were held out of training.

Split-conformal p-values: if a new row is exchangeable with the n rows held out, its rank among
them is uniform, so P(p <= a) <= a for every a [1]_.

References
----------
.. [1] S. Bates, E. Candes, L. Lei, Y. Romano, M. Sesia: Testing for Outliers with Conformal
   p-values, 2023; also why Benjamini-Hochberg keeps its rate although all p-values share the rows
   held out.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import false_discovery_control

from .._types import Floats
from .._warnings import warn_user
from ..errors import InputError


@dataclass(frozen=True, eq=False)
class ConformalDecisions:
    """Decide on scores by comparison with scores of normal rows held out of training.

    Attributes
    ----------
    normal_scores : ndarray of shape (n,)
        Higher = more anomalous.

    Examples
    --------
    >>> decisions = ConformalDecisions(np.arange(99.0))
    >>> decisions.p_values(np.array([0.0, 98.0, 500.0]))
    array([1.  , 0.02, 0.01])
    >>> decisions.threshold(0.1)
    89.0
    """

    normal_scores: Floats

    def p_values(self, scores: Floats) -> Floats:
        """The split-conformal p-value of each score."""
        return p_values(self.normal_scores, scores)

    def percentiles(self, scores: Floats) -> Floats:
        """The percentage of normal scores below each score."""
        return percentiles(self.normal_scores, scores)

    def select(self, scores: Floats, fdr: float) -> npt.NDArray[np.bool_]:
        """The rows to act on at this false discovery rate; warn if none could be selected."""
        check_share("fdr", fdr)
        selected = discoveries(self.p_values(scores), fdr)
        if len(scores) and not selected.any():
            warn_if_none_can_be_selected(len(scores), len(self.normal_scores), fdr)
        return selected

    def alarms(self, scores: Floats, alarm_rate: float) -> npt.NDArray[np.int64]:
        """1 for scores with a p-value of `alarm_rate` or less, else 0."""
        check_alarm_rate(alarm_rate, len(self.normal_scores))
        return (self.p_values(scores) <= alarm_rate).astype(np.int64)

    def threshold(self, alarm_rate: float) -> float:
        """The score above which the p-value is `alarm_rate` or less.

        With k the largest integer for which k / (n + 1) <= alarm_rate, this is the k-th largest of
        the n normal scores. If k is 0, it is the largest of them, with a warning.
        """
        n = len(self.normal_scores)
        k = floor(alarm_rate * (n + 1))
        k += (k + 1) / (n + 1) <= alarm_rate  # the product may be rounded down
        if k < 1:
            warn_user(
                f"{n:,} normal rows held out are too few for a false-alarm rate of "
                f"{alarm_rate:g}, which needs {ceil(1 / alarm_rate) - 1:,}: threshold_ is their "
                f"highest score, for a rate of {1 / (n + 1):.3g}."
            )
            k = 1
        return float(np.sort(self.normal_scores)[-k])


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
    # The factor keeps p-values that equal the limit up to rounding.
    selected: npt.NDArray[np.bool_] = false_discovery_control(p) <= fdr * (1 + 1e-12)
    return selected


def fewest_discoveries(n_rows: int, n_normal: int, fdr: float) -> int:
    """The number of rows that must have the smallest possible p-value for any to be selected."""
    return ceil(n_rows / (1 + n_normal) / fdr * (1 - 1e-12))


def warn_if_none_can_be_selected(n_rows: int, n_normal: int, fdr: float) -> None:
    """Warn if no row is selected because too few normal rows were held out."""
    fewest = fewest_discoveries(n_rows, n_normal, fdr)
    if fewest > 1:
        at_least = f"fewer than {fewest:,} anomalies" if fewest <= n_rows else "any number of them"
        warn_user(
            f"no row is selected, but {n_normal:,} normal rows held out are too few to detect "
            f"{at_least} among {n_rows:,} rows at fdr={fdr:g}. Hold out more rows, "
            f"{ceil(n_rows / fdr):,} to detect a single one; or use predict(X, alarm_rate=...)."
        )


def check_alarm_rate(alarm_rate: Any, n_normal: int) -> None:
    """Raise if too few normal rows are held out for any alarm at this rate."""
    check_share("alarm_rate", alarm_rate)
    if 1 / (1 + n_normal) > alarm_rate:
        raise InputError(
            f"{n_normal:,} normal rows held out are too few: alarm_rate={alarm_rate:g} needs "
            f"{ceil(1 / alarm_rate) - 1:,} of them. Hold out more rows, or pass more to "
            "conformalize."
        )


def check_share(name: str, value: Any) -> None:
    """Raise unless a parameter is between 0 and 1."""
    if not (isinstance(value, Real) and 0 < float(value) < 1):
        raise InputError(f"{name} must be between 0 and 1, not {value!r}")
