"""Results of detectors: score parts, reasons, drift."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ._types import Floats


@dataclass(frozen=True)
class Reason:
    """A column that sets a row apart.

    Attributes
    ----------
    column : str
    value : str
        In the column's own units, such as "9,300".
    usual : str
        The usual values in training, such as "40 to 210".
    share : float
        The column's share of what the row adds to the calibration term, 0 to 1.
    """

    column: str
    value: str
    usual: str
    share: float


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
    """Whether the model still fits the data. `bool(result)` is `still_fits`.

    Attributes
    ----------
    still_fits : bool
    p_value : float or None
        The p-value of the test that scores are distributed like those of normal rows held out of
        training; None without such rows.
    alpha : float
        The false-alarm rate: the probability, at most, that data without drift does not pass.
    drifts : sequence of ColumnDrift
        `column`, `statistic`, `p_value` and `has_changed` of each column, the most changed first.
    text : str
        The result in a sentence or two.
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
    """Calibrated scores, and what they are made of.

    Attributes
    ----------
    base_score, delta, score : ndarray of shape (n,)
        The detector's score, the calibration term, and the calibrated score.
    p_value : ndarray of shape (n,) or None
        None without normal rows held out of training.
    """

    base_score: Floats
    delta: Floats
    score: Floats
    p_value: Floats | None = None
