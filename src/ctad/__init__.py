"""Make any anomaly detector for tables better by optimal transport."""

from .calibration import CTAD
from .detector import CalibratedDetector

__version__ = "0.1.0"
__all__ = ["CTAD", "CalibratedDetector"]
