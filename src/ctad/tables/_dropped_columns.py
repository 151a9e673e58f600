"""Why a column of a table is not used."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

import numpy as np

from .._types import Floats
from .._validation import LARGEST_EXACT_INTEGER
from .._warnings import warn_user
from ._columns import ColumnKind, ColumnValues
from ._numeric_columns import almost_numbers

# With fewer rows than this, integers may increase by chance.
MIN_ROWS_OF_COUNTER = 10
# Integers without repeats are keys if about this many repeats would be expected by chance.
EXPECTED_REPEATS = 20

# Digits with signs between them: decimal commas, slashes, colons. Plain digits may be codes.
NUMBER_OR_DATE = re.compile(r"\W*\d+([.,:/ -]+\d+)+\W*(am|pm)?", re.IGNORECASE)
SEEMS_NUMBERS = "but looks like numbers or dates: write them as 1234.5 or 2024-12-31"


def reason_to_drop(read: ColumnValues, *, min_rows: int, keep_counters: bool) -> str | None:
    """Why a column is not used, or None if it is.

    Parameters
    ----------
    read : ColumnValues
    min_rows : int
        A text value of fewer rows is rare.
    keep_counters : bool
        Whether to use integers that look like row numbers.
    """
    match read.column.kind:
        case ColumnKind.OTHER:
            return f"of type {read.column.dtype}"
        case ColumnKind.EMPTY:
            return "empty"
        case ColumnKind.CATEGORY:
            return _reason_to_drop_texts(read, min_rows)
        case _:
            return _reason_to_drop_numbers(read, keep_counters)


def _reason_to_drop_texts(read: ColumnValues, min_rows: int) -> str | None:
    counts: Counter[str | None] = Counter(read.values)
    if len(counts) == 1:
        return "constant"
    distinct = len(counts.keys() - {None})
    mostly_distinct = 2 * distinct > len(read.values) - counts[None]
    hint = SEEMS_NUMBERS if _seem_numbers_or_dates(counts) else None
    almost = almost_numbers(read.values)
    if almost:
        hint = f"although {almost}: correct such values or leave them empty"
    if mostly_distinct or max(counts.values()) < min_rows:
        return "text that hardly repeats" + (f", {hint}" if hint else "")
    if hint:
        warn_user(f"column {read.column.name!r} is used as text, {hint}.")
    return None


def _reason_to_drop_numbers(read: ColumnValues, keep_counters: bool) -> str | None:
    values = read.values
    present = values[~np.isnan(values)]
    # pandas turns integers with missing values into floats.
    has_missing = read.column.kind == ColumnKind.NUMBER and len(present) < len(values)
    is_integer = read.is_integer or (has_missing and (present == np.round(present)).all())
    if is_integer and np.abs(present).max() > LARGEST_EXACT_INTEGER:
        return "integers beyond 2**53"
    if (values == values[0]).all():
        return "constant"
    if is_integer and not keep_counters and _look_like_row_numbers(present):
        return "looks like a row number"
    return None


def _seem_numbers_or_dates(values: Iterable[str | None]) -> bool:
    return all(value is None or NUMBER_OR_DATE.fullmatch(value) for value in values)


def _look_like_row_numbers(values: Floats) -> bool:
    """Whether integers are row numbers or keys: they only increase, only decrease, or never repeat.

    Among n numbers drawn at random from a range of R, about n^2 / 2R repeats are expected. Without
    any repeat, the numbers were not drawn at random.
    """
    n = len(values)
    if n < MIN_ROWS_OF_COUNTER:
        return False
    steps = np.diff(values)
    if (steps > 0).all() or (steps < 0).all():
        return True
    width = float(np.ptp(values))
    repeats_expected = width == n - 1 or n * n > 2 * EXPECTED_REPEATS * width
    return repeats_expected and len(np.unique(values)) == n
