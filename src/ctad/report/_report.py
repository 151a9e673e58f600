"""The content of a report: plain numbers and texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from .._result_types import DriftResult, Reason, ScoreParts
from .._types import Booleans, Floats, Integers


@dataclass(frozen=True, kw_only=True)
class Alert:
    """A row and the reasons for its score. `base_part + delta_part` is the score.

    Attributes
    ----------
    row : int
        Its position in the table, from 0.
    rank, base_rank : int
        By the score, and by the detector alone; 1 is the most anomalous.
    score : float
    base_score, delta : float
        The detector's score and the calibration term, each on its own scale.
    base_part, delta_part : float
        What they add to the score.
    references_part : float
        The part of the term that the references pay, not the row itself.
    p_value : float or None
        None without normal rows held out of training.
    is_selected : bool or None
        Whether to act on it, at the false discovery rate.
    is_anomaly : bool or None
        The label, if known.
    reasons : sequence of Reason
        The most important first.
    text : str
        Further lines of the explanation.
    """

    row: int
    rank: int
    base_rank: int
    score: float
    base_score: float
    delta: float
    base_part: float
    delta_part: float
    references_part: float
    p_value: float | None
    is_selected: bool | None
    is_anomaly: bool | None
    reasons: Sequence[Reason]
    text: str


@dataclass(frozen=True, eq=False)
class Projection:
    """Rows and centroids in the first two principal components of the training rows.

    Attributes
    ----------
    training : ndarray of shape (m, 2)
        Training rows.
    new : ndarray of shape (k, 2)
        New rows.
    new_rows : ndarray of shape (k,)
        Their positions in the table.
    centroids : ndarray of shape (K, 2)
    explained_variance : tuple of float
        Share of the variance along each axis.
    axis_names : tuple of str
        The columns with the largest weights in each axis, such as "amount, hour".
    """

    training: Floats
    new: Floats
    new_rows: Integers
    centroids: Floats
    explained_variance: tuple[float, float]
    axis_names: tuple[str, str]


@dataclass(frozen=True, eq=False, kw_only=True)
class Report:
    """The content of a page.

    Arrays have one entry per row of the new table, in its order.

    Attributes
    ----------
    title : str
        Such as "IsolationForest, calibrated".
    facts : mapping of str to str
        The settings of the model, such as {"Training rows": "1,000"}.
    reproduce : str
        The command or code that makes this page again, several lines.
    scores : ScoreParts
    normal_scores : ScoreParts or None
        Scores of normal rows held out of training.
    selected : ndarray of bool or None
        Rows to act on at the false discovery rate `fdr`.
    fdr : float
    labels : ndarray of bool or None
        Anomalies, if known.
    alerts : sequence of Alert
        The rows with the highest scores, the highest first.
    moved_up, moved_down : sequence of Alert
        The rows whose rank calibration changed most.
    drift : DriftResult or None
        Whether the model still fits the data.
    projection : Projection
    fewest_discoveries : int, default=1
        The least number of rows that can be selected at the false discovery rate.
    notices : sequence of str, default=()
        Warnings to show above everything else.
    row_numbers : ndarray of int or None, default=None
        The numbers of the rows in their original table, if they are not their positions.
    """

    # A page shows no more than these.
    MAX_ALERTS: ClassVar[int] = 100
    MAX_MOVED: ClassVar[int] = 10  # up, and as many down
    MAX_POINTS: ClassVar[int] = 1500  # of each kind, on the map

    title: str
    facts: Mapping[str, str]
    reproduce: str
    scores: ScoreParts
    normal_scores: ScoreParts | None
    selected: Booleans | None
    fdr: float
    labels: Booleans | None
    alerts: Sequence[Alert]
    moved_up: Sequence[Alert]
    moved_down: Sequence[Alert]
    drift: DriftResult | None
    projection: Projection
    fewest_discoveries: int = 1
    notices: Sequence[str] = ()
    row_numbers: Integers | None = None

    def row_number(self, position: int) -> int:
        """The number of a row in its original table."""
        return position if self.row_numbers is None else int(self.row_numbers[position])
