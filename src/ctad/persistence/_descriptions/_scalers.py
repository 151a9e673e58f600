"""Scalers of scikit-learn: one column in, one column out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._description import Description, Values, set_attributes
from .._kinds import (
    Choice,
    Flag,
    Floats,
    Integer,
    Integers,
    MayBeMissing,
    Number,
    Object,
    OneOf,
    Optional,
    Seed,
    TupleOf,
    require,
)
from ._common import POSITIVE, SingleOrDouble, each_column
from ._transformers_common import TRANSFORMER

if TYPE_CHECKING:
    from .._reader import Scope

ONE_TO_ONE: dict[str, Any] = {"role": "transformer", "n_in": "d", "n_out": "d"}

# Attributes of a column without any value are NaN.
PER_COLUMN = SingleOrDouble("d", nan=True)
SCALE = SingleOrDouble("d", low=POSITIVE, nan=True)


def _check_standard(values: Values, scope: Scope) -> None:
    require(not values["with_mean"] or values["mean_"] is not None, "mean_: missing")
    require(not values["with_std"] or values["scale_"] is not None, "scale_: missing")


def _check_min_max(values: Values, scope: Scope) -> None:
    low, high = values["feature_range"]
    require(low < high, "feature_range: not a range")


def _check_robust(values: Values, scope: Scope) -> None:
    require(not values["with_centering"] or values["center_"] is not None, "center_: missing")
    require(not values["with_scaling"] or values["scale_"] is not None, "scale_: missing")


def _check_quantiles(values: Values, scope: Scope) -> None:
    quantiles = values["quantiles_"]
    require(not (quantiles[1:] < quantiles[:-1]).any(), "quantiles_: values that decrease")


def _put_together_quantiles(transformer: Any, values: dict[str, Any]) -> None:
    set_attributes(transformer, values)
    transformer.references_ = np.linspace(0, 1, transformer.n_quantiles_, endpoint=True)


def _check_power(values: Values, scope: Scope) -> None:
    scaler = values.get("_scaler")
    if values["standardize"]:
        require(scaler is not None, "_scaler: missing")
    if scaler is not None:
        require(scope.n_in(scaler) == scope.lengths["d"], "_scaler: not for these columns")


DESCRIPTIONS = (
    Description(
        type="sklearn.preprocessing.StandardScaler",
        parameters={"copy": Flag(), "with_mean": Flag(), "with_std": Flag()},
        fitted={
            **TRANSFORMER,
            "n_samples_seen_": OneOf((Number(0), Integers("d", low=0), Floats("d", low=0))),
            "mean_": Optional(PER_COLUMN),
            "var_": Optional(SingleOrDouble("d", low=0, nan=True)),
            "scale_": Optional(SCALE),
        },
        check=_check_standard,
        **ONE_TO_ONE,
    ),
    Description(
        type="sklearn.preprocessing.MinMaxScaler",
        parameters={
            "feature_range": TupleOf((Number(), Number())),
            "copy": Flag(),
            "clip": Flag(),
        },
        fitted={
            **TRANSFORMER,
            "n_samples_seen_": Integer(1),
            "scale_": SingleOrDouble("d", low=0, nan=True),
            "min_": PER_COLUMN,
            "data_min_": PER_COLUMN,
            "data_max_": PER_COLUMN,
            "data_range_": PER_COLUMN,
        },
        check=_check_min_max,
        **ONE_TO_ONE,
    ),
    Description(
        type="sklearn.preprocessing.MaxAbsScaler",
        parameters={"copy": Flag(), "clip": Flag()},
        fitted={
            **TRANSFORMER,
            "n_samples_seen_": Integer(1),
            "max_abs_": SingleOrDouble("d", low=0, nan=True),
            "scale_": SCALE,
        },
        **ONE_TO_ONE,
    ),
    Description(
        type="sklearn.preprocessing.RobustScaler",
        parameters={
            "with_centering": Flag(),
            "with_scaling": Flag(),
            "quantile_range": TupleOf((Number(0, 100), Number(0, 100))),
            "copy": Flag(),
            "unit_variance": Flag(),
        },
        fitted={**TRANSFORMER, "center_": Optional(PER_COLUMN), "scale_": Optional(SCALE)},
        check=_check_robust,
        **ONE_TO_ONE,
    ),
    Description(
        type="sklearn.preprocessing.QuantileTransformer",
        parameters={
            "n_quantiles": Integer(1),
            "output_distribution": Choice(("uniform", "normal")),
            "ignore_implicit_zeros": Flag(),
            "subsample": Optional(Integer(1)),
            "random_state": Seed(),
            "copy": Flag(),
        },
        fitted={
            **TRANSFORMER,
            "n_quantiles_": Integer(1, length="quantiles"),
            "quantiles_": SingleOrDouble("quantiles", "d", nan=True),
        },
        rebuilt=("references_",),
        put_together=_put_together_quantiles,
        check=_check_quantiles,
        work=each_column,
        **ONE_TO_ONE,
    ),
    Description(
        type="sklearn.preprocessing.PowerTransformer",
        parameters={
            "method": Choice(("yeo-johnson", "box-cox")),
            "standardize": Flag(),
            "copy": Flag(),
        },
        fitted={
            **TRANSFORMER,
            "lambdas_": PER_COLUMN,
            "_scaler": MayBeMissing(Object(types=("sklearn.preprocessing.StandardScaler",))),
        },
        check=_check_power,
        work=each_column,
        **ONE_TO_ONE,
    ),
    Description(
        type="sklearn.preprocessing.Normalizer",
        parameters={"norm": Choice(("l1", "l2", "max")), "copy": Flag()},
        fitted=TRANSFORMER,
        **ONE_TO_ONE,
    ),
    Description(
        type="sklearn.preprocessing.Binarizer",
        parameters={"threshold": Number(), "copy": Flag()},
        fitted=TRANSFORMER,
        **ONE_TO_ONE,
    ),
)
