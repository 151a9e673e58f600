"""False-alarm rates: decisions by the scores of normal rows held out of training.

Split-conformal p-values: if a new row is exchangeable with the n rows held out, its rank among
them is uniform, so P(p <= a) <= a for every a [1]_.

References
----------
.. [1] S. Bates, E. Candes, L. Lei, Y. Romano, M. Sesia: Testing for Outliers with Conformal
   p-values, 2023. It also shows that Benjamini-Hochberg keeps its rate although all p-values share
   the rows held out.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor

import numpy as np
from scipy.stats import false_discovery_control

from .._types import Booleans, Floats, Integers
from .._validation import check_share
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
    >>> import numpy as np
    >>> from ctad.wrapper import ConformalDecisions
    >>> decisions = ConformalDecisions(np.arange(99.0))
    >>> scores = np.array([0.0, 95.0, 500.0])
    >>> decisions.p_values(scores)
    array([1.  , 0.05, 0.01])
    >>> decisions.alarms(scores, alarm_rate=0.05)
    array([0, 1, 1])
    >>> decisions.threshold(0.05)
    94.0
    """

    normal_scores: Floats

    def p_values(self, scores: Floats) -> Floats:
        """The split-conformal p-value of each score.

        It is (1 + the number of normal scores as high or higher) / (1 + the number of normal
        scores).

        Parameters
        ----------
        scores : ndarray of shape (n,)

        Returns
        -------
        ndarray of shape (n,)
        """
        n = len(self.normal_scores)
        lower = np.searchsorted(np.sort(self.normal_scores), scores, side="left")
        return np.asarray((1 + n - lower) / (1 + n), dtype=np.float64)

    def percentiles(self, scores: Floats) -> Floats:
        """The percentage of normal scores below each score; equal ones count half.

        Parameters
        ----------
        scores : ndarray of shape (n,)

        Returns
        -------
        ndarray of shape (n,)
        """
        ordered = np.sort(self.normal_scores)
        lower = np.searchsorted(ordered, scores, side="left")
        not_higher = np.searchsorted(ordered, scores, side="right")
        return np.asarray(50 * (lower + not_higher) / len(ordered), dtype=np.float64)

    def select(self, scores: Floats, fdr: float) -> Booleans:
        """The rows to act on at this false discovery rate.

        Warn if no row is selected because there are too few normal scores.

        Parameters
        ----------
        scores : ndarray of shape (n,)
        fdr : float in (0, 1)

        Returns
        -------
        ndarray of bool, of shape (n,)
        """
        check_share("fdr", fdr)
        selected = discoveries(self.p_values(scores), fdr)
        n, n_normal = len(scores), len(self.normal_scores)
        fewest = fewest_discoveries(n, n_normal, fdr)
        if not selected.any() and fewest > 1:
            detectable = f"fewer than {fewest:,} anomalies" if fewest <= n else "any number of them"
            warn_user(
                f"no row is selected, but {n_normal:,} normal rows held out are too few to detect "
                f"{detectable} among {n:,} rows at fdr={fdr:g}. Hold out more rows, "
                f"{ceil(n / fdr):,} to detect a single one; or use predict(X, alarm_rate=...)."
            )
        return selected

    def alarms(self, scores: Floats, alarm_rate: float) -> Integers:
        """1 for scores with a p-value of `alarm_rate` or less, else 0.

        Parameters
        ----------
        scores : ndarray of shape (n,)
        alarm_rate : float in (0, 1)
            The false-alarm rate: the share of normal rows that raise an alarm, on average at most.

        Returns
        -------
        ndarray of shape (n,)
        """
        check_share("alarm_rate", alarm_rate)
        n = len(self.normal_scores)
        if 1 / (1 + n) > alarm_rate:
            raise InputError(
                f"{n:,} normal rows held out are too few: alarm_rate={alarm_rate:g} needs "
                f"{_rows_needed(alarm_rate):,} of them. Hold out more rows, or pass more to "
                "conformalize."
            )
        return (self.p_values(scores) <= alarm_rate).astype(np.int64)

    def threshold(self, alarm_rate: float) -> float:
        """The score above which the p-value is `alarm_rate` or less.

        With k the largest integer for which k / (n + 1) <= alarm_rate, this is the k-th largest of
        the n normal scores. If k is 0, it is the largest of them, with a warning.

        Parameters
        ----------
        alarm_rate : float in (0, 1)

        Returns
        -------
        float
        """
        n = len(self.normal_scores)
        k = floor(alarm_rate * (n + 1))
        k += (k + 1) / (n + 1) <= alarm_rate  # the product may be rounded down
        if k < 1:
            warn_user(
                f"{n:,} normal rows held out are too few for a false-alarm rate of "
                f"{alarm_rate:g}, which needs {_rows_needed(alarm_rate):,}: threshold_ is their "
                f"highest score, for a rate of {1 / (n + 1):.3g}."
            )
            k = 1
        return float(np.sort(self.normal_scores)[-k])


def discoveries(p_values: Floats, fdr: float) -> Booleans:
    """The rows to act on, by Benjamini and Hochberg's procedure."""
    if not len(p_values):
        return np.zeros(0, dtype=bool)
    # The factor keeps p-values that equal the limit up to rounding.
    selected: Booleans = false_discovery_control(p_values) <= fdr * (1 + 1e-12)
    return selected


def fewest_discoveries(n_rows: int, n_normal: int, fdr: float) -> int:
    """The number of rows that must have the smallest possible p-value for any to be selected."""
    return ceil(n_rows / (1 + n_normal) / fdr * (1 - 1e-12))


def _rows_needed(alarm_rate: float) -> int:
    """The number of normal rows from which on the smallest p-value is `alarm_rate` or less."""
    return ceil(1 / max(alarm_rate, 1e-300)) - 1  # the inverse of a smaller number is infinite
