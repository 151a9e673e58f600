"""Scores that a table brings along, in place of a detector."""

from __future__ import annotations

from typing import NamedTuple

import pyarrow as pa

from .._types import Floats
from ..calibration import BaseCalibrator
from ..tables import TableEncoder, arrow_schema, plain_numbers
from ..wrapper import ScoreParts


class ColumnOfScores(NamedTuple):
    """Scores from a column of the table, calibrated: what the engine needs of a model."""

    column: str
    sign: float
    encoder: TableEncoder
    calibrator: BaseCalibrator

    @property
    def has_p_values(self) -> bool:
        """No rows are held out."""
        return False

    def column_types(self) -> pa.Schema:
        """The columns needed and their types."""
        return arrow_schema(self.encoder).append(pa.field(self.column, pa.float64()))

    def base_score(self, table: pa.Table) -> Floats:
        """The scores in the table, higher = more anomalous."""
        scores = plain_numbers(table, [self.column], needed_by="calibration", infinite=True)
        return self.sign * scores[:, 0]

    def score_parts(self, table: pa.Table) -> ScoreParts:
        """All that makes up the score of each row."""
        base = self.base_score(table)
        delta = self.calibrator.delta(self.encoder.transform(table))
        return ScoreParts(base, delta, self.calibrator.combine(base, delta))
