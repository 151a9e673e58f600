"""CalibratedDetector, and the parts it is made of."""

from .._result_types import DriftResult, ScoreParts
from ._calibrated_detector import CalibratedDetector
from ._calibrator_protocol import Calibrator
from ._conformal_decisions import ConformalDecisions
from ._detector_adapter import DetectorAdapter
from ._explanation import Explanation
from ._input import InputConverter
from ._nested_detectors import first_step
from ._report_content import report_content
from ._score_sign import scoring_method

__all__ = [
    "CalibratedDetector",
    "Calibrator",
    "ConformalDecisions",
    "DetectorAdapter",
    "DriftResult",
    "Explanation",
    "InputConverter",
    "ScoreParts",
    "first_step",
    "report_content",
    "scoring_method",
]
