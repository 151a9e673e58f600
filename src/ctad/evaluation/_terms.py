"""The calibration terms of a split."""

from __future__ import annotations

import time

from ._calibrations import AnyCalibration
from ._protocols import Split, Values
from ._quiet import alone_and_quiet


class Terms:
    """The calibration terms of a split, each computed when first asked for."""

    def __init__(self, split: Split, seed: int) -> None:
        self._split, self._seed = split, seed
        self._known: dict[AnyCalibration, tuple[Values, float]] = {}

    def of(self, calibration: AnyCalibration) -> tuple[Values, float]:
        """The terms, and the seconds that those of the test rows took."""
        wanted = calibration.same_term
        if wanted not in self._known:
            with alone_and_quiet():
                calibrator = wanted.calibrator(self._seed).fit(self._split.train)
                train = getattr(calibrator, "training_delta_", None)
                if train is None:  # a calibrator of one's own
                    train = calibrator.delta(self._split.train)
                started = time.perf_counter()
                test = calibrator.delta(self._split.test)
                self._known[wanted] = Values(train, test), time.perf_counter() - started
        return self._known[wanted]
