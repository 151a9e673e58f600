"""Columns that are numbers already, as an array."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from .._frames import check_has_columns, columns_by_name
from .._types import Floats
from ..errors import InputError
from ._columns import ColumnKind
from ._reading import read_column

# If at most this share of the strings of a column are not numbers, they are likely typing errors.
FEW_OTHERS = 0.1


def numeric_columns(
    X: Any, columns: Sequence[str], *, needed_by: str, allow_infinite: bool = False
) -> Floats:
    """Columns of a table that are numbers without missing values, as they are.

    Parameters
    ----------
    X : pandas, polars or Arrow table
    columns : sequence of str
    needed_by : str
        What needs numbers, for the error if they are something else.
    allow_infinite : bool, default=False

    Returns
    -------
    ndarray of shape (n, columns)

    Examples
    --------
    >>> import polars as pl
    >>> from ctad.tables import numeric_columns
    >>> table = pl.DataFrame({"age": [30, 50], "paid": [True, False], "plan": ["a", "b"]})
    >>> numeric_columns(table, ["paid", "age"], needed_by="this detector")
    array([[ 1., 30.],
           [ 0., 50.]])
    """
    series = columns_by_name(X)
    check_has_columns(series, columns)
    values = []
    for name in columns:
        read = read_column(name, series[name])
        if read.column.kind not in (ColumnKind.NUMBER, ColumnKind.BOOLEAN, ColumnKind.EMPTY):
            is_text = read.column.kind == ColumnKind.CATEGORY
            hint = almost_numbers(read.values) if is_text else None
            raise InputError(
                f"column {name!r} is of type {read.column.dtype}, but {needed_by} needs numbers"
                + (f": {hint}" if hint else "")
            )
        unfit = np.isnan(read.values) if allow_infinite else ~np.isfinite(read.values)
        if unfit.any():
            row = int(unfit.argmax())
            value = read.values[row]
            found = "a missing value" if np.isnan(value) else f"{value:g}"
            raise InputError(
                f"column {name!r} has {found} in row {row}, but {needed_by} needs a number in "
                "every row"
            )
        values.append(read.values)
    return np.column_stack(values)


def almost_numbers(texts: Iterable[str | None]) -> str | None:
    """A message that names a string that is not a number, if nearly all others are."""
    counts = Counter(text for text in texts if text is not None)
    others = Counter({text: n for text, n in counts.items() if not _is_number(text)})
    total, n_others = counts.total(), others.total()
    if not 0 < n_others <= FEW_OTHERS * total:
        return None
    return (
        f"{total - n_others:,} of {total:,} values are numbers, but not "
        f"{others.most_common(1)[0][0]!r}"
    )


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
