"""Detectors of PyOD that compare a row with its neighbours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._description import Description, Values, set_attributes
from .._kinds import (
    Choice,
    Integer,
    Integers,
    MayBeMissing,
    Number,
    Object,
    OneOf,
    Optional,
    require,
)
from ._common import (
    CALL,
    N_JOBS,
    POSITIVE,
    PYOD,
    PYOD_CONTAMINATION,
    SingleOrDouble,
    columns_of,
)
from ._neighbours import METRICS, SEARCH, check_metric

if TYPE_CHECKING:
    from .._reader import Scope

NEIGHBOURS = Object(types=("sklearn.neighbors.NearestNeighbors",))


def _check_neighbours(values: Values, scope: Scope) -> None:
    scope.fix_length("rows", values["search"].n_samples_fit_)
    require(values["n_neighbors"] <= scope.lengths["rows"], "n_neighbors: more than rows")


def _put_knn_together(detector: Any, values: dict[str, Any]) -> None:
    detector.neigh_ = search = values.pop("search")
    detector.tree_ = search if search._tree is None else search._tree
    set_attributes(detector, values)


def _check_abod(values: Values, scope: Scope) -> None:
    rows = np.abs(values["X_train_"])
    # The squared distance of different rows must not be zero, as PyOD divides by it.
    require(not ((rows > 0) & (rows < 1e-140)).any(), "X_train_: values too close to zero")
    fast = values["method"] == "fast"
    require(fast == ("search" in values), "neigh_: not as method says")
    if fast:
        scope.fix_length("d", values["search"].n_features_in_)
        _check_neighbours(values, scope)


def _put_abod_together(detector: Any, values: dict[str, Any]) -> None:
    if "search" in values:
        detector.neigh_ = detector.tree_ = values.pop("search")
    set_attributes(detector, values)


def _abod_work(values: Values, scope: Scope) -> int:
    n = values["n_neighbors"] if values["method"] == "fast" else scope.lengths["rows"]
    return n**2 * (CALL + scope.lengths["d"])


def _check_hdbscan(values: Values, scope: Scope) -> None:
    clustering, search = values["detector_"], values["tree_"]
    scope.fix_length("rows", search.n_samples_fit_)
    scope.fix_length("rows", len(clustering.labels_))
    require(scope.n_in(clustering) == scope.n_in(search), "detector_: not of the same columns")


def _put_hdbscan_together(detector: Any, values: dict[str, Any]) -> None:
    set_attributes(detector, values)
    detector.X_train_ = detector.detector_._raw_data = detector.tree_._fit_X
    detector.cluster_labels_ = detector.detector_.labels_


def _check_sod(values: Values, scope: Scope) -> None:
    if values["metric"] == "haversine":
        scope.fix_length("d", 2)
    check_metric(values, scope)
    require(values["n_neighbors"] < scope.lengths["rows"], "n_neighbors: not less than rows")


def _put_sod_together(detector: Any, values: dict[str, Any]) -> None:
    from sklearn.neighbors import NearestNeighbors

    set_attributes(detector, values)
    # SOD makes a search in every call. Here one is tried.
    given = (detector.metric_params or {}).values()
    n_columns = next((len(value) for value in given if np.ndim(value)), 2)
    search = NearestNeighbors(**{name: getattr(detector, name) for name in SEARCH})
    search._fit(np.zeros((2, n_columns)))


DESCRIPTIONS = (
    Description(
        type="pyod.models.knn.KNN",
        role="detector",
        parameters={
            "contamination": PYOD_CONTAMINATION,
            **SEARCH,
            "method": Choice(("largest", "mean", "median")),
            "radius": Number(0, infinite=True),
        },
        fitted={**PYOD, "search": NEIGHBOURS},
        rebuilt=("neigh_", "tree_"),
        take_apart=lambda detector: {"search": detector.neigh_},
        put_together=_put_knn_together,
        check=_check_neighbours,
        n_in=columns_of("search"),
    ),
    Description(
        type="pyod.models.abod.ABOD",
        role="detector",
        parameters={
            "contamination": PYOD_CONTAMINATION,
            **SEARCH,
            "method": Choice(("fast", "default")),
        },
        fitted={
            **PYOD,
            "X_train_": SingleOrDouble("rows", "d"),
            "n_train_": Integer(1, length="rows"),
            "search": MayBeMissing(NEIGHBOURS),
        },
        rebuilt=("neigh_", "tree_"),
        take_apart=lambda detector: (
            {"search": detector.neigh_} if detector.method == "fast" else {}
        ),
        put_together=_put_abod_together,
        check=_check_abod,
        n_in="d",
        work=_abod_work,
    ),
    Description(
        type="pyod.models.hdbscan.HDBSCAN",
        role="detector",
        parameters={
            "contamination": PYOD_CONTAMINATION,
            "min_cluster_size": Integer(2),
            "min_samples": Optional(Integer(1)),
            "metric": Choice(tuple(name for name, needed in METRICS.items() if not needed)),
            "alpha": Number(POSITIVE),
            "algorithm": SEARCH["algorithm"],
            "leaf_size": Integer(1),
            "n_jobs": N_JOBS,
        },
        fitted={
            **PYOD,
            "detector_": Object(types=("sklearn.cluster.HDBSCAN",)),
            "tree_": NEIGHBOURS,
        },
        rebuilt=("X_train_", "cluster_labels_"),
        put_together=_put_hdbscan_together,
        check=_check_hdbscan,
        n_in=columns_of("tree_"),
    ),
    Description(
        type="pyod.models.cof.COF",
        role="detector",
        parameters={
            "contamination": PYOD_CONTAMINATION,
            "n_neighbors": Integer(1),
            "method": Choice(("fast", "memory")),
        },
        fitted={**PYOD, "n_train_": Integer(1, length="rows"), "n_neighbors_": Integer(1)},
        check=lambda values, scope: require(
            values["n_neighbors_"] < scope.lengths["rows"], "n_neighbors_: not less than rows"
        ),
    ),
    Description(
        type="pyod.models.sod.SOD",
        role="detector",
        parameters={
            "contamination": PYOD_CONTAMINATION,
            **SEARCH,
            "ref_set": Integer(1),
            "alpha": Number(0, 1),
        },
        fitted=PYOD,
        put_together=_put_sod_together,
        check=_check_sod,
        n_in="d",
    ),
    Description(
        type="pyod.models.loci.LOCI",
        role="detector",
        parameters={"contamination": PYOD_CONTAMINATION, "alpha": Number(POSITIVE), "k": Number(0)},
        fitted={
            **PYOD,
            # Integers if all are zero.
            "decision_scores_": OneOf((PYOD["decision_scores_"], Integers("rows"))),
        },
    ),
)
