"""Which of the rows passed to `fit` are trained on, held out, or kept for comparison."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._types import Booleans, Floats, Integers
from ..errors import InputError

# Training rows that are kept for comparison with new rows; fewer if they are very wide.
SAMPLE_ROWS = 2000
SAMPLE_NUMBERS = 2**21


@dataclass(frozen=True, eq=False)
class RowSplit:
    """Which of the rows passed to `fit` are used for what, by their places.

    Attributes
    ----------
    trained : ndarray of int
        Normal rows to train on.
    held_out : ndarray of int
        Normal rows held out of training.
    n_anomalies : int
        The number of rows that are labelled as anomalies and not used.
    """

    trained: Integers
    held_out: Integers
    n_anomalies: int


def split_rows(
    n: int, anomalous: Booleans | None, holdout: float | None, random: np.random.RandomState
) -> RowSplit:
    """Leave out anomalies, and hold a random share of the normal rows out of training.

    Parameters
    ----------
    n : int
        The number of rows.
    anomalous : ndarray of bool or None
        None: all rows are normal.
    holdout : float or None
        The share to hold out.
    random : RandomState
    """
    normal = np.arange(n) if anomalous is None else np.flatnonzero(~anomalous)
    n_anomalies = n - len(normal)
    if n_anomalies and len(normal) < 2:
        raise InputError(
            f"y labels {len(normal)} of {n} rows as normal: training needs at least 2 normal rows"
        )
    if holdout is None:
        return RowSplit(normal, normal[:0], n_anomalies)
    n_held_out = round(holdout * len(normal))
    n_trained = len(normal) - n_held_out
    if n_held_out < 1 or n_trained < 2:
        raise InputError(
            f"holdout={holdout:g} of {len(normal)} rows leaves {n_trained} to train on and "
            f"{n_held_out} to hold out: at least 2 and 1 are needed"
        )
    trained, held_out = np.split(random.permutation(len(normal)), [n_trained])
    return RowSplit(normal[np.sort(trained)], normal[np.sort(held_out)], n_anomalies)


def training_sample(rows: Floats) -> Floats:
    """Up to 2,000 training rows, chosen at random, in their order."""
    n, n_features = rows.shape
    wanted = max(1, min(SAMPLE_ROWS, SAMPLE_NUMBERS // n_features))
    if n <= wanted:
        return rows.copy()
    places = np.random.default_rng(0).choice(n, wanted, replace=False)
    sample: Floats = rows[np.sort(places)]
    return sample
