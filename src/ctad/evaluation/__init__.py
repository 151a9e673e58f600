"""Compare detectors and calibrations on labelled data sets: does calibration help?"""

from ._benchmark import Benchmark
from ._calibrations import NO_CALIBRATION, Calibration
from ._cells import Cell, Outcome
from ._contestants import Contestant
from ._detector_scores import detector_scores
from ._jobs import Source
from ._measure import Metrics, measure
from ._plan import Entry, Plan
from ._protocols import RANDOM_SPLIT, Protocol, Split, Values, add_by_training
from ._results import Results
from ._run import run
from ._store import Store

__all__ = [
    "NO_CALIBRATION",
    "RANDOM_SPLIT",
    "Benchmark",
    "Calibration",
    "Cell",
    "Contestant",
    "Entry",
    "Metrics",
    "Outcome",
    "Plan",
    "Protocol",
    "Results",
    "Source",
    "Split",
    "Store",
    "Values",
    "add_by_training",
    "detector_scores",
    "measure",
    "run",
]
