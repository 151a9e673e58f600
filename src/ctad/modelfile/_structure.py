"""Compiled code trusts the arrays it is given: check them before it sees them.

Checked: the nodes of decision trees and of neighbour-search trees, isolation forests as a whole,
support vectors, k-means centroids, rows kept for neighbour searches, PyOD's histograms, and the
state of random numbers. Not checked: that one step of a pipeline gives as many columns as the next
was trained on, where that next step is one of PyOD's that do not look themselves (HBOS, QMCD).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from ._values import integer

Array = npt.NDArray[Any]


def parts_of(root: Any) -> Iterator[Any]:
    """An object and all that it is made of."""
    stack, seen = [root], set()
    while stack:
        item = stack.pop()
        if id(item) in seen:
            continue
        seen.add(id(item))
        yield item
        if isinstance(item, dict):
            stack.extend(item.values())
        elif isinstance(item, list | tuple | set):
            stack.extend(item)
        elif isinstance(item, np.ndarray):
            stack.extend(item.ravel().tolist() if item.dtype.hasobject else ())
        elif not isinstance(item, type):
            stack.extend(getattr(item, "__dict__", {}).values())


def check_tree(node: dict[str, Any], array: Callable[[str], Array]) -> None:
    """Check skops' description of a decision tree: building it already trusts its numbers."""

    def array_of(part: dict[str, Any]) -> Array:
        _require((part["__loader__"], part["type"]) == ("NdArrayNode", "numpy"), "a decision tree")
        return array(part["file"])

    def integer_of(part: dict[str, Any]) -> int:
        _require(part["__loader__"] == "JsonNode", "a decision tree")
        return integer(json.loads(part["content"]), at_least=1)

    arguments, state = node["__reduce__"]["args"], node["content"]
    n_features, n_classes, n_outputs = arguments["content"]
    classes, nodes = array_of(n_classes), array_of(state["content"]["nodes"])
    n = integer_of(state["content"]["node_count"])
    branching = nodes["left_child"] != -1
    own, inner = np.arange(len(nodes))[branching], nodes[branching]
    _require(
        (arguments["__loader__"], state["__loader__"]) == ("TupleNode", "DictNode")
        and {key["__class__"] for key in state["key_types"]["content"]} == {"str"}
        and classes.shape == (integer_of(n_outputs),)
        and classes.dtype.kind == "i"
        and _within(classes, 1, 2**16)
        and nodes.shape == (n,)
        and _within(inner["left_child"], own + 1, n)
        and _within(inner["right_child"], own + 1, n)
        and _within(inner["feature"], 0, integer_of(n_features)),
        "a decision tree",
    )


def check_parts(root: Any) -> None:
    """Check what compiled code will read."""
    from sklearn.cluster import KMeans, MiniBatchKMeans
    from sklearn.ensemble import IsolationForest
    from sklearn.neighbors import BallTree, KDTree
    from sklearn.svm import OneClassSVM

    for part in parts_of(root):
        if isinstance(part, KDTree | BallTree):
            _check_search_tree(part, 2 if isinstance(part, KDTree) else 1)
        elif isinstance(part, IsolationForest) and hasattr(part, "estimators_"):
            _check_forest(part)
        elif isinstance(part, OneClassSVM) and hasattr(part, "support_vectors_"):
            _check_support_vectors(part)
        elif isinstance(part, KMeans | MiniBatchKMeans) and hasattr(part, "cluster_centers_"):
            _check_width(part, part.cluster_centers_)
        elif isinstance(part, np.random.RandomState):
            _require(_within(part.get_state(legacy=False)["state"]["pos"], 0, 625), "random state")
        elif hasattr(part, "_fit_X"):
            _check_width(part, part._fit_X)
        elif type(part).__name__ == "HBOS" and isinstance(getattr(part, "hist_", None), np.ndarray):
            edges, n_bins = part.bin_edges_, part.n_bins
            _require(
                part.hist_.ndim == 2
                and part.hist_.shape[0] == n_bins
                and edges.shape == (n_bins + 1, part.hist_.shape[1]),
                "histograms",
            )
        # joblib keeps pickles in this folder, and would read them in another training.
        if isinstance(getattr(part, "memory", None), str):
            part.memory = None


def _check_search_tree(tree: Any, n_bounds: int) -> None:
    data, order, nodes, bounds, _, n_levels, n_nodes, *_, metric, weights = tree.__getstate__()
    n, width = data.shape
    first_leaf = n_nodes // 2  # from here on nodes have no room for children
    weighted = metric.__getstate__()[1] if type(metric).__name__.startswith("Minkowski") else ()
    _require(
        n_nodes == 2**n_levels - 1 == len(nodes)
        and bounds.shape == (n_bounds, n_nodes, width)
        and order.shape == (n,)
        and _within(order, 0, n)
        and _within(nodes["idx_start"], 0, nodes["idx_end"] + 1)
        and _within(nodes["idx_end"], 0, n + 1)
        and bool((nodes["is_leaf"][first_leaf:] != 0).all())
        and len(weighted) in (0, width)
        and (weights is None or weights.shape == (n,)),
        "a neighbour search",
    )


def _check_forest(forest: Any) -> None:
    from sklearn.tree import ExtraTreeRegressor

    width = integer(forest.n_features_in_, at_least=1)
    used = integer(forest._max_features, at_least=1)
    _require(
        used <= width
        and len(forest.estimators_) == len(forest.estimators_features_)
        and all(
            type(tree) is ExtraTreeRegressor and tree.tree_.n_features == used == len(features)
            for tree, features in zip(forest.estimators_, forest.estimators_features_, strict=True)
        ),
        "an isolation forest",
    )


def _check_support_vectors(machine: Any) -> None:
    vectors = machine.support_vectors_
    n = len(vectors)
    _check_width(machine, vectors)
    _require(
        machine._sparse is False
        and machine.support_.shape == (n,)
        and machine._n_support.tolist() == [n, n]
        and machine._dual_coef_.shape == (1, n)
        and machine._intercept_.shape == (1,),
        "support vectors",
    )


def _check_width(part: Any, rows: Any) -> None:
    """Rows kept are as wide as those that scoring lets pass."""
    width = integer(part.n_features_in_, at_least=1)
    _require(isinstance(rows, np.ndarray) and rows.shape[1:] == (width,), "rows kept of training")


def _within(values: Any, low: Any, end: Any) -> bool:
    return bool(np.all((values >= low) & (values < end)))


def _require(condition: bool, what: str) -> None:
    if not condition:
        raise ValueError(f"{what} with numbers that do not belong together")
