"""The paper's study, rebuilt: what to measure, and its tables and figures beside the paper's."""

from ._report import Report, build_report, study_in
from ._study import CALIBRATED, COMPARED, SEEDS, Study
from ._table import Table

__all__ = [
    "CALIBRATED",
    "COMPARED",
    "SEEDS",
    "Report",
    "Study",
    "Table",
    "build_report",
    "study_in",
]
