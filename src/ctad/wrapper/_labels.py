"""Labels of rows: 1 for anomalies, 0 for normal rows."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from .._types import Booleans
from .._warnings import warn_user
from ..errors import InputError


def training_labels(y: Any, n: int) -> Booleans | None:
    """Labels of n training rows, true for anomalies; None if `y` is another kind of target.

    scikit-learn's tools pass the target of a data set to `fit`, whatever it is, and its outlier
    detectors ignore it. So do we, with a warning. The labels -1 and 1 raise an error: if they were
    ignored, anomalies would be trained on.

    Examples
    --------
    >>> training_labels([0, 1, 0], 3)
    array([False,  True, False])
    """
    values = _distinct_numbers(y)
    if values == {-1, 1}:
        raise InputError("y has labels -1 and 1: use 1 for anomalies and 0 for normal rows")
    if np.shape(y) == (n,) and (values is None or not values <= {0, 1}):
        warn_user(
            "y was ignored, and all rows were trained on: labels must be 1 for anomalies and 0 for "
            "normal rows, without missing values."
        )
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
    values = _distinct_numbers(labels)
    if values is None or not values <= {0, 1}:
        raise InputError("y must be 1 for anomalies and 0 for normal rows")
    return labels.astype(bool)


def _distinct_numbers(y: Any) -> set[Any] | None:
    """The distinct values of `y` if all are real numbers or booleans, also as objects; else None.

    pandas has objects where a column of nullable integers or of mixed types is converted.
    """
    labels = np.asarray(y)
    if labels.dtype.kind in "biuf":
        return set(np.unique(labels).tolist())
    if labels.dtype.kind == "O" and all(isinstance(v, Real | np.bool_) for v in labels.flat):
        return set(labels.flat)
    return None
