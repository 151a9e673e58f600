"""Detectors with calibrated scores."""

from ._calibrated import CalibratedDetector
from ._conformal import Scored
from ._saving import load
from ._scoring import reading_of

__all__ = ["CalibratedDetector", "Scored", "load", "reading_of"]
