"""How much gain to expect from calibration, estimated from training rows alone."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan

from scipy.stats import spearmanr

from .._types import Floats


@dataclass(frozen=True)
class StudyResult:
    """Gains by agreement of score and term (docs/recommended.md), on tables that were not used to
    make the method."""

    up_to: float  # the largest agreement
    mean_gain: float  # in AUC-PR
    share_gaining: float
    share_error: float  # how far `share_gaining` was off on tables not used for it, on average
    share_losing: float  # more than 0.02


STUDY = (
    StudyResult(0.50, 0.082, 0.70, 0.18, 0.13),
    StudyResult(0.70, 0.051, 0.73, 0.09, 0.17),
    StudyResult(1.00, 0.015, 0.57, 0.08, 0.19),
)
N_TABLES = 44


# The standard error of the correlation is about 1 / sqrt(n), too large with fewer rows.
MIN_ROWS = 30


def agreement(scores: Floats, terms: Floats) -> float:
    """Spearman's rank correlation; NaN if all scores or all terms are equal.

    Examples
    --------
    >>> import numpy as np
    >>> agreement(np.array([1.0, 2.0, 3.0]), np.array([0.2, 0.1, 7.0]))
    0.5
    """
    if (scores == scores[0]).all() or (terms == terms[0]).all():
        return float("nan")
    return float(spearmanr(scores, terms).statistic)


def expected_gain(agreement: float, n_rows: int) -> str:
    """The gain to expect from calibration, in words: that of our study at this agreement.

    Parameters
    ----------
    agreement : float
        As in `CTAD.agreement_`.
    n_rows : int
        The number of training rows it was measured on.

    Returns
    -------
    str

    Examples
    --------
    >>> from ctad.calibration import expected_gain
    >>> expected_gain(0.8, 500).partition(". ")[0]
    'Agreement of score and term on training rows: 0.80 (1: the same order, 0: unrelated)'
    """
    if isnan(agreement):
        return (
            "The gain from calibration cannot be estimated: all training rows have the same score, "
            "or the same term."
        )
    if n_rows < MIN_ROWS:
        return f"The gain from calibration cannot be estimated from {n_rows} training rows."
    result = next((result for result in STUDY if agreement <= result.up_to), STUDY[-1])
    return (
        f"Agreement of score and term on training rows: {agreement:.2f} (1: the same order, 0: "
        f"unrelated). On {N_TABLES} public tables that were not used to make the method, with and "
        "without anomalies among the training rows, calibration at such agreement added "
        f"{result.mean_gain:.2g} to AUC-PR on average: {100 * result.share_gaining:.0f} % of the "
        f"cases gained (on yet other tables, this share was off by {100 * result.share_error:.0f} "
        f"points), {100 * result.share_losing:.0f} % lost more than 0.02."
    )
