"""How much the term of a row depends on which references were drawn, measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from ..calibration import CTAD


def variance(
    calibrator: CTAD,
    X_train: Any,
    X: Any,
    *,
    n_references: Sequence[int] = (5, 10, 20, 40, 80),
    repeats: int = 20,
) -> dict[int, float]:
    """The variance of the term over draws, the mean over rows, for several numbers of references.

    Parameters
    ----------
    calibrator : CTAD
        Its other settings are kept, with a single draw.
    X_train, X : array-like of shape (n, D), (m, D)
        Rows to draw from, rows to look at.
    n_references : sequence of int
    repeats : int, default=20
        Draws for each number.

    Returns
    -------
    dict of int to float

    Examples
    --------
    >>> import numpy as np
    >>> from ctad import CTAD
    >>> from ctad.theory import variance
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> found = variance(CTAD(), X, X[:20], n_references=(5, 50))
    >>> found[50] < found[5]
    True
    """
    found = {}
    for m in n_references:
        one = clone(calibrator).set_params(n_references=m, n_draws=1)
        terms = [one.set_params(random_state=seed).fit(X_train).delta(X) for seed in range(repeats)]
        found[m] = float(np.var(terms, axis=0, ddof=1).mean())
    return found
