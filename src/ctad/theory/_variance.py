"""The variance of the term over random draws of the references."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._validation import check_new_rows
from ..calibration import CTAD, RelaxedCTAD
from ._bounds import fitted_draws

ROUNDING = 1e-12


def variance(
    calibrator: CTAD | RelaxedCTAD,
    X_train: Any,
    X: Any,
    *,
    n_references: Sequence[int] = (5, 10, 20, 40, 80),
    repeats: int = 40,
    seed: int = 0,
) -> dict[int, float]:
    """The variance of the term over random draws of the references, averaged over rows.

    Parameters
    ----------
    calibrator : CTAD or RelaxedCTAD
        Fitted. The centroids of its first draw are kept.
    X_train, X : array-like of shape (n, D), (m, D)
        Rows to draw references from, and rows to compute terms of.
    n_references : sequence of int
        Numbers of references to try; those above n are left out.
    repeats : int, default=40
        Draws for each number.
    seed : int, default=0
        Seed of the draws.

    Returns
    -------
    dict of int to float
        The variance for each number of references.

    Examples
    --------
    >>> import numpy as np
    >>> from ctad import CTAD
    >>> from ctad.theory import variance
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> calibrator = CTAD(random_state=0).fit(X)
    >>> found = variance(calibrator, X, X[:20], n_references=(5, 50))
    >>> found[50] < found[5]
    True
    """
    draw, random = fitted_draws(calibrator)[0], np.random.default_rng(seed)
    training, rows = check_new_rows(calibrator, X_train), check_new_rows(calibrator, X)
    found = {}
    for m in n_references:
        if m > len(training):
            continue
        terms = []
        for _ in range(repeats):
            drawn = draw.with_references(training[random.choice(len(training), m, replace=False)])
            transported = drawn.solve(rows)
            terms.append(transported.total if calibrator.signal_ == "total" else transported.own)
        spread = float(np.var(terms, axis=0, ddof=1).mean())
        found[m] = spread if spread > (ROUNDING * np.mean(terms)) ** 2 else 0.0
    return found
