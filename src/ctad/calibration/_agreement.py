"""Whether calibration will change much, from training rows alone."""

from __future__ import annotations

from scipy.stats import spearmanr

from .._input import Floats

# Over 32 data sets and 7 detectors, calibration gained much below the first, little above the
# second: docs/recommended.md.
LOW, HIGH = 0.25, 0.7


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
    """A sentence about it."""
    much = "little" if agreement > HIGH else "much" if agreement < LOW else "somewhat"
    return (
        f"Score and term rank training rows alike to {agreement:.2f} (1: in the same order, 0: not "
        f"at all): expect calibration to change {much}."
    )
