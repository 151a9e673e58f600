"""Which columns of a table can be learnt from, and why not the others."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

import numpy as np

from .._types import Floats
from .._validation import LARGEST_EXACT_INTEGER
from .._warnings import warn_user
from ._columns import CATEGORY, EMPTY, NUMBER, OTHER, Values, almost_numbers

# With fewer rows than this, integers that count up may do so by chance.
ROWS_TO_SEE_A_COUNTER = 10
REPEATS_EXPECTED = 20

# Digits with signs between them: decimal commas, slashes, colons. Plain digits may be codes.
NUMBER_OR_DATE = re.compile(r"\W*\d+([.,:/ -]+\d+)+\W*(am|pm)?", re.IGNORECASE)
SEEMS_NUMBERS = "but looks like numbers or dates: write them as 1234.5 or 2024-12-31"


def reason_to_drop(read: Values, *, frequent: int, may_count: bool) -> str | None:
    """Why a column is of no use, if it is not.

    Parameters
    ----------
    read : Values
    frequent : int
        The number of rows from which on a text is not rare.
    may_count : bool
        Whether integers are wanted that seem to count the rows.
    """
    _, kind, dtype = read.column
    if kind == OTHER:
        return f"of type {dtype}"
    if kind == EMPTY:
        return "empty"
    if kind == CATEGORY:
        return _reason_to_drop_texts(read, frequent)
    return _reason_to_drop_numbers(read, may_count)


def _reason_to_drop_texts(read: Values, frequent: int) -> str | None:
    counts: Counter[str | None] = Counter(read.values)
    if len(counts) == 1:
        return "constant"
    distinct = len(counts.keys() - {None})
    mostly_distinct = 2 * distinct > len(read.values) - counts[None]
    hint = SEEMS_NUMBERS if _seem_numbers_or_dates(counts) else None
    almost = almost_numbers(read.values)
    if almost:
        hint = f"although {almost}: correct such values or leave them empty"
    if mostly_distinct or max(counts.values()) < frequent:
        return "text that hardly repeats" + (f", {hint}" if hint else "")
    if hint:
        warn_user(f"column {read.column.name!r} is used as text, {hint}.")
    return None


def _reason_to_drop_numbers(read: Values, may_count: bool) -> str | None:
    values = read.values
    present = values[~np.isnan(values)]
    # pandas turns integers with gaps into floats.
    gappy = read.column.kind == NUMBER and len(present) < len(values)
    whole = read.whole or (gappy and (present == np.round(present)).all())
    if whole and np.abs(present).max() > LARGEST_EXACT_INTEGER:
        return "integers beyond 2**53"
    if (values == values[0]).all():
        return "constant"
    if whole and not may_count and _counts_rows(present):
        return "counts the rows"
    return None


def _seem_numbers_or_dates(values: Iterable[str | None]) -> bool:
    return all(value is None or NUMBER_OR_DATE.fullmatch(value) for value in values)


def _counts_rows(values: Floats) -> bool:
    """Row numbers and keys: integers that only go up, or only down, or never repeat.

    Of n numbers drawn from a range of R, about n^2 / 2R are expected twice; if there are none, they
    were not drawn like that.
    """
    n = len(values)
    if n < ROWS_TO_SEE_A_COUNTER:
        return False
    steps = np.diff(values)
    if (steps > 0).all() or (steps < 0).all():
        return True
    width = float(np.ptp(values))
    repeats_expected = width == n - 1 or n * n > 2 * REPEATS_EXPECTED * width
    return repeats_expected and len(np.unique(values)) == n
