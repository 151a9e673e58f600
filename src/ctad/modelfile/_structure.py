"""Objects from a file, as they are before anybody uses them: do their numbers belong together?

Checked is what compiled code reads when scoring: neighbour searches, isolation forests as a whole,
support vectors, k-means centroids, rows kept of training, PyOD's histograms, the state of random
numbers. Not checked: that one step of a pipeline gives as many columns as the next was trained on,
where that is PyOD's HBOS, which does not look itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ._values import integer, require, within


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


def check_parts(root: Any, n_columns: int | None = None) -> None:
    """Check what compiled code will read; `n_columns` is the width of the rows `root` will get."""
    from sklearn.cluster import KMeans, MiniBatchKMeans
    from sklearn.ensemble import IsolationForest
    from sklearn.frozen import FrozenEstimator
    from sklearn.neighbors import BallTree, KDTree
    from sklearn.svm import OneClassSVM

    outermost = root.estimator if isinstance(root, FrozenEstimator) else root
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
            place = part.get_state(legacy=False)["state"]["pos"]
            require(within(place, 0, 625), "a generator of random numbers")
        elif hasattr(part, "_fit_X"):
            _check_width(part, part._fit_X)
        elif type(part).__name__ == "QMCD" and hasattr(part, "_fitted_data"):
            _check_width(part._scaler, part._fitted_data)
        elif type(part).__name__ == "Sampling" and hasattr(part, "threshold_"):
            require(_weighs(part.dist, part.subset.shape[1]), "a distance")
        elif type(part).__name__ == "HBOS" and hasattr(part, "hist_"):
            _check_histograms(part, n_columns if part is outermost else None)
        # joblib keeps pickles in this folder, and would read them in another training.
        if isinstance(getattr(part, "memory", None), str):
            part.memory = None


def _check_search_tree(tree: Any, n_bounds: int) -> None:
    data, order, nodes, bounds, _, n_levels, n_nodes, *_, metric, weights = tree.__getstate__()
    n, width = data.shape
    first_leaf = n_nodes // 2  # from here on nodes have no room for children
    require(
        n_levels == n_nodes.bit_length()
        and n_nodes == 2**n_levels - 1 == len(nodes)
        and bounds.shape == (n_bounds, n_nodes, width)
        and order.shape == (n,)
        and within(order, 0, n)
        and within(nodes["idx_start"], 0, nodes["idx_end"] + 1)
        and within(nodes["idx_end"], 0, n + 1)
        and bool((nodes["is_leaf"][first_leaf:] != 0).all())
        and _weighs(metric, width)
        and (weights is None or weights.shape == (n,)),
        "a neighbour search",
    )


def _weighs(metric: Any, width: int) -> bool:
    """Whether a metric that may have weights has none, or one per column."""
    weights = metric.__getstate__()[1] if type(metric).__name__ == "MinkowskiDistance64" else ()
    return len(weights) in (0, width)


def _check_forest(forest: Any) -> None:
    from sklearn.tree import ExtraTreeRegressor

    width = integer(forest.n_features_in_, at_least=1)
    used = integer(forest._max_features, at_least=1)
    require(
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
    require(
        machine._sparse is False
        and machine.support_.shape == (n,)
        and machine._n_support.tolist() == [n, n]
        and machine._dual_coef_.shape == (1, n)
        and machine._intercept_.shape == (1,),
        "support vectors",
    )


def _check_histograms(detector: Any, n_columns: int | None) -> None:
    heights, edges, n_bins = detector.hist_, detector.bin_edges_, detector.n_bins
    if isinstance(n_bins, str):  # any number of bins: numpy looks after these
        return
    width = heights.shape[1] if n_columns is None else n_columns
    require(heights.shape == (n_bins, width) and edges.shape == (n_bins + 1, width), "histograms")


def _check_width(part: Any, rows: Any) -> None:
    """Rows kept are as wide as those that scoring lets pass."""
    width = integer(part.n_features_in_, at_least=1)
    require(isinstance(rows, np.ndarray) and rows.shape[1:] == (width,), "rows kept of training")
