"""Read anomaly scores, higher = more anomalous, from any kind of detector."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection._search import BaseSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from .._input import Scores, checked_scores

POLARITIES = ("auto", "higher", "lower")

# Matrix products round a row differently when it is alone or in a short remainder, and
# scikit-learn's neighbour search works through 256 rows at a time. Detectors therefore
# always see full blocks of this many rows.
BLOCK_ROWS = 256


class Reading(NamedTuple):
    """How to get scores out of a detector."""

    method: str  # "" if the detector is itself a function of X
    sign: float  # +1 if higher is more anomalous in the detector's own scores


# (method, package that defines it, sign). scikit-learn's `score_samples` is a likelihood
# or its stand-in wherever it occurs: higher is more normal.
_KNOWN = (
    ("decision_function", "ctad", 1.0),
    ("decision_function", "pyod", 1.0),
    ("score_samples", "sklearn", -1.0),
)


def reading_of(detector: Any, polarity: str) -> Reading:
    """Find the method that gives scores and its sign; the sign is never guessed."""
    known = _known_reading(detector)
    if polarity == "auto":
        if known is not None:
            return known
        raise ValueError(
            f"It is not known whether higher scores of {_name(detector)} mean more or less "
            "anomalous: say polarity='higher' or polarity='lower'."
        )
    sign = 1.0 if polarity == "higher" else -1.0
    if known is not None:
        return Reading(known.method, sign)
    for method in ("decision_function", "score_samples"):
        if hasattr(detector, method):
            return Reading(method, sign)
    if callable(detector):
        return Reading("", sign)
    raise TypeError(
        f"{_name(detector)} gives no scores: a detector needs decision_function or "
        "score_samples, or is a function of X."
    )


def is_fitted(detector: Any) -> bool:
    """Whether the detector can score as it is and must not be trained again."""
    if isinstance(detector, FrozenEstimator) or not hasattr(detector, "fit"):
        return True
    final = final_step(detector)
    if _defined_by(final, "decision_function") == "pyod":
        return hasattr(final, "decision_scores_")
    if isinstance(detector, BaseEstimator):
        try:
            check_is_fitted(detector)
        except NotFittedError:
            return False
        return True
    return any(name.endswith("_") and not name.startswith("__") for name in vars(detector))


def final_step(detector: Any) -> Any:
    """The detector inside pipelines, searches and frozen estimators."""
    while True:
        if isinstance(detector, Pipeline):
            detector = detector.steps[-1][1]
        elif isinstance(detector, FrozenEstimator):
            detector = detector.estimator
        elif isinstance(detector, BaseSearchCV):
            detector = getattr(detector, "best_estimator_", detector.estimator)
        else:
            return detector


def scores_of(detector: Any, reading: Reading, X: Any) -> Scores:
    """Scores of the rows of `X`, in one call."""
    function: Callable[[Any], Any] = (
        getattr(detector, reading.method) if reading.method else detector
    )
    return reading.sign * checked_scores(function(X), X, f"scores of {_name(detector)}")


def scores_in_full_blocks(detector: Any, reading: Reading, X: Any) -> Scores:
    """Scores that do not depend on how many rows there are, to the last bit."""
    n = X.shape[0]
    whole = n - n % BLOCK_ROWS
    parts = []
    if whole:
        parts.append(scores_of(detector, reading, X if whole == n else X[:whole]))
    if whole < n:
        last_block = np.minimum(np.arange(whole, whole + BLOCK_ROWS), n - 1)
        padded = _safe_indexing(X, last_block)
        parts.append(scores_of(detector, reading, padded)[: n - whole])
    return np.concatenate(parts)


def scores_depend_on_other_rows(detector: Any, reading: Reading, X: Any) -> bool:
    """Whether a row scores differently alone and among others (PyOD's ECOD does)."""
    together = scores_of(detector, reading, X[:32])
    alone = scores_of(detector, reading, X[:1])
    with np.errstate(invalid="ignore"):
        tolerance = 1e-7 * np.abs(together[np.isfinite(together)]).max(initial=0.0)
        return not (alone[0] == together[0] or abs(alone[0] - together[0]) <= tolerance)


def training_scores(detector: Any, reading: Reading, n: int) -> Scores | None:
    """The scores a fitted detector keeps of its own `n` training rows, if it does.

    They are better than scoring these rows anew: a neighbour search then leaves out the
    row itself.
    """
    final = final_step(detector)
    for attribute in ("decision_scores_", "negative_outlier_factor_"):
        kept = getattr(final, attribute, None)
        if kept is not None and len(kept) == n:
            return reading.sign * checked_scores(kept, kept, f"{attribute} of {_name(detector)}")
    return None


def _known_reading(detector: Any) -> Reading | None:
    final = final_step(detector)
    for method, package, sign in _KNOWN:
        if _defined_by(final, method) == package:
            try:
                getattr(detector, method)
            except AttributeError as error:
                reason = error.__cause__ or error
                raise TypeError(
                    f"{final!r} gives no scores for new rows: {reason}"
                    + (" Use novelty=True." if hasattr(final, "novelty") else "")
                ) from error
            return Reading(method, sign)
    return None


def _defined_by(detector: Any, method: str) -> str | None:
    """The package that wrote the method; a subclass that overrides it counts as its own."""
    for cls in type(detector).__mro__:
        if method in vars(cls):
            return cls.__module__.partition(".")[0]
    return None


def _name(detector: Any) -> str:
    final = final_step(detector)
    name = getattr(final, "__name__", type(final).__name__)
    return str(name)
