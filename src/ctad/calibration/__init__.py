"""Calibrators: a term per row, learnt from normal rows, that is added to a score."""

from ._agreement import what_to_expect
from ._base import BaseCalibrator
from ._combination import combination_from_training
from ._ctad import CTAD
from ._draw import Draw
from ._parts import DeltaParts, Moves, Neighbours
from ._presets import PRESETS
from .rivals import CentroidDistance, MahalanobisDistance, TransportOnly

__all__ = [
    "CTAD",
    "PRESETS",
    "BaseCalibrator",
    "CentroidDistance",
    "DeltaParts",
    "Draw",
    "MahalanobisDistance",
    "Moves",
    "Neighbours",
    "TransportOnly",
    "combination_from_training",
    "what_to_expect",
]
