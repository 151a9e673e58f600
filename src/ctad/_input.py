"""Checks of what users pass in, on top of scikit-learn's own."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils import check_array, check_consistent_length
from sklearn.utils.validation import validate_data

Rows = npt.NDArray[np.floating[Any]]
Scores = npt.NDArray[np.float64]

LARGEST_EXACT_INTEGER = 2**53


def training_rows(estimator: BaseEstimator, X: Any) -> Scores:
    """Check the rows to learn from and remember their columns on `estimator`."""
    _check_columns(X)
    rows: Scores = validate_data(
        estimator, X, dtype=np.float64, ensure_all_finite=False, ensure_min_samples=2
    )
    _require_finite(rows, estimator, X)
    return rows


def new_rows(estimator: BaseEstimator, X: Any) -> Rows:
    """Check rows against the columns `estimator` was fitted on; float32 stays float32."""
    _check_columns(X)
    rows: Rows = validate_data(
        estimator, X, dtype=(np.float64, np.float32), ensure_all_finite=False, reset=False
    )
    _require_finite(rows, estimator, X)
    return rows


def checked_scores(scores: Any, X: Any, origin: str = "scores") -> Scores:
    """One number per row of `X`; infinite ones are allowed, NaN is not."""
    values: Scores = check_array(
        scores, dtype=np.float64, ensure_2d=False, ensure_all_finite=False, input_name=origin
    )
    if values.ndim != 1:
        raise ValueError(f"{origin} must be one number per row, got shape {values.shape}")
    check_consistent_length(values, X)
    missing = np.isnan(values)
    if missing.any():
        raise ValueError(
            f"{origin}: {missing.sum()} of {len(values)} are NaN, the first at row "
            f"{int(missing.argmax())}. Every row needs a score."
        )
    return values


def one_of(name: str, value: Any, choices: Any) -> None:
    """Raise unless `value` is one of the named `choices`."""
    if value not in tuple(choices):
        listed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be one of {listed}, not {value!r}")


def _require_finite(rows: Rows, estimator: BaseEstimator, X: Any) -> None:
    """Like scikit-learn's check, but names the columns."""
    with np.errstate(all="ignore"):
        if np.isfinite(rows.sum(dtype=np.float64)):
            return
    names = X.columns if is_frame(X) else range(rows.shape[1])
    for column, name in enumerate(names):
        bad = ~np.isfinite(rows[:, column])
        if bad.any():
            row = int(bad.argmax())
            what = "NaN" if np.isnan(rows[row, column]) else "infinity"
            raise ValueError(
                f"Input X contains {what}: column {name!r}, row {row} ({bad.sum()} of {len(bad)} "
                f"rows of this column are not finite). {type(estimator).__name__} does not accept "
                "NaN or inf; drop these rows or impute them first."
            )


def is_frame(X: Any) -> bool:
    """Whether `X` is a data frame (pandas, polars) with named, typed columns."""
    return hasattr(X, "columns") and hasattr(X, "dtypes")


def _check_columns(X: Any) -> None:
    """Refuse what would become another number, or an unclear error, as floating point."""
    if is_frame(X):
        for name in X.columns:
            values = np.asarray(X[name])
            if values.dtype.kind not in "biufcO" or not _is_numeric(values):
                raise ValueError(
                    f"Column {name!r} is not numeric (dtype {X[name].dtype}): "
                    "encode it as numbers or drop it."
                )
            _refuse_inexact_integers(values, f"Column {name!r}")
    elif isinstance(X, np.ndarray):
        _refuse_inexact_integers(X, "Input X")


def _is_numeric(values: npt.NDArray[Any]) -> bool:
    if values.dtype.kind == "O":
        try:
            values.astype(np.float64)
        except (TypeError, ValueError):
            return False
    return True


def _refuse_inexact_integers(values: npt.NDArray[Any], where: str) -> None:
    """Integers beyond 2**53 are not what they were once they are floats."""
    if values.dtype.kind in "iu" and values.dtype.itemsize == 8 and values.size:
        largest = max(-int(values.min()), int(values.max()))
        if largest > LARGEST_EXACT_INTEGER:
            raise ValueError(
                f"{where} has integers up to {largest}, which floating point cannot hold "
                "exactly (beyond 2**53). If it is an identifier, drop it; else scale it."
            )
