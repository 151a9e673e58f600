"""How much larger the calibration term of anomalies is than that of normal rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ._calibrations import AnyCalibration
from ._errors import describe
from ._terms import Terms


class Term(NamedTuple):
    """What was averaged."""

    dataset: str
    calibration: str
    protocol: str
    seed: int


class Gap(NamedTuple):
    """Its mean over normal and over anomalous test rows."""

    normal: float | None
    anomalous: float | None
    error: str | None = None


def gap(terms: Terms, anomalous: npt.NDArray[np.bool_], calibration: AnyCalibration) -> Gap:
    """Measure it on the test rows."""
    try:
        values = terms.of(calibration)[0].test
    except Exception as error:
        return no_gap(error)
    return Gap(float(values[~anomalous].mean()), float(values[anomalous].mean()))


def no_gap(error: BaseException) -> Gap:
    """A result that says why there is none."""
    return Gap(None, None, describe(error))
