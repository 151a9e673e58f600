"""Read anomaly scores, higher = more anomalous, from any kind of detector."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np
from joblib import parallel_config
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.validation import check_is_fitted

from .._blocks import in_blocks
from .._input import Floats, checked_scores

POLARITIES = ("auto", "higher", "lower")
SEARCHES = (GridSearchCV, RandomizedSearchCV)

# These work on each row on its own and need no blocks.
ROW_BY_ROW = {
    *("IForest", "IsolationForest", "OCSVM", "OneClassSVM"),
    *("MaxAbsScaler", "MinMaxScaler", "RobustScaler", "StandardScaler"),
}


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
    if isinstance(detector, type):
        raise TypeError(f"detector is a class; pass an object: {detector.__name__}()")
    if isinstance(detector, str):
        raise TypeError(f"detector is a text; pass an object: ctad.detectors.make({detector!r})")
    known = _known_reading(detector)
    method = _scoring_method(detector) if known is None else known.method
    if polarity == "auto":
        if known is not None:
            return known
        raise ValueError(
            f"It is not known whether higher scores of {name_of(detector)} mean more or less "
            "anomalous: say polarity='higher' or polarity='lower'."
        )
    return Reading(method, 1.0 if polarity == "higher" else -1.0)


def _scoring_method(detector: Any) -> str:
    for method in ("decision_function", "score_samples"):
        if hasattr(detector, method):
            return method
    if callable(detector):
        return ""
    raise TypeError(
        f"{name_of(detector)} gives no scores: a detector needs decision_function or "
        "score_samples, or is a function of X."
    )


def is_fitted(detector: Any) -> bool:
    """Whether the detector can score as it is and must not be trained again."""
    if isinstance(detector, FrozenEstimator) or not hasattr(detector, "fit"):
        return True
    if isinstance(detector, Pipeline):
        return all(is_fitted(step) for _, step in detector.steps)
    if "pyod" in _packages_of(detector):
        return getattr(detector, "decision_scores_", None) is not None
    if isinstance(detector, BaseEstimator):
        try:
            check_is_fitted(detector)
        except NotFittedError:
            return False
        return True
    if hasattr(detector, "__sklearn_is_fitted__"):
        return bool(detector.__sklearn_is_fitted__())
    return any(
        name.endswith("_") and not name.startswith("__") and value is not None
        for name, value in getattr(detector, "__dict__", {}).items()
    )


def final_step(detector: Any) -> Any:
    """The detector inside pipelines, searches and frozen estimators."""
    return _step(detector, -1)


def name_of(detector: Any) -> str:
    """What to call the detector in a message."""
    final = final_step(detector)
    return str(getattr(final, "__name__", type(final).__name__))


def scores_of(detector: Any, reading: Reading, X: Any) -> Floats:
    """Scores of the rows of `X`, in one call."""
    function: Callable[[Any], Any] = (
        getattr(detector, reading.method) if reading.method else detector
    )
    # Several threads would add up the trees of a forest in the order in which they finish.
    with parallel_config("sequential") if _scores_row_by_row(detector) else nullcontext():
        scores = function(X)
    return reading.sign * checked_scores(scores, X, f"scores of {name_of(detector)}")


def scores_in_blocks(detector: Any, reading: Reading, X: Any) -> Floats:
    """Scores that do not depend on the other rows of the call."""
    if _scores_row_by_row(detector):
        return scores_of(detector, reading, X)
    return in_blocks(lambda block: scores_of(detector, reading, block), X)


def scores_depend_on_other_rows(detector: Any, reading: Reading, X: Any) -> bool:
    """Whether rows score differently in other company (PyOD's ECOD does this)."""
    n = X.shape[0]
    sample = np.random.default_rng(0).choice(n, min(32, n), replace=False)
    every_other = slice(None, None, -2)  # from the end, so that neighbours change, too
    try:
        among_more = scores_of(detector, reading, _safe_indexing(X, sample))[every_other]
        among_fewer = scores_of(detector, reading, _safe_indexing(X, sample[every_other]))
    except Exception:
        # Some (PyOD's COF) cannot score few rows, because they compare them with each other.
        scores_of(detector, reading, X)
        return True
    finite = np.isfinite(among_more)
    if not np.array_equal(among_more[~finite], among_fewer[~finite]):
        return True
    # Matrix products round differently, in single precision at 1e-6; a detector that looks
    # at other rows differs by more.
    tolerance = 5e-6 * np.abs(among_more[finite]).max(initial=0.0)
    return bool(np.any(np.abs(among_more[finite] - among_fewer[finite]) > tolerance))


def kept_training_scores(detector: Any, reading: Reading) -> Floats | None:
    """The scores that PyOD's detectors and LocalOutlierFactor keep of their training rows.

    They are better than scoring these rows anew: a neighbour search then leaves out the
    row itself.
    """
    if _known_reading(detector) is None:  # a subclass may score by another method than this
        return None
    final = final_step(detector)
    for attribute in ("decision_scores_", "negative_outlier_factor_"):
        kept = getattr(final, attribute, None)
        if kept is not None:
            return reading.sign * checked_scores(kept, kept, f"{attribute} of {name_of(detector)}")
    return None


def learnt_from(detector: Any, rows: Floats) -> bool:
    """Whether a neighbour search inside the detector holds exactly these rows.

    Only then do kept scores matter: others score their training rows anew as they did first.
    """
    final = final_step(detector)
    for part in (final, *getattr(final, "__dict__", {}).values()):
        remembered = getattr(part, "_fit_X", None)
        if isinstance(remembered, np.ndarray):
            return np.array_equal(remembered, rows)
    return False


def reads_tables(detector: Any, fitted: bool) -> bool:
    """Whether a table goes to the detector as it is, for its column names may be used.

    Single detectors of scikit-learn, PyOD and ctad do not use them, and check them if they were
    fitted with them.
    """
    first = _step(detector, 0)
    if fitted and hasattr(first, "feature_names_in_"):
        return True
    if not type(first).__module__.startswith(("pyod.", "sklearn.", "ctad.detectors.")):
        return True
    if isinstance(first, ColumnTransformer | FeatureUnion | FunctionTransformer):
        return True
    takes = get_tags(first).input_tags if isinstance(first, BaseEstimator) else None
    return takes is not None and (takes.categorical or takes.string)


def columns_known_to(detector: Any) -> list[str] | None:
    """The columns that a detector trained before wants, in this order, if it remembers them."""
    names = getattr(_step(detector, 0), "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def _step(detector: Any, place: int) -> Any:
    """The first or last step inside pipelines, searches and frozen estimators."""
    while True:
        if isinstance(detector, Pipeline):
            steps = [step for _, step in detector.steps if step not in (None, "passthrough")]
            detector = steps[place]
        elif isinstance(detector, FrozenEstimator):
            detector = detector.estimator
        elif isinstance(detector, SEARCHES):
            detector = getattr(detector, "best_estimator_", detector.estimator)
        else:
            return detector


def _scores_row_by_row(detector: Any) -> bool:
    if isinstance(detector, FrozenEstimator):
        return _scores_row_by_row(detector.estimator)
    if isinstance(detector, Pipeline):
        return all(_scores_row_by_row(step) for _, step in detector.steps)
    package = type(detector).__module__.partition(".")[0]
    return package in ("pyod", "sklearn") and type(detector).__name__ in ROW_BY_ROW


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


def _packages_of(detector: Any) -> set[str]:
    """The packages its class and the classes it inherits from come from."""
    return {cls.__module__.partition(".")[0] for cls in type(detector).__mro__}
