"""One result of a benchmark: a detector on a data set, calibrated in one way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.metrics import average_precision_score, roc_auc_score

from .._types import Floats
from ..errors import InputError
from ._calibrations import AnyCalibration
from ._errors import describe
from ._protocols import Protocol
from ._scores import DetectorScores
from ._terms import Terms
from ._versions import environment


class Cell(NamedTuple):
    """What a result is the result of.

    Attributes
    ----------
    dataset, detector, calibration, protocol : str
        Their names.
    seed : int
    """

    dataset: str
    detector: str
    calibration: str
    protocol: str
    seed: int


class Metrics(NamedTuple):
    """How well scores tell anomalies from normal rows.

    Attributes
    ----------
    auc_pr : float
        Average precision.
    auc_roc : float
    precision_at_n : float
        Of as many alarms as there are anomalies.
    """

    auc_pr: float
    auc_roc: float
    precision_at_n: float

    def rounded(self) -> Metrics:
        """To five digits, more than anything is compared by."""
        return Metrics(*(round(value, 5) for value in self))


class Outcome(NamedTuple):
    """The metrics of calibrated and of plain scores, seconds, and what went wrong, if it did.

    Attributes
    ----------
    environment : str
        Versions of libraries: a row of `environments.csv`.
    auc_pr, auc_roc, precision_at_n : float or None
        Of the calibrated scores.
    base_auc_pr, base_auc_roc, base_precision_at_n : float or None
        Of the detector alone.
    fit_seconds, score_seconds : float or None
        Of the detector; scoring all test rows.
    term_seconds : float or None
        Of the calibration term, all test rows.
    error : str or None
        What went wrong.
    """

    environment: str
    auc_pr: float | None = None
    auc_roc: float | None = None
    precision_at_n: float | None = None
    base_auc_pr: float | None = None
    base_auc_roc: float | None = None
    base_precision_at_n: float | None = None
    fit_seconds: float | None = None
    score_seconds: float | None = None
    term_seconds: float | None = None
    error: str | None = None


def failed(error: BaseException) -> Outcome:
    """An outcome that says why there is none."""
    return Outcome(environment().id, error=describe(error))


def measure(scores: Floats, anomalous: npt.NDArray[np.bool_]) -> Metrics:
    """Judge scores by labels; rows of infinite score are equal, and above all others.

    Examples
    --------
    >>> import numpy as np
    >>> from ctad.evaluation import measure
    >>> measure(np.array([0.1, 0.4, 0.3, 0.9]), np.array([False, False, True, True]))
    Metrics(auc_pr=0.8333333333333333, auc_roc=0.75, precision_at_n=0.5)
    """
    if np.isnan(scores).any():
        raise InputError(f"{np.isnan(scores).sum()} of {len(scores)} scores are not numbers")
    ranked = np.nan_to_num(scores.astype(np.float64), posinf=np.finfo(np.float64).max)
    n = int(anomalous.sum())
    # Of rows that share the last place, each is an alarm with the same probability.
    last = np.partition(ranked, -n)[-n]
    above, equal = ranked > last, ranked == last
    found = anomalous[above].sum() + (n - above.sum()) * anomalous[equal].mean()
    return Metrics(
        float(average_precision_score(anomalous, ranked)),
        float(roc_auc_score(anomalous, ranked)),
        float(found / n),
    )


def outcomes(
    base: Callable[[], DetectorScores],
    calibrations: Iterable[AnyCalibration],
    protocol: Protocol,
    terms: Terms,
    anomalous: npt.NDArray[np.bool_],
) -> Iterator[Outcome]:
    """The result of each calibration of a detector; what fails is a result that says so."""
    try:
        scores, fit_seconds, score_seconds = base()
        plain = measure(scores.test, anomalous)
    except Exception as error:
        yield from (failed(error) for _ in calibrations)
        return
    for calibration in calibrations:
        metrics, term_seconds = plain, None
        try:
            if calibration.method != "none":
                values, term_seconds = terms.of(calibration)
                metrics = measure(calibration.applied(scores, values, protocol), anomalous)
        except Exception as error:
            yield failed(error)
            continue
        yield Outcome(
            environment().id,
            *metrics.rounded(),
            *plain.rounded(),
            fit_seconds=_rounded(fit_seconds),
            score_seconds=_rounded(score_seconds),
            term_seconds=_rounded(term_seconds),
        )


def _rounded(seconds: float | None) -> float | None:
    """Times swing by more than that."""
    return None if seconds is None else float(f"{seconds:.3g}")
