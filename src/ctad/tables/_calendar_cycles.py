"""Dates and times of day: units, cycles, and positions in them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .._types import Floats

DAY = 86_400_000_000  # microseconds
# The position in a cycle becomes a point on a circle, so that 23:59 is near 0:00.
CYCLES = {"day": DAY, "week": 7 * DAY, "year": 365.2425 * DAY}

WEEKDAYS = ("Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday")  # 1970
MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)


def sine_and_cosine(cycle: str, values: Floats) -> Iterator[Floats]:
    """The positions of dates or times in a cycle, as points on a circle."""
    angle = 2 * np.pi * (np.mod(values, CYCLES[cycle]) / CYCLES[cycle])
    yield np.sin(angle)
    yield np.cos(angle)


def position_in_cycle(cycle: str, values: Floats) -> Any:
    """The positions of dates in a cycle: microseconds since midnight, or weekdays or months.

    Examples
    --------
    >>> position_in_cycle("week", np.array([0.0]))
    array(['Thursday'], dtype=object)
    """
    if cycle == "day":
        return np.mod(values, DAY)
    names = np.full(len(values), None, dtype=object)
    present = ~np.isnan(values)
    days = np.floor(values[present] / DAY).astype(np.int64)
    if cycle == "week":
        names[present] = np.array(WEEKDAYS, dtype=object)[days % 7]
    else:
        months = days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)
        names[present] = np.array(MONTHS, dtype=object)[months % 12]
    return names
