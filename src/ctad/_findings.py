"""What detectors find out beside scores: reasons, changed columns, whether a model fits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Reason(NamedTuple):
    """What one column has to do with what a row pays in the transport."""

    column: str
    value: str  # in the column's own units, "9,300"
    usual: str  # in training, "40 to 210"
    share: float  # of what the row pays, 0 to 1


class Drift(NamedTuple):
    """A column, now against in training."""

    column: str
    statistic: float  # the largest gap between the two distributions (Kolmogorov-Smirnov)
    p_value: float  # adjusted for the number of columns
    has_changed: bool


class Fit(NamedTuple):
    """Whether the model still fits the data; true if it does."""

    still_fits: bool
    p_value: float | None  # that scores are distributed as those of normal rows
    error: float  # how often at most this would be said of data that fits
    drifts: Sequence[Drift]  # the most changed first
    text: str  # the verdict in a sentence or two

    def __bool__(self) -> bool:
        return self.still_fits
