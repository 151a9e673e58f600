"""Input checks, on top of scikit-learn's own. Types of arrays are in `_types`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from numbers import Integral, Real
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import validate_data

from ._frames import check_unique_names, column_names, is_table
from ._types import Floats, Rows
from .errors import InputError

LARGEST_EXACT_INTEGER = 2**53
LARGEST_VALUE = 1e100  # squares of larger values may overflow in distances


def check_training_rows(estimator: BaseEstimator, X: Any) -> Floats:
    """Check rows to train on; set `n_features_in_` and `feature_names_in_` of `estimator`."""
    with _as_input_error():
        _check_columns(X)
        rows: Floats = validate_data(
            estimator, X, dtype=np.float64, ensure_all_finite=False, ensure_min_samples=2
        )
    _check_finite(rows, estimator, X)
    return rows


def check_new_rows(estimator: BaseEstimator, X: Any) -> Rows:
    """Check rows to score against the columns of training; float32 stays float32."""
    if (
        is_float_array(X, 2)
        and len(X) > 0
        and X.shape[1] == getattr(estimator, "n_features_in_", None)
        and not hasattr(estimator, "feature_names_in_")
    ):
        # It would pass all checks; for a single row these take longer than its score.
        plain: Rows = X
        _check_finite(plain, estimator, X)
        return plain
    with _as_input_error():
        _check_columns(X)
        rows: Rows = validate_data(
            estimator, X, dtype=(np.float64, np.float32), ensure_all_finite=False, reset=False
        )
    _check_finite(rows, estimator, X)
    return rows


def check_scores(scores: Any, X: Any, origin: str = "scores") -> Floats:
    """Check that there is one score per row of `X`. Infinity is allowed, NaN is not."""
    values = _as_floats(scores, origin)
    if values.ndim != 1:
        raise InputError(f"{origin} must be one number per row, got shape {values.shape}")
    if len(values) != len(X):
        raise InputError(
            f"{origin}: inconsistent numbers of samples, {len(values)} for {len(X)} rows"
        )
    missing = np.isnan(values)
    if missing.any():
        raise InputError(
            f"{origin}: {missing.sum()} of {len(values)} are NaN, the first at row "
            f"{int(missing.argmax())}. Every row needs a score."
        )
    return values


def _as_floats(scores: Any, origin: str) -> Floats:
    values: Floats
    if is_float_array(scores, 1) and scores.dtype == np.float64:
        values = scores
        return values
    _check_not_masked(scores, origin)
    try:
        values = check_array(
            scores,
            dtype=np.float64,
            ensure_2d=False,
            ensure_all_finite=False,
            ensure_min_samples=0,
            input_name=origin,
        )
    except ValueError as error:
        raise InputError(f"{origin}: {error}") from error
    return values


def is_float_array(values: Any, n_dimensions: int) -> bool:
    """Whether this is an array that scikit-learn would return as it is."""
    return (
        type(values) is np.ndarray  # not a masked one
        and values.ndim == n_dimensions
        and values.dtype in (np.float64, np.float32)
    )


def check_choice(name: str, value: Any, choices: Iterable[str | None]) -> None:
    """Raise unless `value` is one of `choices`."""
    if not isinstance(value, str | None) or value not in tuple(choices):
        listed = ", ".join(repr(choice) for choice in choices)
        raise InputError(f"{name} must be one of {listed}, not {value!r}")


def check_share(name: str, value: Any) -> None:
    """Raise unless `value` is a number between 0 and 1."""
    if not (isinstance(value, Real) and 0 < float(value) < 1):
        raise InputError(f"{name} must be between 0 and 1, not {value!r}")


def random_generator(random_state: Any) -> np.random.RandomState:
    """The random generator of a parameter `random_state`."""
    try:
        generator: np.random.RandomState = check_random_state(random_state)
    except ValueError as error:
        raise InputError(
            "random_state must be an integer from 0 to 2**32 - 1, a RandomState or None, not "
            f"{random_state!r}"
        ) from error
    return generator


@contextmanager
def _as_input_error() -> Iterator[None]:
    """Raise the ValueErrors of numpy and scikit-learn as InputErrors."""
    try:
        yield
    except InputError:
        raise
    except ValueError as error:
        raise InputError(str(error)) from error


def _check_finite(rows: Rows, estimator: BaseEstimator, X: Any) -> None:
    """Like scikit-learn's check, but the message names the column."""
    with np.errstate(all="ignore"):
        if np.isfinite(rows.sum(dtype=np.float64)):
            return
    names = column_names(X) if is_table(X) else range(rows.shape[1])
    for column, name in enumerate(names):
        bad = ~np.isfinite(rows[:, column])
        if bad.any():
            row = int(bad.argmax())
            what = "NaN" if np.isnan(rows[row, column]) else "infinity"
            raise InputError(
                f"Input X contains {what}: column {name!r}, row {row} ({bad.sum()} of {len(bad)} "
                f"rows of this column are not finite). {type(estimator).__name__} does not accept "
                "NaN or inf; drop these rows or impute them first."
            )


def _check_columns(X: Any) -> None:
    """Raise if conversion to floating point would change a number or fail with an unclear error."""
    if hasattr(X, "collect"):  # polars; any other attribute would compute the schema
        raise TypeError("X is a lazy frame: call its collect() first")
    if is_table(X):
        names = column_names(X)
        check_unique_names(names)
        for name in names:
            values = np.asarray(X[name])
            if values.dtype.kind == "O" and not _are_numbers(values):
                _raise_not_numeric(values, f"Column {name!r}")
            _check_values(values, f"Column {name!r}")
    elif isinstance(X, np.ndarray | list | tuple):
        _check_not_masked(X, "Input X")
        _check_values(np.asarray(X), "Input X")


def _check_not_masked(values: Any, where: str) -> None:
    if np.ma.is_masked(values):
        raise InputError(f"{where} has masked values: drop these rows or impute them first.")


def _check_values(values: npt.NDArray[Any], where: str) -> None:
    if values.dtype.kind in "mMSUV":  # dates, durations, bytes, strings, records
        _raise_not_numeric(values, where)
    if _largest_integer(values) > LARGEST_EXACT_INTEGER:
        raise InputError(
            f"{where} has integers up to {_largest_integer(values)}, which floating point cannot "
            "hold exactly (beyond 2**53). If it is an identifier, drop it; else scale it."
        )


def _raise_not_numeric(values: npt.NDArray[Any], where: str) -> NoReturn:
    raise InputError(
        f"{where} is not numeric (dtype {values.dtype}): encode it as numbers, for example by "
        "ctad.tables.TableEncoder, or drop it."
    )


def _are_numbers(values: npt.NDArray[Any]) -> bool:
    try:
        values.astype(np.float64)
    except (TypeError, ValueError):
        return False
    return True


def _largest_integer(values: npt.NDArray[Any]) -> int:
    """The largest magnitude among integers that need more than 32 bits; else 0."""
    if values.dtype.kind == "O":
        return max((abs(int(v)) for v in values.flat if isinstance(v, Integral)), default=0)
    if values.dtype.kind in "iu" and values.dtype.itemsize == 8 and values.size:
        return max(-int(values.min()), int(values.max()))
    return 0
