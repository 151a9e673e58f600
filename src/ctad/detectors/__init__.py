"""Detectors by name."""

from ._registry import KNOWN_DETECTORS, KnownDetector, known_detector, make

__all__ = ["KNOWN_DETECTORS", "KnownDetector", "known_detector", "make"]
