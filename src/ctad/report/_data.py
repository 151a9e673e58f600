"""What a report shows: plain numbers and texts, of which the page knows nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .._findings import Fit, Reason
from .._input import Floats

Flags = npt.NDArray[np.bool_]

# More than these are not shown.
MOST_ALERTS = 100
MOST_MOVED = 10  # each way
MOST_POINTS = 1500  # of each kind, on the map


class Scores(NamedTuple):
    """Scores of some rows: the detector's, the calibration term, both together."""

    base_score: Floats
    delta: Floats
    score: Floats


class Alert(NamedTuple):
    """A row and why it scores as it does. `base_part + delta_part` is the score."""

    row: int  # its place in the table, from 0
    base_score: float
    delta: float
    references_part: float  # of the term: what the references pay, not the row itself
    base_part: float
    delta_part: float
    score: float
    rank: int  # by score, 1 is the most anomalous
    base_rank: int  # by the detector alone
    p_value: float | None  # None without normal rows held out of training
    is_selected: bool | None  # to act on, at the false discovery rate
    is_anomaly: bool | None  # None without labels
    reasons: Sequence[Reason]  # the most important first
    text: str  # what else there is to say, several lines


class Plane(NamedTuple):
    """Rows and centroids in the plane in which training rows spread most (PCA)."""

    normal: Floats  # (m, 2) training rows
    new: Floats  # (k, 2) new rows
    new_rows: npt.NDArray[np.int64]  # (k,) their places in the table
    centroids: Floats  # (K, 2)
    explained: tuple[float, float]  # share of the variance along each axis
    axes: tuple[str, str]  # the columns that weigh most in each, "amount, hour"


@dataclass(frozen=True)
class Report:
    """All that is on a page.

    Arrays without another word have one entry per row of the new table, in its order.
    """

    title: str  # "IsolationForest, calibrated"
    facts: Mapping[str, str]  # what the model is: {"training rows": "1,000", ...}
    reproduce: str  # the commands or code that give this page, several lines
    scores: Scores
    normal: Scores | None  # of normal rows held out of training
    p_values: Floats | None
    selected: Flags | None  # rows to act on at the false discovery rate `fdr`
    fdr: float
    labels: Flags | None  # anomalies, where known
    alerts: Sequence[Alert]  # the rows with the highest scores, the highest first
    moved_up: Sequence[Alert]  # the rows that calibration moved most, by rank
    moved_down: Sequence[Alert]
    fit: Fit | None
    plane: Plane
    fewest: int = 1  # anomalies there must be for any to be among the rows to act on
    notices: Sequence[str] = ()  # what a reader should know before trusting the page
    row_numbers: npt.NDArray[np.int64] | None = None  # what to call rows, if not by their place

    def number_of(self, row: int) -> int:
        """What to call the row at a place."""
        return row if self.row_numbers is None else int(self.row_numbers[row])
