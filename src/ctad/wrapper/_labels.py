"""Labels of rows: 1 for anomalies, 0 for normal rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._types import Booleans
from ..errors import InputError


def training_labels(y: Any, n: int) -> Booleans | None:
    """Labels of n training rows, true for anomalies; None if `y` is another kind of target.

    scikit-learn's tools pass the target of a data set to `fit`, whatever it is, and its outlier
    detectors ignore it. The labels -1 and 1 raise an error: if they were ignored, anomalies would
    be trained on.

    Examples
    --------
    >>> training_labels([0, 1, 0], 3)
    array([False,  True, False])
    >>> training_labels([0.5, 7.0, 0.1], 3)
    """
    labels = np.asarray(y)
    if labels.shape == (n,) and labels.dtype.kind in "biuf":
        values = set(np.unique(labels).tolist())
        if values == {-1, 1}:
            raise InputError("y has labels -1 and 1: use 1 for anomalies and 0 for normal rows")
        if not values <= {0, 1}:
            return None
    elif labels.shape == (n,):
        return None
    return anomaly_labels(y, n)


def anomaly_labels(y: Any, n: int) -> Booleans:
    """Check labels of n rows; true for anomalies.

    Examples
    --------
    >>> anomaly_labels([0, 1, 0], 3)
    array([False,  True, False])
    """
    labels = np.asarray(y)
    if labels.shape != (n,):
        raise InputError(f"y must have one label per row, {n}, not shape {labels.shape}")
    if not np.isin(labels, (0, 1)).all():
        raise InputError("y must be 1 for anomalies and 0 for normal rows")
    return labels.astype(bool)
