"""Detectors with calibrated scores."""

from ._calibrated import CalibratedDetector
from ._conformal import Scored
from ._explanation import Explanation
from ._reporting import gather
from ._saving import load
from ._scoring import reading_of

__all__ = ["CalibratedDetector", "Explanation", "Scored", "gather", "load", "reading_of"]
