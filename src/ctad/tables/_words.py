"""Values of columns as people write them."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from ._columns import BOOLEAN, CATEGORY, DATE, NUMBER, TIME, ZONED_DATE

MISSING = "missing"
LONGEST_TEXT = 60

# What is usual: the middle of the training rows, or the values that most of them have.
USUAL_SHARE = 0.9
MOST_VALUES = 3


def in_words(kind: str, value: Any) -> str:
    """One value of a column of this kind, as `read_column` gives it.

    Examples
    --------
    >>> in_words("number", 9300.0), in_words("number", 0.123456), in_words("number", float("nan"))
    ('9,300', '0.1235', 'missing')
    >>> in_words("date", 86_400_000_000.0), in_words("time of day", 5_400_000_000.0)
    ('1970-01-02', '01:30')
    """
    if value is None or value != value:
        return MISSING
    if kind == CATEGORY:
        text = str(value)
        return (
            text
            if len(text) <= LONGEST_TEXT
            else text[: LONGEST_TEXT - 1] + "\N{HORIZONTAL ELLIPSIS}"
        )
    if kind == BOOLEAN:
        return "true" if value > 0.5 else "false"
    if kind in (DATE, ZONED_DATE):
        moment = str(np.datetime64(round(value), "us").astype("datetime64[s]")).replace("T", " ")
        return moment.removesuffix(" 00:00:00").removesuffix(":00")
    if kind == TIME:
        return str(np.datetime64(round(value), "us").astype("datetime64[s]"))[11:].removesuffix(
            ":00"
        )
    return _number(float(value))


def usual_in_words(kind: str, values: Any) -> str:
    """What is usual among the values of a column: a range, or the most frequent values.

    Examples
    --------
    >>> import numpy as np
    >>> usual_in_words("number", np.arange(101.0))
    '5 to 95'
    >>> usual_in_words("category", np.array(["a", "b", "a", "c", "d"], dtype=object))
    'a, b, c and 1 more'
    """
    if not len(values):
        return "unknown"
    ordered = kind in (NUMBER, DATE, ZONED_DATE, TIME)
    if not ordered:
        return _frequent(kind, values)
    present = values[~np.isnan(values)]
    if not len(present):
        return MISSING
    edges = [(1 - USUAL_SHARE) / 2, (1 + USUAL_SHARE) / 2]
    low, high = (in_words(kind, edge) for edge in np.quantile(present, edges, method="nearest"))
    return low if low == high else f"{low} to {high}"


def _frequent(kind: str, values: Any) -> str:
    counts = Counter(in_words(kind, value) for value in values)
    shown, seen = [], 0
    for text, count in counts.most_common(MOST_VALUES):
        shown.append(text)
        seen += count
        if seen >= USUAL_SHARE * len(values):
            return ", ".join(shown)
    others = len(counts) - len(shown)
    return ", ".join(shown) + (f" and {others} more" if others else "")


def _number(value: float) -> str:
    """Four digits that count, all digits of a whole number."""
    if value == 0:
        return "0"
    size = abs(value)
    if size >= 1e15 or size < 1e-4:
        return f"{value:.4g}"
    if size >= 1e4 or abs(value - round(value)) < 1e-9 * size:  # as good as whole
        return f"{value:,.0f}"
    return f"{value:,.4g}" if size < 1000 else f"{value:,.1f}"
