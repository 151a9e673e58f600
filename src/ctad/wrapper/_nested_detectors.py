"""Detectors inside pipelines, searches and frozen estimators."""

from __future__ import annotations

from typing import Any

from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.pipeline import Pipeline


def first_step(detector: Any) -> Any:
    """The step of a detector that gets the rows, inside pipelines, searches and frozen estimators.

    Parameters
    ----------
    detector : object

    Returns
    -------
    object
        The detector itself if it has no steps.

    Examples
    --------
    >>> from sklearn.ensemble import IsolationForest
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from ctad.wrapper import first_step
    >>> first_step(make_pipeline(StandardScaler(), IsolationForest()))
    StandardScaler()
    """
    return _step(detector, 0)


def final_step(detector: Any) -> Any:
    """The step that gives the scores."""
    return _step(detector, -1)


def name_of(detector: Any) -> str:
    """The name of a detector in messages."""
    final = final_step(detector)
    return str(getattr(final, "__name__", type(final).__name__))


def _step(detector: Any, place: int) -> Any:
    while True:
        if isinstance(detector, Pipeline):
            steps = [step for _, step in detector.steps if step not in (None, "passthrough")]
            detector = steps[place]
        elif isinstance(detector, FrozenEstimator):
            detector = detector.estimator
        elif isinstance(detector, GridSearchCV | RandomizedSearchCV):
            detector = getattr(detector, "best_estimator_", detector.estimator)
        else:
            return detector
