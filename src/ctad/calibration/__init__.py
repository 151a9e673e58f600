"""Calibrators: a term per row, fitted on normal rows, that is added to a detector's score."""

from ._agreement import expected_gain
from ._base import BaseCalibrator
from ._baselines import CentroidDistance, MahalanobisDistance, TransportOnly
from ._contributions import DeltaParts, Moves, Neighbours
from ._ctad import CTAD
from ._draw import Draw, DrawSettings, new_draw
from ._relaxed import RelaxedCTAD
from ._score_scaling import ScoreScaling
from ._transport_calibrator import TransportCalibrator

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
    "DeltaParts",
    "Draw",
    "DrawSettings",
    "MahalanobisDistance",
    "Moves",
    "Neighbours",
    "RelaxedCTAD",
    "ScoreScaling",
    "TransportCalibrator",
    "TransportOnly",
    "expected_gain",
    "new_draw",
]
