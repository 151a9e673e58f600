"""Dates and times of day as numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from .._types import Floats
from ._columns import DATE, TIME, ZONED_DATE

DAY = 86_400_000_000  # microseconds
# What repeats: the place in the cycle becomes a point on a circle, so that 23:59 is near 0:00.
CYCLES = {"day": DAY, "week": 7 * DAY, "year": 365.2425 * DAY}


class Clock(NamedTuple):
    """How dates or times become numbers."""

    unit: float  # of the number that keeps their order, in microseconds
    cycles: tuple[str, ...]


# By the kind of the column.
CLOCKS = {
    DATE: Clock(DAY, tuple(CYCLES)),
    ZONED_DATE: Clock(DAY, tuple(CYCLES)),
    TIME: Clock(DAY / 24, ("day",)),
}


def unit_of(kind: str) -> float:
    """What the values of a column of this kind are divided by."""
    return CLOCKS[kind].unit if kind in CLOCKS else 1.0


def cycles_of(kind: str) -> tuple[str, ...]:
    """The cycles in which the values of a column of this kind have a place."""
    return CLOCKS[kind].cycles if kind in CLOCKS else ()


def on_circles(kind: str, values: Floats) -> Iterator[Floats]:
    """Sine and cosine of the place of dates or times in each of their cycles."""
    for cycle in cycles_of(kind):
        angle = 2 * np.pi * (np.mod(values, CYCLES[cycle]) / CYCLES[cycle])
        yield np.sin(angle)
        yield np.cos(angle)
