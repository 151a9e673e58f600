"""Values of columns as people write them."""

from __future__ import annotations

from collections import Counter
from math import floor, log10
from typing import Any

import numpy as np

from .._types import Floats
from ._columns import BOOLEAN, CATEGORY, DATE, NUMBER, TIME, ZONED_DATE
from ._datetime import DAY

MISSING = "missing"
LONGEST_TEXT = 60
WEEKDAYS = ("Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday")  # 1970
MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)

# What is usual: the middle of the training rows, or the values that most of them have.
USUAL_SHARE = 0.9
MOST_VALUES = 3


def spread_of(kind: str, values: Any) -> float:
    """How far apart usual numbers are, so that as many digits are shown as tell them apart."""
    if kind != NUMBER:
        return 0.0
    low, high = _usual_range(values)
    return high - low


def in_words(kind: str, value: Any, spread: float = 0.0) -> str:
    """One value of a column of this kind, as `read_column` gives it.

    Examples
    --------
    >>> in_words("number", 9300.0), in_words("number", 0.123456), in_words("number", float("nan"))
    ('9,300', '0.1235', 'missing')
    >>> in_words("number", 101325.4321, spread=0.04)
    '101,325.4321'
    >>> in_words("date", 86_400_000_000.0), in_words("time of day", 5_400_000_000.0)
    ('1970-01-02', '01:30')
    """
    if value is None or value != value:
        return MISSING
    if kind == CATEGORY:
        text = str(value)
        return text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 1] + "…"
    if kind == BOOLEAN:
        return "true" if value > 0.5 else "false"
    if kind in (DATE, ZONED_DATE):
        moment = str(np.datetime64(round(value), "us").astype("datetime64[s]")).replace("T", " ")
        return moment.removesuffix(" 00:00:00").removesuffix(":00")
    if kind == TIME:
        moment = str(np.datetime64(round(value), "us").astype("datetime64[s]"))
        return moment[11:].removesuffix(":00")
    return _number(float(value), spread)


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
    if kind not in (NUMBER, DATE, ZONED_DATE, TIME):
        return _frequent(kind, values)
    if np.isnan(values).all():
        return MISSING
    edges, spread = _usual_range(values), spread_of(kind, values)
    low, high = (in_words(kind, edge, spread) for edge in edges)
    return low if low == high else f"{low} to {high}"


def place_in_cycle(cycle: str, values: Floats) -> tuple[str, Any]:
    """Dates as their place in a cycle, and of which kind that is.

    Examples
    --------
    >>> place_in_cycle("week", np.array([0.0]))
    ('category', array(['Thursday'], dtype=object))
    """
    if cycle == "day":
        return TIME, np.mod(values, DAY)
    names = np.full(len(values), None, dtype=object)
    present = ~np.isnan(values)
    days = np.floor(values[present] / DAY).astype(np.int64)
    if cycle == "week":
        names[present] = np.array(WEEKDAYS, dtype=object)[days % 7]
    else:
        months = days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)
        names[present] = np.array(MONTHS, dtype=object)[months % 12]
    return CATEGORY, names


def _usual_range(values: Floats) -> tuple[float, float]:
    present = values[~np.isnan(values)]
    if not len(present):
        return np.nan, np.nan
    edges = [(1 - USUAL_SHARE) / 2, (1 + USUAL_SHARE) / 2]
    low, high = np.quantile(present, edges, method="nearest")
    return float(low), float(high)


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


def _number(value: float, spread: float) -> str:
    """All digits of a whole number; else those that tell usual values apart, or four."""
    size = abs(value)
    if size >= 1e15 or 0 < max(size, spread) < 1e-4:
        return f"{value:.4g}"
    if abs(value - round(value)) <= 1e-9 * size:  # as good as whole
        return f"{value:,.0f}"
    if spread > 0:
        return f"{value:,.{min(max(0, 2 - floor(log10(spread))), 12)}f}"
    if size >= 1000:
        return f"{value:,.1f}" if size < 1e4 else f"{value:,.0f}"
    return f"{value:.4g}"
