"""Adapter to detectors of any kind: fits them, and scores rows so that higher is more anomalous."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from joblib import parallel_config
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing, gen_batches
from sklearn.utils.validation import check_is_fitted

from .._fixed_batches import score_in_fixed_batches
from .._types import Floats
from .._validation import check_scores
from ..errors import DetectorError, InputError
from ._neighbour_scores import NeighbourScorer
from ._nested_detectors import final_step, name_of
from ._packed_forest import ForestScorer
from ._score_sign import METHODS, ScoringMethod, recognised_method, scoring_method

# These score each row separately, and need no fixed batches.
ROW_BY_ROW = {
    *("IForest", "IsolationForest", "OCSVM", "OneClassSVM"),
    *("MaxAbsScaler", "MinMaxScaler", "RobustScaler", "StandardScaler"),
}

# So do neighbour searches in a tree; by brute force they multiply matrices. This is where a
# detector has its search; None: it is one itself.
NEIGHBOUR_SEARCH = {"KNN": "neigh_", "LOF": "detector_", "LocalOutlierFactor": None}
TREES = ("kd_tree", "ball_tree")

# These are scored in batches without padding, in which they keep at most so many numbers, unless
# there are so many for a single row.
NUMBERS_AT_ONCE = 2**17

# Errors that are not about the rows.
NOT_ABOUT_ROWS = (InputError, ImportError, MemoryError, OSError, Warning)


@dataclass(frozen=True, eq=False)
class DetectorAdapter:
    """A fitted detector whose scores are higher for more anomalous rows.

    Attributes
    ----------
    detector : object
        Fitted.
    method : {"decision_function", "score_samples", ""}
        The method that gives its scores; "" if the detector is itself a function of X.
    sign : {1.0, -1.0}
        1.0 if higher scores of the detector are more anomalous.
    batch_dependent : bool, default=False
        Whether the score of a row depends on the other rows of the call, as with PyOD's ECOD.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.ensemble import IsolationForest
    >>> from ctad.wrapper import DetectorAdapter
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> adapter = DetectorAdapter.fitted(IsolationForest(random_state=0).fit(X), X)
    >>> adapter.name, adapter.sign, adapter.batch_dependent
    ('IsolationForest', -1.0, False)
    >>> normal, far_away = adapter.score(np.array([[0.0, 0.0], [9.0, 9.0]]))
    >>> bool(far_away > normal)
    True
    """

    detector: Any
    method: str
    sign: float
    batch_dependent: bool = False

    def __post_init__(self) -> None:
        if self.method not in ("", *METHODS) or self.sign not in (1.0, -1.0):
            raise InputError(f"no scoring method {self.method!r} with sign {self.sign!r}")
        if self.method and not hasattr(self.detector, self.method):
            raise InputError(f"{self.name} has no method {self.method}()")

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
        dependent = _depends_on_the_batch(cls(detector, found.method, found.sign), X)
        return cls(detector, found.method, found.sign, dependent)

    @property
    def name(self) -> str:
        """The name of the detector in messages."""
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

        Raises
        ------
        DetectorError
            If the detector fails on these rows.
        """
        with _detector_errors(self.detector, "score", X):
            of_neighbours = self._neighbour_scorer(X)
        if of_neighbours is not None:
            return self.sign * of_neighbours
        if self.batch_dependent:
            return self._score_in_one_call(X)
        at_once = _rows_at_once(self.detector)
        if at_once is None:
            return score_in_fixed_batches(self._score_in_one_call, X)
        if len(X) <= at_once:
            return self._score_in_one_call(X)
        batches = gen_batches(len(X), at_once)
        parts = [self._score_in_one_call(_safe_indexing(X, batch)) for batch in batches]
        return np.concatenate(parts)

    def kept_training_scores(self) -> Floats | None:
        """The training scores that PyOD's detectors and LocalOutlierFactor keep, or None.

        They are better than scores of the same rows as new rows: a neighbour search then leaves
        out the row itself.

        Returns
        -------
        ndarray of shape (n,) or None
        """
        if recognised_method(self.detector) is None:  # a subclass may score in another way
            return None
        for attribute in ("decision_scores_", "negative_outlier_factor_"):
            kept = getattr(self.final_step, attribute, None)
            if kept is not None:
                return self.sign * check_scores(kept, kept, f"{attribute} of {self.name}")
        return None

    @cached_property
    def _forest_scorer(self) -> ForestScorer:
        return ForestScorer(self.detector, self.method)

    @cached_property
    def _neighbour_scorer(self) -> NeighbourScorer:
        return NeighbourScorer(self.detector, self.method)

    def _score_in_one_call(self, X: Any) -> Floats:
        score = getattr(self.detector, self.method) if self.method else self.detector
        with _detector_errors(self.detector, "score", X):
            of_forest = self._forest_scorer(X)
        if of_forest is not None:
            return self.sign * of_forest
        # Several threads would add up the trees of a forest in the order in which they finish.
        threads = parallel_config("sequential") if _rows_at_once(self.detector) else None
        with _detector_errors(self.detector, "score", X), threads or nullcontext():
            scores = score(X)
        return self.sign * check_scores(scores, X, f"scores of {self.name}")


def fit_detector(detector: Any, X: Any) -> None:
    """Fit a detector.

    Raises
    ------
    DetectorError
        If the detector fails on these rows.
    """
    with _detector_errors(detector, "fit", X):
        detector.fit(X)


@contextmanager
def _detector_errors(detector: Any, doing: str, X: Any) -> Iterator[None]:
    """Raise a detector's own errors as DetectorError, with the detector and the rows named."""
    try:
        yield
    except NOT_ABOUT_ROWS:
        raise
    except Exception as error:
        raise DetectorError(
            f"{name_of(detector)} failed to {doing} rows of shape {X.shape}: "
            f"{type(error).__name__}: {error}"
        ) from error


def is_fitted(detector: Any) -> bool:
    """Whether the detector is already fitted, so that it must not be fitted again."""
    if isinstance(detector, FrozenEstimator) or not hasattr(detector, "fit"):
        return True
    if isinstance(detector, Pipeline):
        return all(is_fitted(step) for _, step in detector.steps)
    packages = {cls.__module__.partition(".")[0] for cls in type(detector).__mro__}
    if "pyod" in packages:
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


def was_trained_on(detector: Any, rows: Floats) -> bool:
    """Whether a neighbour search inside the detector holds exactly these rows.

    Only then do kept scores matter: other detectors give a training row the same score again.
    """
    final = final_step(detector)
    for part in (final, *getattr(final, "__dict__", {}).values()):
        training_rows = getattr(part, "_fit_X", None)
        if isinstance(training_rows, np.ndarray):
            return np.array_equal(training_rows, rows)
    return False


def _rows_at_once(detector: Any) -> int | None:
    """How many rows may be scored in a call; None if they need fixed batches."""
    if isinstance(detector, FrozenEstimator):
        return _rows_at_once(detector.estimator)
    if isinstance(detector, Pipeline):
        of_steps = [_rows_at_once(step) for _, step in detector.steps]
        known = [rows for rows in of_steps if rows is not None]
        return min(known) if len(known) == len(of_steps) else None
    module, name = type(detector).__module__, type(detector).__name__
    if module.startswith("ctad.detectors."):  # these use fixed batches themselves
        return sys.maxsize
    if not module.startswith(("pyod.", "sklearn.")):
        return None
    if name in NEIGHBOUR_SEARCH:
        place = NEIGHBOUR_SEARCH[name]
        search: Any = detector if place is None else getattr(detector, place, None)
        if getattr(search, "_fit_method", None) not in TREES:
            return None
        return max(1, NUMBERS_AT_ONCE // int(search.n_neighbors))
    if module == "pyod.models.pca":  # scikit-learn's PCA, which multiplies matrices, has this name
        return max(1, NUMBERS_AT_ONCE // int(max(detector.components_.shape)))
    return sys.maxsize if name in ROW_BY_ROW else None


def _depends_on_the_batch(adapter: DetectorAdapter, X: Any) -> bool:
    """Whether rows get different scores in a different batch."""
    score = adapter._score_in_one_call
    n = X.shape[0]
    sample = np.random.default_rng(0).choice(n, min(32, n), replace=False)
    every_other = slice(None, None, -2)  # from the end, so that neighbours change, too
    try:
        among_more = score(_safe_indexing(X, sample))[every_other]
        among_fewer = score(_safe_indexing(X, sample[every_other]))
    except InputError:
        # Some detectors compare the rows of a call and cannot score few of them, as PyOD's COF.
        score(X)
        return True
    finite = np.isfinite(among_more)
    if not np.array_equal(among_more[~finite], among_fewer[~finite]):
        return True
    # Matrix products round differently, in single precision at 1e-6. A detector that compares the
    # rows of a call differs by more.
    tolerance = 5e-6 * np.abs(among_more[finite]).max(initial=0.0)
    return bool(np.any(np.abs(among_more[finite] - among_fewer[finite]) > tolerance))
