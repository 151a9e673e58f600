"""Detectors with calibrated scores."""

from ._calibrated import CalibratedDetector, Scored
from ._saving import load
from ._scoring import reading_of

__all__ = ["CalibratedDetector", "Scored", "load", "reading_of"]
