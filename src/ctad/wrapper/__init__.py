"""CalibratedDetector, and the parts it is put together from."""

from .._result_types import ColumnDrift, DriftResult, ScoreParts
from ._adapters import DetectorAdapter, ScoringMethod, scoring_method
from ._calibrated_detector import CalibratedDetector
from ._conformal import ConformalDecisions
from ._explanation import Explanation
from ._input import InputConverter
from ._report_content import report_content

__all__ = [
    "CalibratedDetector",
    "ColumnDrift",
    "ConformalDecisions",
    "DetectorAdapter",
    "DriftResult",
    "Explanation",
    "InputConverter",
    "ScoreParts",
    "ScoringMethod",
    "report_content",
    "scoring_method",
]
