"""Values of columns as people write them."""

from __future__ import annotations

from collections import Counter
from math import floor, isfinite, log10
from typing import Any

import numpy as np

from .._types import Floats
from ._columns import ColumnKind

MISSING = "missing"
LONGEST_TEXT = 60

# Usual values are the middle of the training rows, or the most frequent values.
USUAL_SHARE = 0.9
MOST_VALUES = 3

LATEST = 2.0**62  # microseconds; numpy knows no dates much later than this


class ValueFormatter:
    """Format values of a column, and its usual values, as people write them.

    Parameters
    ----------
    kind : ColumnKind
    training_values : ndarray of shape (n,)
        As `ColumnValues` has them. Numbers get as many digits as distinguish these.

    Attributes
    ----------
    usual : str
        The usual values in training: a range, or the most frequent ones.

    Examples
    --------
    >>> import numpy as np
    >>> from ctad.tables import ColumnKind, ValueFormatter
    >>> formatter = ValueFormatter(ColumnKind.NUMBER, np.arange(101.0))
    >>> formatter.usual, formatter.format(9300.0), formatter.format(float("nan"))
    ('5 to 95', '9,300', 'missing')
    >>> ValueFormatter(ColumnKind.NUMBER, np.linspace(1.0, 1.04, 100)).format(101325.4321)
    '101,325.4321'
    >>> plans = np.array(["a", "b", "a", "c", "d"], dtype=object)
    >>> ValueFormatter(ColumnKind.CATEGORY, plans).usual
    'a, b, c and 1 more'
    """

    def __init__(self, kind: ColumnKind, training_values: Any) -> None:
        self.kind = kind
        self._spread = 0.0
        if kind == ColumnKind.NUMBER:
            low, high = _usual_range(training_values)
            self._spread = high - low
        self.usual = self._format_usual(training_values)

    def format(self, value: Any) -> str:
        """One value of the column.

        Parameters
        ----------
        value : float, str or None

        Returns
        -------
        str
        """
        if value is None or value != value:
            return MISSING
        match self.kind:
            case ColumnKind.CATEGORY:
                text = str(value)
                return text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 1] + "…"
            case ColumnKind.BOOLEAN:
                return "true" if value > 0.5 else "false"
            case ColumnKind.DATE | ColumnKind.ZONED_DATE:
                text = _moment(value).replace("T", " ")
                return text.removesuffix(" 00:00:00").removesuffix(":00")
            case ColumnKind.TIME:
                return _moment(value)[11:].removesuffix(":00")
            case _:
                return _number(float(value), self._spread)

    def _format_usual(self, values: Any) -> str:
        if not len(values):
            return "unknown"
        if self.kind in (ColumnKind.BOOLEAN, ColumnKind.CATEGORY):
            return self._most_frequent(values)
        if np.isnan(values).all():
            return MISSING
        low, high = map(self.format, _usual_range(values))
        return low if low == high else f"{low} to {high}"

    def _most_frequent(self, values: Any) -> str:
        counts = Counter(self.format(value) for value in values)
        shown, seen = [], 0
        for text, count in counts.most_common(MOST_VALUES):
            shown.append(text)
            seen += count
            if seen >= USUAL_SHARE * len(values):
                return ", ".join(shown)
        others = len(counts) - len(shown)
        return ", ".join(shown) + (f" and {others} more" if others else "")


def _usual_range(values: Floats) -> tuple[float, float]:
    present = values[~np.isnan(values)]
    if not len(present):
        return np.nan, np.nan
    edges = [(1 - USUAL_SHARE) / 2, (1 + USUAL_SHARE) / 2]
    low, high = np.quantile(present, edges, method="nearest")
    return float(low), float(high)


def _moment(microseconds: float) -> str:
    """Date and time, to the second."""
    known = min(max(microseconds, -LATEST), LATEST)
    return str(np.datetime64(round(known), "us").astype("datetime64[s]"))


def _number(value: float, spread: float) -> str:
    """All digits of an integer; else the digits that distinguish usual values, or four."""
    size = abs(value)
    if size >= 1e15 or 0 < max(size, spread) < 1e-4:
        return f"{value:.4g}"
    if abs(value - round(value)) <= 1e-9 * size:  # an integer, up to rounding
        return f"{value:,.0f}"
    if spread > 0 and isfinite(spread):
        return f"{value:,.{min(max(0, 2 - floor(log10(spread))), 12)}f}"
    if size >= 1000:
        return f"{value:,.1f}" if size < 1e4 else f"{value:,.0f}"
    return f"{value:.4g}"
