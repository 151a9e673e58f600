"""Wrapping of detectors: whatever gives scores gives calibrated scores."""

from ._calibrated import CalibratedDetector

__all__ = ["CalibratedDetector"]
