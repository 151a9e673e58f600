"""What a report shows: plain numbers and texts, of which the page knows nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .._result_types import DriftResult, Reason
from .._types import Floats

Flags = npt.NDArray[np.bool_]

# More than these are not shown.
MOST_ALERTS = 100
MOST_MOVED = 10  # each way
MOST_POINTS = 1500  # of each kind, on the map


class Scores(NamedTuple):
    """Scores of some rows: the detector's, the calibration term, both together.

    Attributes
    ----------
    base_score, delta, score : ndarray of shape (n,)
    """

    base_score: Floats
    delta: Floats
    score: Floats


class Alert(NamedTuple):
    """A row and why it scores as it does. `base_part + delta_part` is the score.

    Attributes
    ----------
    row : int
        Its place in the table, from 0.
    base_score, delta : float
        The detector's score, the calibration term.
    references_part : float
        Of the term: what the references pay, not the row itself.
    base_part, delta_part, score : float
        What both add to the score, and the score.
    rank, base_rank : int
        By the score, and by the detector alone; 1 is the most anomalous.
    p_value : float or None
        None without normal rows held out of training.
    is_selected : bool or None
        Whether to act on it, at the false discovery rate.
    is_anomaly : bool or None
        None without labels.
    reasons : sequence of Reason
        The most important first.
    text : str
        What else there is to say, several lines.
    """

    row: int
    base_score: float
    delta: float
    references_part: float
    base_part: float
    delta_part: float
    score: float
    rank: int
    base_rank: int
    p_value: float | None
    is_selected: bool | None
    is_anomaly: bool | None
    reasons: Sequence[Reason]
    text: str


class Plane(NamedTuple):
    """Rows and centroids in the plane in which training rows spread most (PCA).

    Attributes
    ----------
    normal : ndarray of shape (m, 2)
        Training rows.
    new : ndarray of shape (k, 2)
        New rows.
    new_rows : ndarray of shape (k,)
        Their places in the table.
    centroids : ndarray of shape (K, 2)
    explained : tuple of float
        Share of the variance along each axis.
    axes : tuple of str
        The columns that weigh most in each, "amount, hour".
    """

    normal: Floats
    new: Floats
    new_rows: npt.NDArray[np.int64]
    centroids: Floats
    explained: tuple[float, float]
    axes: tuple[str, str]


@dataclass(frozen=True)
class Report:
    """All that is on a page.

    Arrays have one entry per row of the new table, in its order.

    Attributes
    ----------
    title : str
        "IsolationForest, calibrated".
    facts : mapping of str to str
        What the model is: {"training rows": "1,000", ...}.
    reproduce : str
        The commands or code that give this page, several lines.
    scores : Scores
    normal : Scores or None
        Of normal rows held out of training.
    p_values : ndarray of shape (n,) or None
    selected : ndarray of bool or None
        Rows to act on at the false discovery rate `fdr`.
    fdr : float
    labels : ndarray of bool or None
        Anomalies, where known.
    alerts : sequence of Alert
        The rows with the highest scores, the highest first.
    moved_up, moved_down : sequence of Alert
        The rows that calibration moved most, by rank.
    fit : DriftResult or None
        Whether the model still fits.
    plane : Plane
    fewest : int, default=1
        Anomalies there must be for any to be among the rows to act on.
    notices : sequence of str, default=()
        What a reader should know before trusting the page.
    row_numbers : ndarray of int or None, default=None
        What to call rows, if not by their place.
    """

    title: str
    facts: Mapping[str, str]
    reproduce: str
    scores: Scores
    normal: Scores | None
    p_values: Floats | None
    selected: Flags | None
    fdr: float
    labels: Flags | None
    alerts: Sequence[Alert]
    moved_up: Sequence[Alert]
    moved_down: Sequence[Alert]
    fit: DriftResult | None
    plane: Plane
    fewest: int = 1
    notices: Sequence[str] = ()
    row_numbers: npt.NDArray[np.int64] | None = None

    def number_of(self, row: int) -> int:
        """What to call the row at a place."""
        return row if self.row_numbers is None else int(self.row_numbers[row])
