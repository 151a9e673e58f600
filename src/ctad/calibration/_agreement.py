"""Whether calibration will change much, from training rows alone."""

from __future__ import annotations

from typing import NamedTuple

from scipy.stats import spearmanr

from .._input import Floats


class Seen(NamedTuple):
    """What the study behind the recommended preset saw (docs/recommended.md)."""

    up_to: float  # agreement
    mean_gain: float  # in AUC-PR
    share_gaining: float


SEEN = (
    Seen(0.25, 0.19, 0.88),
    Seen(0.50, 0.11, 0.86),
    Seen(0.70, 0.05, 0.72),
    Seen(1.00, 0.01, 0.54),
)


def agreement(scores: Floats, terms: Floats) -> float:
    """Spearman's rank correlation; 0 if all of either are equal.

    Examples
    --------
    >>> import numpy as np
    >>> agreement(np.array([1.0, 2.0, 3.0]), np.array([0.2, 0.1, 7.0]))
    0.5
    """
    if (scores == scores[0]).all() or (terms == terms[0]).all():
        return 0.0
    return float(spearmanr(scores, terms).statistic)


def what_to_expect(agreement: float) -> str:
    """A sentence about it.

    Parameters
    ----------
    agreement : float
        As in `CTAD.agreement_`.

    Examples
    --------
    >>> from ctad.calibration import what_to_expect
    >>> print(what_to_expect(0.8))
    Score and term rank training rows alike to 0.80 (1: in the same order). In such cases of a study
    calibration added 0.01 to AUC-PR on average, and 54 % of them gained.
    """
    seen = next((seen for seen in SEEN if agreement <= seen.up_to), SEEN[-1])
    return (
        f"Score and term rank training rows alike to {agreement:.2f} (1: in the same order). In "
        f"such cases of a study\ncalibration added {seen.mean_gain:.2f} to AUC-PR on average, and "
        f"{seen.share_gaining:.0%} of them gained.".replace("%", " %")
    )
