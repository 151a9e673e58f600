"""The methods that CalibratedDetector needs of a calibrator."""

from __future__ import annotations

from inspect import Parameter, signature
from typing import Any, Protocol

from .._types import Floats, Rows
from .._validation import check_scores
from ..calibration import DeltaParts


class Calibrator(Protocol):
    """What `CalibratedDetector` needs of a calibrator; `fit` checks it.

    Subclasses of `ctad.calibration.BaseCalibrator` have all of it, and the methods that `explain`
    and `report` need: `delta_parts`, `contributions` and `reference_points`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.ensemble import IsolationForest
    >>> from ctad import CalibratedDetector
    >>> class DistanceFromMean:
    ...     def fit(self, X, *, scores):
    ...         self.mean_ = X.mean(axis=0)
    ...         return self
    ...     def delta(self, X):
    ...         return np.linalg.norm(X - self.mean_, axis=1)
    ...     def combine(self, scores, delta):
    ...         return scores + delta
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> detector = CalibratedDetector(IsolationForest(), DistanceFromMean()).fit(X)
    >>> detector.predict([[0.0, 0.0], [9.0, 9.0]])
    array([0, 1])
    """

    def fit(self, X: Floats, *, scores: Floats) -> Any:
        """Fit to training rows and the detector's scores of them, higher = more anomalous."""

    def delta(self, X: Rows) -> Floats:
        """The calibration term of each row: higher = more anomalous."""

    def combine(self, scores: Floats, delta: Floats) -> Floats:
        """The calibrated scores, from the detector's scores and the terms."""


class ExplainableCalibrator(Calibrator, Protocol):
    """What `explain` and `report` need beyond that."""

    def delta_parts(self, X: Rows) -> DeltaParts:
        """The term of each row, attributed to its columns."""

    def contributions(self, scores: Floats, delta: Floats) -> tuple[Floats, Floats]:
        """What score and term each add to the calibrated score."""

    def reference_points(self) -> tuple[Floats, Floats]:
        """Reference rows and centroids, in the units of the rows."""


def check_calibrator(calibrator: Any) -> None:
    """Raise unless the calibrator has the methods that scoring needs."""
    if isinstance(calibrator, type):
        raise TypeError(f"calibrator is a class; pass an object: {calibrator.__name__}()")
    missing = _missing(calibrator, Calibrator)
    if missing:
        raise TypeError(
            f"calibrator {calibrator!r} has no {', '.join(missing)}: a calibrator needs "
            "fit(X, scores=), delta(X) and combine(scores, delta). Pass None for the default, "
            "RelaxedCTAD() or CTAD()."
        )
    parameters = signature(calibrator.fit).parameters
    accepts_any = any(each.kind is Parameter.VAR_KEYWORD for each in parameters.values())
    if "scores" not in parameters and not accepts_any:
        raise TypeError(
            f"fit of calibrator {calibrator!r} has no parameter scores: a calibrator needs "
            "fit(X, scores=)"
        )


def delta_of(calibrator: Calibrator, X: Rows) -> Floats:
    """The calibration term of each row, checked: the calibrator may be a user's own."""
    return check_scores(calibrator.delta(X), X, f"{type(calibrator).__name__}.delta(X)")


def training_delta_of(calibrator: Calibrator, X: Floats) -> Floats:
    """The terms of the training rows that a BaseCalibrator keeps, else those of `delta`."""
    kept = getattr(calibrator, "training_delta_", None)
    if kept is None:
        return delta_of(calibrator, X)
    return check_scores(kept, X, f"{type(calibrator).__name__}.training_delta_")


def combine_with(calibrator: Calibrator, scores: Floats, delta: Floats) -> Floats:
    """The calibrated scores, checked."""
    name = f"{type(calibrator).__name__}.combine(scores, delta)"
    return check_scores(calibrator.combine(scores, delta), scores, name)


def check_explainable(calibrator: Any) -> None:
    """Raise unless the calibrator has the methods that explanations need."""
    missing = _missing(calibrator, ExplainableCalibrator)
    if missing:
        raise TypeError(
            f"{type(calibrator).__name__} has no {missing[0]}(), so explain() and report() are "
            "not available"
        )


def _missing(calibrator: Any, protocol: type) -> list[str]:
    needed = [name for name in vars(protocol) if not name.startswith("_")]
    return [name for name in needed if not callable(getattr(calibrator, name, None))]
