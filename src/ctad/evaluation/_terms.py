"""The calibration terms of a split."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import joblib

from ._calibrations import Calibration
from ._protocols import Split, Values
from ._single_thread import single_thread


@dataclass(frozen=True, eq=False)
class Term:
    """The terms of all rows of a split, the calibrator that made them, and its time."""

    values: Values
    calibrator: Any
    seconds: float  # for the test rows


class Terms:
    """The calibration terms of a split, each computed when it is needed first."""

    def __init__(self, split: Split, seed: int) -> None:
        self._split, self._seed = split, seed
        self._known: dict[str, Term] = {}

    def of(self, calibration: Calibration) -> Term:
        """The terms of a calibration. Equal calibrators share them."""
        calibrator = calibration.for_seed(self._seed)
        key = joblib.hash(calibrator)
        if key not in self._known:
            self._known[key] = self._computed(calibrator)
        return self._known[key]

    def _computed(self, calibrator: Any) -> Term:
        with single_thread():
            calibrator.fit(self._split.train)
            train = getattr(calibrator, "training_delta_", None)
            if train is None:  # not a calibrator of ctad
                train = calibrator.delta(self._split.train)
            started = time.perf_counter()
            test = calibrator.delta(self._split.test)
        return Term(Values(train, test), calibrator, time.perf_counter() - started)
