"""Number and names of the columns that an estimator was fitted on, in model files."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from ..errors import InputError
from ._values import integer, string


def describe_columns(estimator: BaseEstimator) -> dict[str, Any]:
    """`n_features_in_` and `feature_names_in_` of a fitted estimator."""
    names = getattr(estimator, "feature_names_in_", None)
    return {
        "n_columns": estimator.n_features_in_,
        "column_names": None if names is None else names.tolist(),
    }


def restore_columns(estimator: BaseEstimator, state: dict[str, Any]) -> None:
    """Set both on an estimator."""
    estimator.n_features_in_ = integer(state["n_columns"], at_least=1)
    if state["column_names"] is not None:
        names = [string(name) for name in state["column_names"]]
        if len(names) != estimator.n_features_in_:
            raise InputError(f"{len(names)} names for {estimator.n_features_in_} columns")
        estimator.feature_names_in_ = np.array(names, dtype=object)
