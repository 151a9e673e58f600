"""Neighbour searches of scikit-learn: the rows are stored, and search trees are built again."""

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
    Kind,
    MayBeMissing,
    Number,
    OneOf,
    Optional,
    Record,
    require,
)
from ._common import COLUMNS, N_JOBS, POSITIVE, PYTHON_STEP, SingleOrDouble

if TYPE_CHECKING:
    from .._reader import Scope

# Metrics and the parameters that each takes.
METRICS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("euclidean", "l2", "manhattan", "cityblock", "l1"), ()),
    **dict.fromkeys(("chebyshev", "infinity", "sqeuclidean", "cosine", "correlation"), ()),
    **dict.fromkeys(("canberra", "braycurtis", "hamming", "haversine"), ()),
    "minkowski": ("p", "w"),
    "seuclidean": ("V",),
    "mahalanobis": ("V", "VI"),
}
MAX_NEIGHBOURS = 10_000  # so that a batch of rows and their neighbours fit into memory
POWER = 30  # operations to raise a number to a power
DENSITY = 500  # operations per row to bound a density
MAX_MAHALANOBIS_COLUMNS = 30  # building a tree takes their square per row

# Borders such that distances of usual rows are finite.
P = OneOf((Number(POSITIVE, 20), Number(np.inf, infinite=True)))
LARGE = 1e100
MATRIX = Floats("d", "d", low=-LARGE, high=LARGE)
SEARCH: dict[str, Kind] = {
    "n_neighbors": Integer(1, MAX_NEIGHBOURS),
    "algorithm": Choice(("auto", "ball_tree", "kd_tree", "brute")),
    "leaf_size": Integer(1),
    "metric": Choice(tuple(METRICS)),
    "p": Optional(P),
    "metric_params": Optional(
        Record(
            {
                "p": MayBeMissing(P),
                "w": MayBeMissing(Floats("d", low=0, high=LARGE)),
                "V": MayBeMissing(OneOf((Floats("d", low=1 / LARGE), MATRIX))),
                "VI": MayBeMissing(MATRIX),
            }
        )
    ),
    "n_jobs": N_JOBS,
}
ROWS = OneOf((*SingleOrDouble("rows", "d").kinds, Integers("rows", "d")))


def check_metric(values: Values, scope: Scope) -> None:
    """Check that the parameters of a metric are those it takes."""
    metric, n_columns = values["metric"], scope.lengths.get("d", 0)
    parameters = values["metric_params"] or {}
    require(parameters.keys() <= set(METRICS[metric]), f"metric_params: not those of {metric}")
    require(metric != "haversine" or n_columns == 2, "haversine needs two columns")
    if metric == "minkowski":  # kernel densities have no parameter p: it is 2
        p = parameters.get("p", values.get("p", 2))
        require(p is not None, "minkowski needs p")
        require(p != np.inf or "w" not in parameters, "p: infinite, with weights")
    if metric == "seuclidean":
        require("V" in parameters and parameters["V"].ndim == 1, "seuclidean needs V")
    if metric == "mahalanobis":
        require(len(parameters) == 1, "mahalanobis needs V or VI")
        require(next(iter(parameters.values())).ndim == 2, "V and VI have two dimensions")
        algorithm = values.get("algorithm")  # None: no tree is built
        require(algorithm != "brute" or "VI" in parameters, "mahalanobis by brute force needs VI")
        require(
            n_columns <= MAX_MAHALANOBIS_COLUMNS or algorithm in (None, "brute"),
            "mahalanobis: so many columns need algorithm='brute'",
        )


def search_work(values: Values, n_rows: int, scope: Scope) -> int:
    """Operations to measure the distances of a row to others."""
    n_numbers = n_rows * scope.lengths["d"]
    if values["metric"] == "mahalanobis":
        return n_numbers * scope.lengths["d"]
    p = (values["metric_params"] or {}).get("p", values.get("p", 2))
    is_power = values["metric"] == "minkowski" and p not in (1, 2, np.inf)
    return n_numbers * (POWER if is_power else 1)


def _search_work(values: Values, scope: Scope) -> int:
    return search_work(values, scope.lengths["rows"], scope)


def _take_apart(search: Any) -> Values:
    return {"rows": search._fit_X}


def _put_together(search: Any, values: dict[str, Any]) -> None:
    search._fit(values.pop("rows"))  # builds the tree, if there is one
    if search._fit_method == "brute" and search.metric == "mahalanobis":
        require("VI" in search.metric_params, "mahalanobis by brute force needs VI")
    set_attributes(search, values)


def _check_search(values: Values, scope: Scope) -> None:
    check_metric(values, scope)
    require(values["n_neighbors"] <= scope.lengths["rows"], "n_neighbors: more than rows")


def _check_lof(values: Values, scope: Scope) -> None:
    check_metric(values, scope)
    require(values["novelty"], "novelty=False: new rows cannot be scored")
    require(scope.lengths["k"] < scope.lengths["rows"], "n_neighbors_: not less than rows")


def _take_density_apart(density: Any) -> Values:
    tree = density.tree_
    weights = None if tree.sample_weight is None else np.array(tree.sample_weight)
    return {"rows": np.array(tree.data), "weights": weights}


def _put_density_together(density: Any, values: dict[str, Any]) -> None:
    density.fit(values.pop("rows"), sample_weight=values.pop("weights"))
    set_attributes(density, values)


def _check_density(values: Values, scope: Scope) -> None:
    check_metric(values, scope)
    weights = values["weights"]
    require(weights is None or weights.sum() > 0, "weights: all are zero")


def _density_work(values: Values, scope: Scope) -> int:
    # With weights, Python computes the logarithm of each weight.
    of_weights = 0 if values["weights"] is None else PYTHON_STEP * scope.lengths["rows"]
    return _search_work(values, scope) + DENSITY * scope.lengths["rows"] + of_weights


REBUILT = (
    *("effective_metric_", "effective_metric_params_", "n_samples_fit_"),
    *("_fit_X", "_fit_method", "_tree"),
)

DESCRIPTIONS = (
    Description(
        type="sklearn.neighbors.NearestNeighbors",
        role="part",
        parameters={**SEARCH, "radius": Optional(Number(0, infinite=True))},
        fitted={**COLUMNS, "rows": ROWS},
        rebuilt=REBUILT,
        take_apart=_take_apart,
        put_together=_put_together,
        check=_check_search,
        n_in="d",
        work=_search_work,
    ),
    Description(
        type="sklearn.neighbors.LocalOutlierFactor",
        role="detector",
        parameters={
            **SEARCH,
            "contamination": OneOf((Choice(("auto",)), Number(0, 0.5))),
            "novelty": Flag(),
        },
        fitted={
            **COLUMNS,
            "rows": ROWS,
            "n_neighbors_": Integer(1, MAX_NEIGHBOURS, length="k"),
            # Squares of huge distances are infinite.
            "_distances_fit_X_": SingleOrDouble("rows", "k", low=0, finite=False, nan=True),
            "_lrd": SingleOrDouble("rows", low=0, finite=False, nan=True),
            "negative_outlier_factor_": SingleOrDouble("rows", high=0, finite=False, nan=True),
            "offset_": Number(infinite=True, nan=True),
        },
        rebuilt=("radius", *REBUILT),
        take_apart=_take_apart,
        put_together=_put_together,
        check=_check_lof,
        n_in="d",
        work=_search_work,
    ),
    Description(
        type="sklearn.neighbors.KernelDensity",
        role="detector",
        parameters={
            "bandwidth": OneOf((Choice(("scott", "silverman")), Number(POSITIVE))),
            "algorithm": Choice(("auto", "ball_tree", "kd_tree")),
            "kernel": Choice(
                ("gaussian", "tophat", "epanechnikov", "exponential", "linear", "cosine")
            ),
            "metric": SEARCH["metric"],
            "metric_params": SEARCH["metric_params"],
            "leaf_size": Integer(1),
            "atol": Number(0),
            "rtol": Number(0),
            "breadth_first": Flag(),
        },
        fitted={
            **COLUMNS,
            "rows": Floats("rows", "d"),
            "weights": Optional(Floats("rows", low=0)),
        },
        rebuilt=("bandwidth_", "tree_"),
        take_apart=_take_density_apart,
        put_together=_put_density_together,
        check=_check_density,
        n_in="d",
        work=_density_work,
    ),
)
