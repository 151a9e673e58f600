"""Adapters to detectors of any kind: scores that are higher for more anomalous rows."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, Self

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

from .._fixed_batches import in_blocks
from .._types import Floats
from .._validation import check_choice, check_scores
from ..errors import InputError

POLARITIES = ("auto", "higher", "lower")
METHODS = ("decision_function", "score_samples")
SEARCHES = (GridSearchCV, RandomizedSearchCV)

# These score each row separately and need no fixed batches.
ROW_BY_ROW = {
    *("IForest", "IsolationForest", "OCSVM", "OneClassSVM"),
    *("MaxAbsScaler", "MinMaxScaler", "RobustScaler", "StandardScaler"),
}


@dataclass(frozen=True)
class ScoringMethod:
    """The method that gives a detector's scores, and their sign.

    Attributes
    ----------
    method : {"decision_function", "score_samples", ""}
        "" if the detector is itself a function of X.
    sign : {1.0, -1.0}
        1.0 if higher is more anomalous in the detector's own scores.
    """

    method: str
    sign: float

    def __post_init__(self) -> None:
        if self.method not in ("", *METHODS) or self.sign not in (1.0, -1.0):
            raise InputError(f"no scoring method {self.method!r} with sign {self.sign!r}")


# scikit-learn's `score_samples` is a likelihood or a substitute for one: higher is more normal.
METHOD_BY_PACKAGE = {
    "ctad": ScoringMethod("decision_function", 1.0),
    "pyod": ScoringMethod("decision_function", 1.0),
    "sklearn": ScoringMethod("score_samples", -1.0),
}


def scoring_method(detector: Any, polarity: str = "auto") -> ScoringMethod:
    """Find the method that gives scores and its sign; the sign is never guessed.

    Parameters
    ----------
    detector : object
        As for `CalibratedDetector`, fitted or not.
    polarity : {"auto", "higher", "lower"}, default="auto"
        As for `CalibratedDetector`.

    Returns
    -------
    ScoringMethod

    Examples
    --------
    >>> from sklearn.ensemble import IsolationForest
    >>> scoring_method(IsolationForest())
    ScoringMethod(method='score_samples', sign=-1.0)
    """
    check_choice("polarity", polarity, POLARITIES)
    if isinstance(detector, type):
        raise TypeError(f"detector is a class; pass an object: {detector.__name__}()")
    if isinstance(detector, str):
        raise TypeError(f"detector is a string; pass an object: ctad.detectors.make({detector!r})")
    known = _recognised_method(detector)
    if polarity == "auto":
        if known is not None:
            return known
        _method_name(detector)  # an object without scores is the first error to report
        raise InputError(
            f"It is not known whether higher scores of {name_of(detector)} mean more or less "
            "anomalous: say polarity='higher' or polarity='lower'."
        )
    method = _method_name(detector) if known is None else known.method
    return ScoringMethod(method, 1.0 if polarity == "higher" else -1.0)


def _method_name(detector: Any) -> str:
    for method in METHODS:
        if hasattr(detector, method):
            return method
    if callable(detector):
        return ""
    raise TypeError(
        f"{name_of(detector)} gives no scores: a detector needs decision_function or "
        "score_samples, or is a function of X."
    )


@dataclass(frozen=True, eq=False)
class DetectorAdapter:
    """A fitted detector whose scores are higher for more anomalous rows.

    Attributes
    ----------
    detector : object
        Fitted.
    scoring : ScoringMethod
    batch_dependent : bool
        Whether the score of a row depends on the other rows of the call, as with PyOD's ECOD.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.ensemble import IsolationForest
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> adapter = DetectorAdapter.fitted(IsolationForest(random_state=0).fit(X), X)
    >>> adapter.name, adapter.batch_dependent
    ('IsolationForest', False)
    >>> normal, far_away = adapter.score(np.array([[0.0, 0.0], [9.0, 9.0]]))
    >>> bool(far_away > normal)
    True
    """

    detector: Any
    scoring: ScoringMethod
    batch_dependent: bool = False

    def __post_init__(self) -> None:
        method = self.scoring.method
        if method and not hasattr(self.detector, method):
            raise InputError(f"{self.name} has no method {method!r} to score rows with")

    @classmethod
    def fitted(cls, detector: Any, X: Any, scoring: ScoringMethod | None = None) -> Self:
        """Adapt a fitted detector; score some rows to see whether they depend on the batch.

        Parameters
        ----------
        detector : object
        X : array or data frame
            Rows in the form the detector was trained on.
        scoring : ScoringMethod, optional
            None: `scoring_method(detector)`.

        Returns
        -------
        DetectorAdapter
        """
        found = scoring_method(detector) if scoring is None else scoring
        return cls(detector, found, _depends_on_the_batch(detector, found, X))

    @property
    def name(self) -> str:
        """The detector's name in messages."""
        return name_of(self.detector)

    @property
    def final_step(self) -> Any:
        """The detector inside pipelines, searches and frozen estimators."""
        return final_step(self.detector)

    def score(self, X: Any) -> Floats:
        """Score rows; unless the detector is batch-dependent, scores do not depend on the batch.

        Parameters
        ----------
        X : array or data frame
            Rows in the form the detector was trained on.

        Returns
        -------
        ndarray of shape (n,)
        """
        if self.batch_dependent or _scores_row_by_row(self.detector):
            return _scores_in_one_call(self.detector, self.scoring, X)
        return in_blocks(lambda block: _scores_in_one_call(self.detector, self.scoring, block), X)

    def kept_training_scores(self) -> Floats | None:
        """The training scores that PyOD's detectors and LocalOutlierFactor keep, or None.

        They are better than scores of the same rows as new rows: a neighbour search then leaves
        out the row itself.

        Returns
        -------
        ndarray of shape (n,) or None
        """
        if _recognised_method(self.detector) is None:  # a subclass may score in another way
            return None
        for attribute in ("decision_scores_", "negative_outlier_factor_"):
            kept = getattr(self.final_step, attribute, None)
            if kept is not None:
                origin = f"{attribute} of {self.name}"
                return self.scoring.sign * check_scores(kept, kept, origin)
        return None


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
    """The detector's name in messages."""
    final = final_step(detector)
    return str(getattr(final, "__name__", type(final).__name__))


def _scores_in_one_call(detector: Any, scoring: ScoringMethod, X: Any) -> Floats:
    function: Callable[[Any], Any] = (
        getattr(detector, scoring.method) if scoring.method else detector
    )
    # Several threads would add up the trees of a forest in the order in which they finish.
    with parallel_config("sequential") if _scores_row_by_row(detector) else nullcontext():
        scores = function(X)
    return scoring.sign * check_scores(scores, X, f"scores of {name_of(detector)}")


def _depends_on_the_batch(detector: Any, scoring: ScoringMethod, X: Any) -> bool:
    """Whether rows score differently in a different batch."""
    n = X.shape[0]
    sample = np.random.default_rng(0).choice(n, min(32, n), replace=False)
    every_other = slice(None, None, -2)  # from the end, so that neighbours change, too
    try:
        among_more = _scores_in_one_call(detector, scoring, _safe_indexing(X, sample))[every_other]
        among_fewer = _scores_in_one_call(detector, scoring, _safe_indexing(X, sample[every_other]))
    except Exception:
        # Some (PyOD's COF) cannot score few rows, because they compare them with each other.
        _scores_in_one_call(detector, scoring, X)
        return True
    finite = np.isfinite(among_more)
    if not np.array_equal(among_more[~finite], among_fewer[~finite]):
        return True
    # Matrix products round differently, in single precision at 1e-6; a detector that uses the
    # other rows differs by more.
    tolerance = 5e-6 * np.abs(among_more[finite]).max(initial=0.0)
    return bool(np.any(np.abs(among_more[finite] - among_fewer[finite]) > tolerance))


def was_trained_on(detector: Any, rows: Floats) -> bool:
    """Whether a neighbour search inside the detector holds exactly these rows.

    Kept scores matter only then: other detectors score their training rows again as before.
    """
    final = final_step(detector)
    for part in (final, *getattr(final, "__dict__", {}).values()):
        remembered = getattr(part, "_fit_X", None)
        if isinstance(remembered, np.ndarray):
            return np.array_equal(remembered, rows)
    return False


def reads_tables(detector: Any, fitted: bool) -> bool:
    """Whether a table goes to the detector as it is, because it may use column names.

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
    """The columns, in order, that a detector trained before needs, if it kept their names."""
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


def _recognised_method(detector: Any) -> ScoringMethod | None:
    """The scoring method of a detector of ctad, PyOD or scikit-learn."""
    final = final_step(detector)
    for package, known in METHOD_BY_PACKAGE.items():
        if _defined_by(final, known.method) == package:
            try:
                getattr(detector, known.method)
            except AttributeError as error:
                reason = error.__cause__ or error
                raise TypeError(
                    f"{final!r} gives no scores for new rows: {reason}"
                    + (" Use novelty=True." if hasattr(final, "novelty") else "")
                ) from error
            return known
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
