"""Detectors with calibrated scores."""

from ._calibrated import CalibratedDetector, Scored
from ._saving import load

__all__ = ["CalibratedDetector", "Scored", "load"]
