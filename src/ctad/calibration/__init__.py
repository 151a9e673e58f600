"""Calibrators: a term per row, fitted on normal rows, that is added to a detector's score."""

from ._agreement import expected_gain
from ._base_calibrator import BaseCalibrator
from ._centroid_distance import CentroidDistance
from ._column_scaling import ColumnScaling
from ._ctad import CTAD
from ._delta_parts import DeltaParts, Moves, Neighbours
from ._draw import Draw
from ._mahalanobis_distance import MahalanobisDistance
from ._neighbour_distance import NeighbourDistance
from ._relaxed_ctad import RelaxedCTAD
from ._score_scaling import ScoreScaling
from ._transport_only import TransportOnly

# The calibrations that the command and the benchmark know by name.
CALIBRATIONS: dict[str, type[CTAD] | type[RelaxedCTAD]] = {
    "recommended": RelaxedCTAD,
    "paper": CTAD,
}

__all__ = [
    "CALIBRATIONS",
    "CTAD",
    "BaseCalibrator",
    "CentroidDistance",
    "ColumnScaling",
    "DeltaParts",
    "Draw",
    "MahalanobisDistance",
    "Moves",
    "NeighbourDistance",
    "Neighbours",
    "RelaxedCTAD",
    "ScoreScaling",
    "TransportOnly",
    "expected_gain",
]
