"""Bounds, separation and variance of the calibration term; proofs are on the page "Theory"."""

from ._bounds import Bounds, Constants, bounds, constants, lipschitz
from ._detection_rate import DetectionRate, detection_rate
from ._separation import Separation, separation
from ._variance import variance

__all__ = [
    "Bounds",
    "Constants",
    "DetectionRate",
    "Separation",
    "bounds",
    "constants",
    "detection_rate",
    "lipschitz",
    "separation",
    "variance",
]
