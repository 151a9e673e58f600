"""Whether calibration will change much, from training rows alone."""

from __future__ import annotations

from math import isnan
from typing import NamedTuple

from scipy.stats import spearmanr

from .._input import Floats


class Seen(NamedTuple):
    """What the study saw, chosen without the data set it is judged on (docs/recommended.md)."""

    up_to: float  # agreement
    mean_gain: float  # in AUC-PR
    share_gaining: float
    share_losing: float  # more than 0.02


SEEN = (
    Seen(0.25, 0.163, 0.86, 0.06),
    Seen(0.50, 0.099, 0.85, 0.05),
    Seen(0.70, 0.040, 0.75, 0.10),
    Seen(1.00, 0.008, 0.56, 0.17),
)


# The correlation of n rows is known to about 1 / sqrt(n): with fewer it may be anything.
FEWEST_ROWS = 30


def agreement(scores: Floats, terms: Floats) -> float:
    """Spearman's rank correlation; NaN if all of either are equal, so that there is no order.

    Examples
    --------
    >>> import numpy as np
    >>> agreement(np.array([1.0, 2.0, 3.0]), np.array([0.2, 0.1, 7.0]))
    0.5
    """
    if (scores == scores[0]).all() or (terms == terms[0]).all():
        return float("nan")
    return float(spearmanr(scores, terms).statistic)


def what_to_expect(agreement: float, n_rows: int) -> str:
    """What such calibration did in our study where score and term agreed as much.

    Parameters
    ----------
    agreement : float
        As in `CTAD.agreement_`.
    n_rows : int
        The number of training rows it was measured on.

    Examples
    --------
    >>> from ctad.calibration import what_to_expect
    >>> what_to_expect(0.8, 500).partition(". ")[0]
    'Agreement of score and term on training rows: 0.80 (1: the same order, 0: unrelated)'
    """
    if isnan(agreement):
        return (
            "Whether calibration will help cannot be told: all training rows have the same score, "
            "or the same term."
        )
    if n_rows < FEWEST_ROWS:
        return f"Whether calibration will help cannot be told from {n_rows} training rows."
    seen = next((seen for seen in SEEN if agreement <= seen.up_to), SEEN[-1])
    return (
        f"Agreement of score and term on training rows: {agreement:.2f} (1: the same order, 0: "
        "unrelated). In such cases of our study over 32 data sets calibration added "
        f"{seen.mean_gain:.2g} to AUC-PR on average: {seen.share_gaining:.0%} of them gained, "
        f"{seen.share_losing:.0%} lost more than 0.02."
    )
