"""Scores from a column of the table, in place of a detector."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from .._types import Floats
from ..calibration import BaseCalibrator
from ..tables import TableEncoder, numeric_columns
from ..wrapper import ScoreParts


@dataclass(frozen=True, eq=False)
class ScoreColumnModel:
    """A model that calibrates the scores in a column of the table.

    Attributes
    ----------
    column : str
        The column of scores.
    sign : {1.0, -1.0}
        -1 if lower scores are more anomalous.
    encoder : TableEncoder
    calibrator : BaseCalibrator
    """

    column: str
    sign: float
    encoder: TableEncoder
    calibrator: BaseCalibrator

    @property
    def has_p_values(self) -> bool:
        """False, as no rows are held out."""
        return False

    def column_types(self) -> pa.Schema:
        """The columns needed and their types."""
        return self.encoder.arrow_schema().append(pa.field(self.column, pa.float64()))

    def base_score(self, table: pa.Table) -> Floats:
        """The scores in the table, higher = more anomalous."""
        scores = numeric_columns(table, [self.column], needed_by="calibration", allow_infinite=True)
        return self.sign * scores[:, 0]

    def score_parts(self, table: pa.Table) -> ScoreParts:
        """The scores in the table, the calibration terms, and the calibrated scores."""
        base = self.base_score(table)
        delta = self.calibrator.delta(self.encoder.transform(table))
        return ScoreParts(base, delta, self.calibrator.combine(base, delta))
