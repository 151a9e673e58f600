"""Imputers of scikit-learn: missing values are filled or flagged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._description import Description, Values, set_attributes
from .._kinds import (
    Booleans,
    Choice,
    Flag,
    Floats,
    Integer,
    Integers,
    Kind,
    ListOf,
    MayBeMissing,
    Number,
    Object,
    OneOf,
    Optional,
    Record,
    Seed,
    require,
)
from ._cells import Cell, Cells, converted
from ._common import CALL, VERBOSE, SingleOrDouble, each_column
from ._transformers_common import TRANSFORMER, Dtype, gives_tables

if TYPE_CHECKING:
    from .._reader import Scope

# Limits of imputed values: as given, and for each column that is kept.
LIMIT = OneOf((Number(infinite=True), ListOf(Number(infinite=True))))
LIMITS = OneOf((Floats("kept", finite=False), Integers("kept")))
DTYPES = (
    *("float64", "float32", "float16", "int64", "int32", "int16", "int8"),
    *("uint64", "uint32", "uint16", "uint8", "object"),
)
INDICATOR = Optional(Object(types=("sklearn.impute.MissingIndicator",)))
IMPUTER: dict[str, Kind] = {"add_indicator": Flag(), "keep_empty_features": Flag(), "copy": Flag()}


def _check_indicator(values: Values, scope: Scope) -> None:
    indicator = values["indicator_"]
    if values["add_indicator"]:
        require(indicator is not None, "indicator_: missing")
    if indicator is not None:
        options = (indicator._precomputed, indicator.features, indicator.sparse)
        require(
            options == (True, "missing-only", "auto")
            and not indicator.error_on_new
            and scope.n_in(indicator) == scope.lengths["d"],
            "indicator_: not that of an imputer of these columns",
        )


def _n_flagged(values: Values) -> int:
    return len(values["indicator_"].features_) if values["add_indicator"] else 0


def _is_filled(values: Values) -> Any:
    """Which columns have a value to fill in."""
    statistics = values["statistics_"]
    return np.array([value == value for value in statistics.tolist()])


def _check_simple(values: Values, scope: Scope) -> None:
    _check_indicator(values, scope)
    statistics, dtype = values["statistics_"], values["_fit_dtype"]
    if values["strategy"] in ("mean", "median"):
        require(dtype.kind == "f", "_fit_dtype: not a dtype of which there is a mean")
    if dtype.kind != "O":
        used = statistics if values["keep_empty_features"] else statistics[_is_filled(values)]
        text = [value for value in used.tolist() if not isinstance(value, int | float)]
        require(not text, "statistics_: not numbers")
        converted(used, dtype)


def _n_out_simple(values: Values, scope: Scope) -> int:
    n_filled = _is_filled(values).sum()
    return _n_flagged(values) + int(
        scope.lengths["d"] if values["keep_empty_features"] else n_filled
    )


def _put_together_simple(imputer: Any, values: dict[str, Any]) -> None:
    set_attributes(imputer, values)
    imputer._fill_dtype = imputer._fit_dtype  # scikit-learn 1.6 has only the latter


def _is_missing(values: Values) -> Any:
    rows, missing = values["_fit_X"], values["missing_values"]
    return np.isnan(rows) if missing != missing else rows == missing


def _check_neighbours(values: Values, scope: Scope) -> None:
    _check_indicator(values, scope)
    missing = values["missing_values"]
    if missing == missing:
        require(not np.isnan(values["_fit_X"]).any(), "_fit_X: NaN is not a missing value here")


def _n_out_neighbours(values: Values, scope: Scope) -> int:
    n_filled = (~_is_missing(values).all(axis=0)).sum()
    return _n_flagged(values) + int(
        scope.lengths["d"] if values["keep_empty_features"] else n_filled
    )


def _put_together_neighbours(imputer: Any, values: dict[str, Any]) -> None:
    set_attributes(imputer, values)
    imputer._mask_fit_X = _is_missing(vars(imputer))
    imputer._valid_mask = ~imputer._mask_fit_X.all(axis=0)


# Each step predicts the missing values of one column from others.
REGRESSION = ("sklearn.linear_model.BayesianRidge", "sklearn.linear_model.LinearRegression")
STEP = Record(
    {"column": Integer(0), "others": Integers("others", low=0), "model": Object(types=REGRESSION)},
    own_lengths=True,
)


def _take_apart_iterative(imputer: Any) -> Values:
    return {
        "steps": [
            {
                "column": int(step.feat_idx),
                "others": step.neighbor_feat_idx,
                "model": step.estimator,
            }
            for step in imputer.imputation_sequence_
        ]
    }


def _put_together_iterative(imputer: Any, values: dict[str, Any]) -> None:
    from sklearn.base import clone
    from sklearn.impute._iterative import _ImputerTriplet
    from sklearn.linear_model import BayesianRidge
    from sklearn.utils import check_random_state

    steps = values.pop("steps")
    set_attributes(imputer, values)
    imputer.imputation_sequence_ = [
        _ImputerTriplet(step["column"], step["others"], step["model"]) for step in steps
    ]
    imputer._estimator = BayesianRidge() if imputer.estimator is None else clone(imputer.estimator)
    imputer.random_state_ = check_random_state(imputer.random_state)


def _n_imputed(values: Values, scope: Scope) -> int:
    """The number of columns after empty ones were dropped."""
    if values["keep_empty_features"]:
        return scope.lengths["d"]
    return int((~values["_is_empty_feature"]).sum())


def _check_iterative(values: Values, scope: Scope) -> None:
    _check_indicator(values, scope)
    initial, n_columns = values["initial_imputer_"], _n_imputed(values, scope)
    require(not values["sample_posterior"], "sample_posterior: another result in each call")
    require(
        scope.n_in(initial) == scope.lengths["d"]
        and scope.n_out(initial) == n_columns
        and not initial.add_indicator
        and not gives_tables(vars(initial))
        and initial._fit_dtype.kind == "f",
        "initial_imputer_: not for these columns",
    )
    if values["n_iter_"]:
        require({"_min_value", "_max_value"} <= values.keys(), "_min_value, _max_value: missing")
        require(scope.lengths["kept"] == n_columns, "_min_value: not for these columns")
    steps = values["steps"]
    require(len(steps) >= values["n_iter_"] or not steps, "n_iter_: more than steps")
    for step in steps:
        require(
            max(step["column"], step["others"].max()) < n_columns
            and scope.n_in(step["model"]) == len(step["others"]),
            "steps: not for these columns",
        )


def _n_out_iterative(values: Values, scope: Scope) -> int:
    return _n_flagged(values) + _n_imputed(values, scope)


def _check_flags(values: Values, scope: Scope) -> None:
    flagged = values["features_"]
    require((flagged[1:] > flagged[:-1]).all(), "features_: not in order")
    is_all = len(flagged) == scope.lengths["d"]
    require(is_all or values["features"] != "all", "features_: not all columns")
    # The indicator of an imputer gets the places of missing values, not rows.
    alone = "transformer" in scope.place.roles
    require(not (alone and values["_precomputed"]), "_precomputed: only inside an imputer")


DESCRIPTIONS = (
    Description(
        type="sklearn.impute.SimpleImputer",
        role="transformer",
        parameters={
            "missing_values": Cell(),
            "strategy": Choice(("mean", "median", "most_frequent", "constant")),
            "fill_value": Cell(),
            **IMPUTER,
        },
        fitted={
            **TRANSFORMER,
            "statistics_": OneOf(
                (*SingleOrDouble("d", nan=True).kinds, Integers("d"), Cells("d")),
            ),
            "indicator_": INDICATOR,
            "_fit_dtype": Dtype(DTYPES, as_type=False),
        },
        rebuilt=("_fill_dtype",),
        put_together=_put_together_simple,
        check=_check_simple,
        n_in="d",
        n_out=_n_out_simple,
    ),
    Description(
        type="sklearn.impute.KNNImputer",
        role="transformer",
        parameters={
            "missing_values": Number(nan=True),
            "n_neighbors": Integer(1),
            "weights": Choice(("uniform", "distance", None)),
            "metric": Choice(("nan_euclidean",)),
            **IMPUTER,
        },
        fitted={
            **TRANSFORMER,
            "_fit_X": SingleOrDouble("rows", "d", nan=True),
            "indicator_": INDICATOR,
        },
        rebuilt=("_mask_fit_X", "_valid_mask"),
        put_together=_put_together_neighbours,
        check=_check_neighbours,
        n_in="d",
        n_out=_n_out_neighbours,
        work=each_column,
    ),
    Description(
        type="sklearn.impute.IterativeImputer",
        enabled_by="sklearn.experimental.enable_iterative_imputer",
        role="transformer",
        parameters={
            "estimator": Optional(Object(types=REGRESSION, fitted=False)),
            "missing_values": Number(nan=True),
            "sample_posterior": Flag(),
            "max_iter": Integer(0),
            "tol": Number(0),
            "n_nearest_features": Optional(Integer(1)),
            "initial_strategy": Choice(("mean", "median", "most_frequent", "constant")),
            "fill_value": Optional(Number(nan=True)),
            "imputation_order": Choice(("ascending", "descending", "roman", "arabic", "random")),
            "skip_complete": Flag(),
            "min_value": LIMIT,
            "max_value": LIMIT,
            "verbose": VERBOSE,
            "random_state": Seed(),
            **{name: kind for name, kind in IMPUTER.items() if name != "copy"},
        },
        fitted={
            **TRANSFORMER,
            "initial_imputer_": Object(types=("sklearn.impute.SimpleImputer",)),
            "indicator_": INDICATOR,
            "_is_empty_feature": Booleans("d"),
            **{name: MayBeMissing(LIMITS) for name in ("_min_value", "_max_value")},
            "n_features_with_missing_": MayBeMissing(Integer()),
            "n_iter_": Integer(),
            "steps": ListOf(STEP),
        },
        rebuilt=("imputation_sequence_", "_estimator", "random_state_"),
        take_apart=_take_apart_iterative,
        put_together=_put_together_iterative,
        check=_check_iterative,
        n_in="d",
        n_out=_n_out_iterative,
        work=lambda values, scope: CALL * len(values["imputation_sequence_"]),
    ),
    Description(
        type="sklearn.impute.MissingIndicator",
        role="transformer",
        parameters={
            "missing_values": Cell(),
            "features": Choice(("missing-only", "all")),
            "sparse": Choice(("auto", True, False)),
            "error_on_new": Flag(),
        },
        fitted={
            **TRANSFORMER,
            "features_": Integers("flagged", low=0, high="<d", empty=True),
            "_precomputed": Flag(),
            "_n_features": Integer(1, length="d"),
        },
        check=_check_flags,
        n_in="d",
        n_out="flagged",
    ),
)
