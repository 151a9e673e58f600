"""Checks of objects from a file, before they are used: are their numbers consistent?

The checks cover all that compiled code reads as an index or a size when it scores rows: neighbour
searches, decision trees and forests, support vectors, k-means centroids, training rows that are
kept, one-hot codes, PyOD's histograms, the state of random generators. Each check is applied to
every part that has the attributes in question, whatever its other attributes are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from numbers import Real
from typing import Any

import numpy as np

from ..errors import InputError
from ._values import integer, require, within

KERNELS = ("linear", "poly", "rbf", "sigmoid")
MAX_JOBS = 128  # a file that asks for more processes is not sensible


def parts_of(root: Any) -> Iterator[Any]:
    """An object and all objects inside it."""
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
            stack.extend(np.asarray(item).ravel().tolist() if item.dtype.hasobject else ())
        elif not isinstance(item, type):
            stack.extend(getattr(item, "__dict__", {}).values())


def check_parts(root: Any, n_columns: int | None = None) -> None:
    """Check an object; `n_columns` is the number of columns of the rows that it gets, if known."""
    from sklearn.cluster import KMeans, MiniBatchKMeans
    from sklearn.ensemble import IsolationForest
    from sklearn.neighbors import BallTree, KDTree
    from sklearn.preprocessing import OneHotEncoder
    from sklearn.svm import OneClassSVM
    from sklearn.tree import BaseDecisionTree

    outermost = _unwrapped(root)
    # (types, an attribute of fitted ones, check)
    checks: tuple[tuple[Any, str, Callable[[Any], None]], ...] = (
        (KDTree, "data", lambda tree: _check_search_tree(tree, 2)),
        (BallTree, "data", lambda tree: _check_search_tree(tree, 1)),
        (BaseDecisionTree, "tree_", _check_decision_tree),
        (IsolationForest, "estimators_", _check_forest),
        (OneClassSVM, "support_vectors_", _check_support_vectors),
        (KMeans | MiniBatchKMeans, "cluster_centers_", _check_centroids),
        (OneHotEncoder, "categories_", _check_one_hot),
        (np.random.RandomState, "get_state", _check_random_state),
        (object, "_fit_X", _check_neighbours),
        (object, "_fitted_data", _check_qmcd),
        (object, "subset", _check_sampling),
    )
    for part in parts_of(root):
        if not _is_of_library(part):
            continue
        # No attribute in a file may replace a method.
        own = getattr(part, "__dict__", ())
        hidden = [name for name in own if callable(getattr(type(part), name, None))]
        require(not hidden, f"{type(part).__name__} ({', '.join(hidden)})")
        for kinds, trained, check in checks:
            if isinstance(part, kinds) and hasattr(part, trained):
                check(part)
        if _is_histograms(part):
            require(part is outermost and n_columns is not None, "HBOS inside another object")
            _check_histograms(part, n_columns)
        # joblib stores pickles in this folder and would read them when the model is fitted again.
        if isinstance(getattr(part, "memory", None), str):
            part.memory = None
        if isinstance(getattr(part, "n_jobs", None), Real) and abs(part.n_jobs) > MAX_JOBS:
            part.n_jobs = None


def _is_of_library(part: Any) -> bool:
    """Whether it is an object of scikit-learn, PyOD or ctad, or a random generator."""
    package = type(part).__module__.partition(".")[0]
    return package in ("sklearn", "pyod", "ctad") or isinstance(part, np.random.RandomState)


def check_savable(root: Any) -> None:
    """Raise if a file with this object could not be loaded, because it cannot be checked."""
    for part in parts_of(root):
        if _is_histograms(part) and part is not _unwrapped(root):
            raise InputError(
                "HBOS inside a pipeline or a search cannot be saved, except with n_bins='auto': it "
                "does not check the number of columns it gets."
            )


def _unwrapped(root: Any) -> Any:
    from sklearn.frozen import FrozenEstimator

    while isinstance(root, FrozenEstimator):
        root = root.estimator
    return root


def _is_histograms(part: Any) -> bool:
    """Whether it is PyOD's HBOS; with n_bins="auto" numpy checks the number of bins."""
    name = f"{type(part).__module__}.{type(part).__qualname__}"
    fitted = name == "pyod.models.hbos.HBOS" and hasattr(part, "hist_")
    return fitted and not isinstance(part.n_bins, str)


def _check_search_tree(tree: Any, n_bounds: int) -> None:
    data, order, nodes, bounds, _, n_levels, n_nodes, *_, metric, weights = tree.__getstate__()
    n, width = data.shape
    first_leaf = n_nodes // 2  # nodes from here on cannot have children
    require(
        n_levels == n_nodes.bit_length()
        and n_nodes == 2**n_levels - 1 == len(nodes)
        and bounds.shape == (n_bounds, n_nodes, width)
        and order.shape == (n,)
        and within(order, 0, n)
        and within(nodes["idx_start"], 0, nodes["idx_end"] + 1)
        and within(nodes["idx_end"], 0, n + 1)
        and bool((nodes["is_leaf"][first_leaf:] != 0).all())
        and _weights_fit(metric, width)
        and (weights is None or weights.shape == (n,)),
        "a neighbour search",
    )


def _weights_fit(metric: Any, width: int) -> bool:
    """Whether a metric has no weights, or one per column."""
    weights = metric.__getstate__()[1] if type(metric).__name__ == "MinkowskiDistance64" else ()
    return len(weights) in (0, width)


def _check_decision_tree(tree: Any) -> None:
    require(tree.tree_.n_features == integer(tree.n_features_in_, at_least=1), "a decision tree")


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
        machine.kernel in KERNELS
        and "_impl" not in vars(machine)
        and len(machine._probA) == len(machine._probB) == 0
        and machine._sparse is False
        and machine.support_.shape == (n,)
        and within(machine.support_, 0, machine.shape_fit_[0])
        and machine._n_support.tolist() == [n, n]
        and machine._dual_coef_.shape == (1, n)
        and machine._intercept_.shape == (1,),
        "support vectors",
    )


def _check_centroids(kmeans: Any) -> None:
    _check_width(kmeans, kmeans.cluster_centers_)


def _check_one_hot(encoder: Any) -> None:
    """Codes are column indices of the output, which is written without checks."""
    grouped = getattr(encoder, "_infrequent_enabled", False)
    none = [None] * len(encoder.categories_)
    mappings = encoder._default_to_infrequent_mappings if grouped else none
    infrequent = encoder._infrequent_indices if grouped else none
    left_out = encoder._drop_idx_after_grouping
    require(len(none) == encoder.n_features_in_, "one-hot codes")
    for values, mapping, rare, drop, n_out in zip(
        encoder.categories_,
        mappings,
        infrequent,
        none if left_out is None else left_out,
        encoder._n_features_outs,
        strict=True,
    ):
        n = n_codes = len(values)
        numeric = values.dtype.kind not in "OUS"  # numbers are found by bisection
        ordered = not numeric or np.array_equal(np.sort(values), values, equal_nan=True)
        require(ordered and (mapping is None) == (rare is None), "one-hot codes")
        if mapping is not None:
            n_codes = int(mapping.max()) + 1
            require(
                mapping.shape == (n,)
                and mapping.dtype.kind == "i"
                and mapping.min() >= 0
                and rare.dtype.kind == "i"
                and len(rare) > 0
                and within(rare, 0, n),
                "one-hot codes",
            )
        require(drop is None or within(integer(int(drop)), 0, n_codes), "one-hot codes")
        require(integer(int(n_out)) == n_codes - (drop is not None), "one-hot codes")


def _check_random_state(random: Any) -> None:
    place = random.get_state(legacy=False)["state"]["pos"]
    require(within(place, 0, 625), "a random generator")


def _check_neighbours(search: Any) -> None:
    _check_width(search, search._fit_X)
    width, kept = search.n_features_in_, len(search._fit_X)
    require(getattr(search, "n_samples_fit_", kept) == kept, "kept training rows")
    require(isinstance(getattr(search, "effective_metric_", ""), str), "a distance")
    for parameters in ("effective_metric_params_", "metric_params"):
        for name, value in (getattr(search, parameters, None) or {}).items():
            shapes = {"p": ((),), "w": ((), (width,)), "V": ((width,), (width, width))}
            fits = np.shape(value) in {**shapes, "VI": ((width, width),)}.get(name, ())
            require(fits or value is None, "a distance")


def _check_qmcd(detector: Any) -> None:
    from sklearn.preprocessing import MinMaxScaler

    scaler = detector._scaler
    require(type(scaler) is MinMaxScaler, "a scaler")
    _check_width(scaler, detector._fitted_data)
    require(scaler.scale_.shape == scaler.min_.shape == (scaler.n_features_in_,), "a scaler")


def _check_sampling(detector: Any) -> None:
    if detector.subset is not None:  # fitted
        require(_weights_fit(detector.dist, detector.subset.shape[1]), "a distance")


def _check_histograms(detector: Any, n_columns: int | None) -> None:
    heights, edges, n_bins = detector.hist_, detector.bin_edges_, detector.n_bins
    require(
        heights.shape == (n_bins, n_columns) and edges.shape == (n_bins + 1, n_columns),
        "histograms",
    )


def _check_width(part: Any, rows: Any) -> None:
    """Kept rows must have as many columns as the rows that pass the detector's input check."""
    width = integer(part.n_features_in_, at_least=1)
    require(isinstance(rows, np.ndarray) and rows.shape[1:] == (width,), "kept training rows")
