"""Judge detectors and calibrations on labelled data sets: same rows, same seeds for both."""

from ._calibrations import NONE, Calibration, OwnCalibration
from ._cells import Cell, Metrics, Outcome, measure
from ._jobs import Source
from ._plan import Entry, GapEntry, Plan
from ._protocols import PROTOCOLS, Protocol, Split, Values
from ._results import Results
from ._run import run
from ._runtimes import transport_by_pot
from ._scores import Contestant, published_settings

__all__ = [
    "NONE",
    "PROTOCOLS",
    "Calibration",
    "Cell",
    "Contestant",
    "Entry",
    "GapEntry",
    "Metrics",
    "Outcome",
    "OwnCalibration",
    "Plan",
    "Protocol",
    "Results",
    "Source",
    "Split",
    "Values",
    "measure",
    "published_settings",
    "run",
    "transport_by_pot",
]
