"""Fitted objects of every described type, and what users do with them."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

RANDOM = np.random.default_rng(0)
X_TRAIN = RANDOM.normal(size=(60, 3))
X_NEW = np.vstack([RANDOM.normal(size=(9, 3)), [[50.0, -50.0, 50.0]]])

METHODS = (
    *("transform", "decision_function", "score_samples", "predict", "predict_proba"),
    *("delta", "anomaly_score", "kneighbors"),
)


@dataclass(frozen=True)
class Example:
    """An object of a described type.

    Attributes
    ----------
    type : str
        As in its description.
    make : callable
        Makes the object, fitted unless its type cannot be.
    rows : array or table
        New rows to use it on.
    name : str
        What is special about it.
    slow : bool
        Whether it takes seconds, as detectors of PyOD that are compiled when they are used.
    """

    type: str
    make: Callable[[], Any]
    rows: Any = None
    name: str = ""
    slow: bool = False

    def __str__(self) -> str:
        return f"{self.type.rpartition('.')[2]} {self.name}".strip()

    def made(self) -> Any:
        """The object."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self.make()

    def results(self, item: Any) -> dict[str, Any]:
        """What its methods give for the new rows."""
        rows = X_NEW if self.rows is None else self.rows
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            results = {
                method: getattr(item, method)(rows) for method in METHODS if hasattr(item, method)
            }
        return {
            method: found.toarray() if hasattr(found, "toarray") else found
            for method, found in results.items()
        }
