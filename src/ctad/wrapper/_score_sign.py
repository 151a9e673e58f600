"""The sign of a detector's scores: whether higher or lower is more anomalous."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .._validation import check_choice
from ..errors import InputError
from ._nested_detectors import final_step, name_of

POLARITIES = ("auto", "higher", "lower")
METHODS = ("decision_function", "score_samples")


@dataclass(frozen=True)
class ScoringMethod:
    """The method that gives a detector's scores, and their sign.

    Attributes
    ----------
    method : {"decision_function", "score_samples", ""}
        "" if the detector is itself a function of X.
    sign : {1.0, -1.0}
        1.0 if higher scores of the detector are more anomalous.
    """

    method: str
    sign: float


# `score_samples` of scikit-learn is a likelihood or similar: higher is more normal.
METHOD_BY_PACKAGE = {
    "ctad": ScoringMethod("decision_function", 1.0),
    "pyod": ScoringMethod("decision_function", 1.0),
    "sklearn": ScoringMethod("score_samples", -1.0),
}


def scoring_method(detector: Any, polarity: str = "auto") -> ScoringMethod:
    """Find the method that gives a detector's scores, and their sign. The sign is never guessed.

    Parameters
    ----------
    detector : object
        As for `CalibratedDetector`, fitted or not.
    polarity : {"auto", "higher", "lower"}, default="auto"
        As for `CalibratedDetector`.

    Returns
    -------
    ScoringMethod
        `method`, the name of a method or "" for a function, and `sign`, 1.0 or -1.0.

    Examples
    --------
    >>> from sklearn.ensemble import IsolationForest
    >>> from ctad.wrapper import scoring_method
    >>> scoring_method(IsolationForest())
    ScoringMethod(method='score_samples', sign=-1.0)
    """
    check_choice("polarity", polarity, POLARITIES)
    if isinstance(detector, type):
        raise TypeError(f"detector is a class; pass an object: {detector.__name__}()")
    if isinstance(detector, str):
        raise TypeError(f"detector is a string; pass an object: ctad.detectors.make({detector!r})")
    known = recognised_method(detector)
    if polarity == "auto":
        if known is not None:
            return known
        _method_name(detector)  # raises if the detector has no scores at all
        raise InputError(
            f"It is not known whether higher or lower scores of {name_of(detector)} are more "
            "anomalous: say polarity='higher' or polarity='lower'."
        )
    method = _method_name(detector) if known is None else known.method
    return ScoringMethod(method, 1.0 if polarity == "higher" else -1.0)


def recognised_method(detector: Any) -> ScoringMethod | None:
    """The scoring method of a detector of ctad, PyOD or scikit-learn, else None."""
    final = final_step(detector)
    for package, known in METHOD_BY_PACKAGE.items():
        if _defined_by(final, known.method) == package:
            try:
                getattr(detector, known.method)
            except AttributeError as error:
                hint = ": use novelty=True" if hasattr(final, "novelty") else ""
                raise InputError(f"{final!r} does not score new rows{hint}") from error
            return known
    return None


def _method_name(detector: Any) -> str:
    for method in METHODS:
        if hasattr(detector, method):
            return method
    if callable(detector):
        return ""
    raise TypeError(
        f"{name_of(detector)} has no scores: a detector needs decision_function(X) or "
        "score_samples(X), or is a function of X."
    )


def _defined_by(detector: Any, method: str) -> str | None:
    """The package that defines the method. A subclass that overrides it may change the sign, so
    its own package counts."""
    for cls in type(detector).__mro__:
        if method in vars(cls):
            return cls.__module__.partition(".")[0]
    return None
