"""Calibrators: a term per row, learnt from normal rows, that is added to a score."""

from ._base import BaseCalibrator
from ._ctad import CTAD
from .rivals import CentroidDistance, MahalanobisDistance, TransportOnly

__all__ = ["CTAD", "BaseCalibrator", "CentroidDistance", "MahalanobisDistance", "TransportOnly"]
