"""One result of a benchmark: a detector on a data set, calibrated in one way."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from .._types import Booleans
from ._calibrations import Calibration
from ._detector_scores import DetectorScores
from ._errors import describe
from ._measure import Metrics, measure
from ._protocols import Protocol
from ._result_columns import RANGE
from ._terms import Terms
from ._versions import environment

SHARE = {RANGE: (0.0, 1.0)}
SECONDS = {RANGE: (0.0, 1e9)}


@dataclass(frozen=True)
class Cell:
    """Identifies a result.

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
    seed: int = field(metadata={RANGE: (0, 2**32 - 1)})


@dataclass(frozen=True)
class Outcome:
    """The metrics with and without calibration, and times; or an error.

    Attributes
    ----------
    environment : str
        Versions of libraries: a key of `Results.environments`.
    auc_pr, auc_roc, precision_at_n : float or None
        Metrics of the calibrated scores.
    base_auc_pr, base_auc_roc, base_precision_at_n : float or None
        Metrics of the detector alone.
    fit_seconds, score_seconds : float or None
        Times of training the detector, and of scoring all test rows.
    term_seconds : float or None
        Time of the calibration term of all test rows.
    error : str or None
        Why there are no metrics.
    """

    environment: str
    auc_pr: float | None = field(default=None, metadata=SHARE)
    auc_roc: float | None = field(default=None, metadata=SHARE)
    precision_at_n: float | None = field(default=None, metadata=SHARE)
    base_auc_pr: float | None = field(default=None, metadata=SHARE)
    base_auc_roc: float | None = field(default=None, metadata=SHARE)
    base_precision_at_n: float | None = field(default=None, metadata=SHARE)
    fit_seconds: float | None = field(default=None, metadata=SECONDS)
    score_seconds: float | None = field(default=None, metadata=SECONDS)
    term_seconds: float | None = field(default=None, metadata=SECONDS)
    error: str | None = None


def failed(error: BaseException) -> Outcome:
    """An outcome with the error."""
    return Outcome(environment().id, error=describe(error))


def outcomes(
    base: Callable[[], DetectorScores],
    calibrations: Iterable[Calibration],
    protocol: Protocol,
    terms: Terms,
    anomalous: Booleans,
) -> Iterator[Outcome]:
    """The outcome of each calibration of a detector; errors are outcomes, too."""
    try:
        found = base()
        plain = measure(found.scores.test, anomalous)
    except Exception as error:
        yield from (failed(error) for _ in calibrations)
        return
    for calibration in calibrations:
        metrics, term_seconds = plain, None
        try:
            if calibration.calibrator is not None:
                term = terms.of(calibration)
                calibrated = calibration.apply(found.scores, term.values, term.calibrator, protocol)
                metrics, term_seconds = measure(calibrated, anomalous), term.seconds
        except Exception as error:
            yield failed(error)
            continue
        yield Outcome(
            environment().id,
            **_rounded_metrics(metrics),
            **_rounded_metrics(plain, "base_"),
            fit_seconds=_rounded(found.fit_seconds),
            score_seconds=_rounded(found.score_seconds),
            term_seconds=_rounded(term_seconds),
        )


def _rounded_metrics(metrics: Metrics, prefix: str = "") -> dict[str, Any]:
    """Round to five digits; comparisons use fewer."""
    return {prefix + name: round(value, 5) for name, value in asdict(metrics).items()}


def _rounded(seconds: float | None) -> float | None:
    """Round to three digits; times vary by more than that."""
    return None if seconds is None else float(f"{seconds:.3g}")
