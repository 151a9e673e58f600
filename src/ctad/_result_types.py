"""Results that detectors give beside labels: score parts, reasons, drift."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ._types import Floats


class Reason(NamedTuple):
    """The share of one column in what a row pays in the transport."""

    column: str
    value: str  # in the column's own units, "9,300"
    usual: str  # in training, "40 to 210"
    share: float  # of what the row pays, 0 to 1


@dataclass(frozen=True)
class ColumnDrift:
    """A column of new rows compared with training rows.

    Attributes
    ----------
    column : str
    statistic : float
        The largest difference between the two distributions (Kolmogorov-Smirnov).
    p_value : float
        Adjusted for the number of columns.
    has_changed : bool
    """

    column: str
    statistic: float
    p_value: float
    has_changed: bool


@dataclass(frozen=True)
class DriftResult:
    """Whether the model still fits the data; true if it does.

    Attributes
    ----------
    still_fits : bool
    p_value : float or None
        Of the test that scores are distributed as those of normal rows.
    alpha : float
        The false-alarm rate: how often, at most, data without drift is said to have drifted.
    drifts : sequence of ColumnDrift
        The most changed column first.
    text : str
        The verdict in a sentence or two.
    """

    still_fits: bool
    p_value: float | None
    alpha: float
    drifts: Sequence[ColumnDrift]
    text: str

    def __bool__(self) -> bool:
        return self.still_fits


@dataclass(frozen=True, eq=False)
class ScoreParts:
    """The detector's scores, the calibration terms, and the calibrated scores of some rows.

    Attributes
    ----------
    base_score, delta, score : ndarray of shape (n,)
        The detector's score, the term, and the calibrated score.
    p_value : ndarray of shape (n,) or None
        None without normal rows held out of training.
    """

    base_score: Floats
    delta: Floats
    score: Floats
    p_value: Floats | None = None
