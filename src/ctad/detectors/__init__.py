"""Detectors by name."""

from ._registry import KNOWN_DETECTORS, KnownDetector, make

__all__ = ["KNOWN_DETECTORS", "KnownDetector", "make"]
