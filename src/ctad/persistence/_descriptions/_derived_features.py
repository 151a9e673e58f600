"""Features that scikit-learn derives from columns: bins, splines, products, functions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .._description import Description, Values, set_attributes
from .._kinds import (
    ANY_LENGTH,
    Choice,
    Flag,
    Floats,
    Integer,
    Integers,
    Kind,
    ListOf,
    Number,
    OneOf,
    Optional,
    Record,
    Seed,
    TupleOf,
    require,
    shown,
)
from ._common import MAX_COLUMNS, SingleOrDouble, check_width, each_column
from ._transformers_common import TRANSFORMER, Dtype, gives_tables

if TYPE_CHECKING:
    from .._reader import Scope
    from .._writer import Writer

# Functions of one value each. A file names one of them and cannot bring its own.
FUNCTIONS: dict[str, Any] = {
    name: getattr(np, name)
    for name in (
        *("absolute", "arcsinh", "arctan", "cbrt", "ceil", "cos", "deg2rad", "exp", "exp2"),
        *("expm1", "fabs", "floor", "log", "log10", "log1p", "log2", "nan_to_num", "negative"),
        *("rad2deg", "reciprocal", "rint", "sign", "sin", "sinh", "sqrt", "square", "tan"),
        *("tanh", "trunc"),
    )
}
QUANTILE_METHODS = (
    *("inverted_cdf", "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf"),
    *("hazen", "weibull", "linear", "median_unbiased", "normal_unbiased", "warn"),
)
MAX_DEGREE = 100
MAX_KNOTS = 1000  # a spline needs a matrix of their square


@dataclass(frozen=True)
class NumpyFunction(Kind):
    """None, or the name of a function of numpy."""

    def __str__(self) -> str:
        return f"null, or one of numpy's functions {', '.join(FUNCTIONS)}"

    def write(self, value: Any, writer: Writer) -> str | None:
        names = [name for name, function in FUNCTIONS.items() if function is value]
        require(value is None or names, f"{getattr(value, '__name__', value)!r} is not {self}")
        return names[0] if names else None

    def read(self, stored: Any, scope: Scope) -> Any:
        known = stored is None or (isinstance(stored, str) and stored in FUNCTIONS)
        require(known, f"{shown(stored)} is not {self}")
        return None if stored is None else FUNCTIONS[stored]


# Bins ---------------------------------------------------------------------------------------------


def _n_bins(values: Values) -> list[int]:
    return [len(edges) - 1 for edges in values["bin_edges_"]]


def _put_together_bins(discretizer: Any, values: dict[str, Any]) -> None:
    from sklearn.preprocessing import OneHotEncoder

    n_bins, edges = _n_bins(values), values.pop("bin_edges_")
    set_attributes(discretizer, values)
    discretizer.n_bins_ = np.array(n_bins)
    discretizer.bin_edges_ = np.empty(len(edges), dtype=object)
    discretizer.bin_edges_[:] = edges
    if discretizer.encode != "ordinal":
        discretizer._encoder = OneHotEncoder(
            categories=[np.arange(n) for n in n_bins],
            sparse_output=discretizer.encode == "onehot",
            dtype=np.float64 if discretizer.dtype is None else discretizer.dtype,
        ).fit(np.zeros((1, len(n_bins))))


def _check_bins(values: Values, scope: Scope) -> None:
    require(min(_n_bins(values)) >= 1, "bin_edges_: fewer than two edges")


def _n_out_bins(values: Values, scope: Scope) -> int:
    return scope.lengths["d"] if values["encode"] == "ordinal" else sum(_n_bins(values))


# Splines ------------------------------------------------------------------------------------------


def _knots(transformer: Any) -> Values:
    return {"all_knots": np.column_stack([spline.t for spline in transformer.bsplines_])}


def _n_splines(values: Values, scope: Scope) -> int:
    degree: int = values["degree"]
    n_splines = scope.lengths["knots"] - degree - 1
    return n_splines - (degree if values["extrapolation"] == "periodic" else 0)


def _check_splines(values: Values, scope: Scope) -> None:
    n_knots, degree = scope.lengths["knots"], values["degree"]
    require(2 * degree + 2 <= n_knots <= MAX_KNOTS, "all_knots: too few or too many")
    require(scope.lengths["d"] <= MAX_COLUMNS, "all_knots: too many columns")  # an object each
    n_splines, extrapolation = _n_splines(values, scope), values["extrapolation"]
    # scikit-learn cannot extrapolate these.
    require(extrapolation != "linear" or n_splines > 1, "a line needs two splines")
    require(extrapolation != "constant" or degree > 0, "degree: 0, although constant outside")
    if extrapolation == "periodic":
        require(n_splines >= max(degree, 1), "all_knots: too few for periodic splines")
        require(degree > 0 or not values["sparse_output"], "degree: 0, although sparse")


def _n_out_splines(values: Values, scope: Scope) -> int:
    return scope.lengths["d"] * (_n_splines(values, scope) - (not values["include_bias"]))


def _put_together_splines(transformer: Any, values: dict[str, Any]) -> None:
    from scipy.interpolate import BSpline

    knots = values.pop("all_knots")
    set_attributes(transformer, values)
    degree, extrapolation = transformer.degree, transformer.extrapolation
    n_splines = len(knots) - degree - 1
    coefficients = np.eye(n_splines)
    if extrapolation == "periodic":  # the last splines are the first ones
        n_splines -= degree
        coefficients = np.eye(n_splines)[np.arange(n_splines + degree) % n_splines]
    extrapolate = extrapolation in ("periodic", "continue")
    transformer.bsplines_ = [
        BSpline.construct_fast(column.copy(), coefficients, degree, extrapolate=extrapolate)
        for column in knots.T
    ]
    transformer.n_features_out_ = len(knots.T) * (n_splines - (not transformer.include_bias))


# Products -----------------------------------------------------------------------------------------


def _n_products(values: Values, n_columns: int, from_degree: int) -> int:
    """The number of products of columns up to the degree, the constant included if wanted."""
    degrees = range(max(1, from_degree), values["_max_degree"] + 1)
    if values["interaction_only"]:
        n_products = sum(math.comb(n_columns, degree) for degree in degrees)
    else:
        n_products = sum(math.comb(n_columns + degree - 1, degree) for degree in degrees)
    return n_products + int(values["include_bias"])


def _check_products(values: Values, scope: Scope) -> None:
    require(values["_min_degree"] <= values["_max_degree"], "_min_degree: above _max_degree")
    # It computes products of lower degrees, too.
    check_width(_n_products(values, scope.lengths["d"], 0), scope.lengths["d"])


def _n_out_products(values: Values, scope: Scope) -> int:
    return _n_products(values, scope.lengths["d"], values["_min_degree"])


def _work_of_products(values: Values, scope: Scope) -> int:
    n_columns = scope.lengths["d"]
    names = n_columns if gives_tables(values) else 1  # a name lists the powers of all columns
    return _n_products(values, n_columns, 0) * names


def _put_together_products(transformer: Any, values: dict[str, Any]) -> None:
    set_attributes(transformer, values)
    known, n_columns = vars(transformer), transformer.n_features_in_
    transformer.n_output_features_ = _n_products(known, n_columns, transformer._min_degree)
    transformer._n_out_full = _n_products(known, n_columns, 0)


# Columns that vary --------------------------------------------------------------------------------


def _n_varying(values: Values, scope: Scope) -> int:
    return int((values["variances_"] > values["threshold"]).sum())


DESCRIPTIONS = (
    Description(
        type="sklearn.preprocessing.KBinsDiscretizer",
        role="transformer",
        parameters={
            "n_bins": OneOf((Integer(2), ListOf(Integer(2)), Integers(ANY_LENGTH, low=2))),
            "encode": Choice(("onehot", "onehot-dense", "ordinal")),
            "strategy": Choice(("uniform", "quantile", "kmeans")),
            "quantile_method": Choice(QUANTILE_METHODS),
            "dtype": Optional(Dtype(("float64", "float32"))),
            "subsample": Optional(Integer(1)),
            "random_state": Seed(),
        },
        fitted={
            **TRANSFORMER,
            # The edges of the only bin of a constant column are infinite.
            "bin_edges_": ListOf(SingleOrDouble(ANY_LENGTH, finite=False, increasing=True), "d"),
        },
        rebuilt=("bin_edges_", "n_bins_", "_encoder"),
        take_apart=lambda discretizer: {"bin_edges_": list(discretizer.bin_edges_)},
        put_together=_put_together_bins,
        check=_check_bins,
        n_in="d",
        n_out=_n_out_bins,
        work=each_column,
    ),
    Description(
        type="sklearn.preprocessing.SplineTransformer",
        role="transformer",
        parameters={
            "n_knots": Integer(2),
            "degree": Integer(0, MAX_DEGREE),
            "knots": OneOf((Choice(("uniform", "quantile")), Floats(ANY_LENGTH, "d"))),
            "extrapolation": Choice(("error", "constant", "linear", "continue", "periodic")),
            "include_bias": Flag(),
            "order": Choice(("C", "F")),
            "handle_missing": Choice(("error", "zeros")),
            "sparse_output": Flag(),
        },
        fitted={**TRANSFORMER, "all_knots": Floats("knots", "d", increasing=True)},
        rebuilt=("bsplines_", "n_features_out_"),
        take_apart=_knots,
        put_together=_put_together_splines,
        check=_check_splines,
        n_in="d",
        n_out=_n_out_splines,
        work=each_column,
    ),
    Description(
        type="sklearn.preprocessing.PolynomialFeatures",
        role="transformer",
        parameters={
            "degree": OneOf(
                (
                    Integer(0, MAX_DEGREE),
                    TupleOf((Integer(0, MAX_DEGREE), Integer(0, MAX_DEGREE))),
                )
            ),
            "interaction_only": Flag(),
            "include_bias": Flag(),
            "order": Choice(("C", "F")),
        },
        fitted={
            **TRANSFORMER,
            "_min_degree": Integer(0, MAX_DEGREE),
            "_max_degree": Integer(0, MAX_DEGREE),
        },
        rebuilt=("n_output_features_", "_n_out_full"),
        put_together=_put_together_products,
        check=_check_products,
        n_in="d",
        n_out=_n_out_products,
        work=_work_of_products,
    ),
    Description(
        type="sklearn.preprocessing.FunctionTransformer",
        role="transformer",
        parameters={
            "func": NumpyFunction(),
            "inverse_func": NumpyFunction(),
            "validate": Flag(),
            "accept_sparse": Flag(),
            "check_inverse": Flag(),
            "feature_names_out": Choice((None, "one-to-one")),
            "kw_args": Optional(Record({})),
            "inv_kw_args": Optional(Record({})),
        },
        fitted=TRANSFORMER,
        n_in="d",
        n_out="d",
    ),
    Description(
        type="sklearn.feature_selection.VarianceThreshold",
        role="transformer",
        parameters={"threshold": Number(0)},
        fitted={**TRANSFORMER, "variances_": Floats("d", low=0, nan=True)},
        n_in="d",
        n_out=_n_varying,
    ),
)
