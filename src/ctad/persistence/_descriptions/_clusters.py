"""Clusterings of scikit-learn that detectors of PyOD have inside."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._description import Description, Values, set_attributes
from .._kinds import (
    Array,
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
    Seed,
    require,
)
from ._common import COLUMNS, N_JOBS, POSITIVE, VERBOSE
from ._neighbours import METRICS

if TYPE_CHECKING:
    from .._reader import Scope

KMEANS_PARAMETERS: dict[str, Kind] = {
    "n_clusters": Integer(1),
    "init": OneOf((Choice(("k-means++", "random")), Floats("start", "d"))),
    "n_init": OneOf((Choice(("auto",)), Integer(1))),
    "max_iter": Integer(1),
    "tol": Number(0),
    "verbose": VERBOSE,
    "random_state": Seed(),
}
KMEANS: dict[str, Kind] = {
    **COLUMNS,
    "cluster_centers_": Floats("k", "d"),
    "labels_": Array("int32", ("rows",), low=0, high="<k"),
    "inertia_": Number(0),
    "n_iter_": Integer(0),
    "_tol": Number(0),
    "_n_init": Integer(1),
}


def _put_kmeans_together(item: Any, values: dict[str, Any]) -> None:
    from sklearn.utils._openmp_helpers import _openmp_effective_n_threads

    set_attributes(item, values)
    item.cluster_centers_ = np.ascontiguousarray(item.cluster_centers_)
    item._n_threads = _openmp_effective_n_threads()
    item._n_features_out = len(item.cluster_centers_)


# Fields of the merges of a hierarchy. Rows are nodes 0 to n - 1, merge i makes node n + i.
MERGES: dict[str, Kind] = {
    "left_node": Integers("merges", low=0),
    "right_node": Integers("merges", low=0),
    "value": Floats("merges", low=0),
    "cluster_size": Integers("merges", low=2),
}


def _take_hdbscan_apart(item: Any) -> Values:
    merges = item._single_linkage_tree_
    return {"merges": {name: merges[name].copy() for name in MERGES}}


def _check_hdbscan(values: Values, scope: Scope) -> None:
    merges = values["merges"]
    made = scope.lengths["merges"] + 1 + np.arange(scope.lengths["merges"])
    joined = np.concatenate([merges["left_node"], merges["right_node"]])
    require((joined < np.tile(made, 2)).all(), "merges: of a node that does not exist yet")
    require(len(np.unique(joined)) == len(joined), "merges: of a node twice")


def _put_hdbscan_together(item: Any, values: dict[str, Any]) -> None:
    from sklearn.cluster._hdbscan._linkage import HIERARCHY_dtype

    merges = values.pop("merges")
    set_attributes(item, values)
    item._metric_params = item.metric_params or {}
    item._single_linkage_tree_ = np.empty(len(merges["value"]), dtype=HIERARCHY_dtype)
    for name, column in merges.items():
        item._single_linkage_tree_[name] = column


DESCRIPTIONS = (
    Description(
        type="sklearn.cluster.KMeans",
        role="part",
        parameters={
            **KMEANS_PARAMETERS,
            "copy_x": Flag(),
            "algorithm": Choice(("lloyd", "elkan")),
        },
        fitted={**KMEANS, "_algorithm": Choice(("lloyd", "elkan"))},
        rebuilt=("_n_threads", "_n_features_out"),
        put_together=_put_kmeans_together,
        n_in="d",
    ),
    Description(
        type="sklearn.cluster.MiniBatchKMeans",
        role="part",
        parameters={
            **KMEANS_PARAMETERS,
            "batch_size": Integer(1),
            "compute_labels": Flag(),
            "max_no_improvement": Optional(Integer()),
            "init_size": Optional(Integer(1)),
            "reassignment_ratio": Number(0),
        },
        fitted={
            **KMEANS,
            "n_steps_": Integer(0),
            "_batch_size": Integer(1),
            "_init_size": Integer(1),
            "_counts": Floats("k", low=0),
            "_ewa_inertia": Optional(Number(0)),
            "_ewa_inertia_min": Optional(Number(0)),
            "_no_improvement": Integer(),
            "_n_since_last_reassign": Integer(),
        },
        rebuilt=("_n_threads", "_n_features_out"),
        put_together=_put_kmeans_together,
        n_in="d",
    ),
    Description(
        type="sklearn.cluster.HDBSCAN",
        role="part",
        parameters={
            "min_cluster_size": Integer(2),
            "min_samples": Optional(Integer(1)),
            "cluster_selection_epsilon": Number(0),
            "max_cluster_size": Optional(Integer(1)),
            "metric": Choice(tuple(name for name, needed in METRICS.items() if not needed)),
            "metric_params": Choice((None,)),
            "alpha": Number(POSITIVE),
            "algorithm": Choice(("auto", "brute", "kd_tree", "ball_tree")),
            "leaf_size": Integer(1),
            "n_jobs": N_JOBS,
            "cluster_selection_method": Choice(("eom", "leaf")),
            "allow_single_cluster": Flag(),
            "store_centers": Choice((None, "centroid")),
            "copy": Choice((False, True, "warn")),
        },
        fitted={
            **COLUMNS,
            "_min_samples": Integer(1),
            "labels_": Integers("merges+1", low=-1),
            "probabilities_": Floats("merges+1", low=0, high=1),
            "centroids_": MayBeMissing(Floats("clusters", "d", empty=True)),
            "merges": Record(MERGES),
        },
        # The detector around it keeps the rows, too.
        rebuilt=("_raw_data", "_metric_params", "_single_linkage_tree_"),
        take_apart=_take_hdbscan_apart,
        put_together=_put_hdbscan_together,
        check=_check_hdbscan,
        n_in="d",
    ),
)
