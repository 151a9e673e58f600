"""Improve the scores of any tabular anomaly detector by optimal transport."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .calibration import CTAD, RelaxedCTAD
    from .persistence import load
    from .wrapper import CalibratedDetector

__version__ = "0.1.0"
__all__ = ["CTAD", "CalibratedDetector", "RelaxedCTAD", "load"]

# Loaded when first used: scikit-learn imports pandas wherever that is installed.
_MODULE_OF = {
    "CTAD": "calibration",
    "CalibratedDetector": "wrapper",
    "RelaxedCTAD": "calibration",
    "load": "persistence",
}


def __getattr__(name: str) -> object:
    if name in _MODULE_OF:
        return getattr(import_module(f".{_MODULE_OF[name]}", __name__), name)
    raise AttributeError(f"module 'ctad' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
