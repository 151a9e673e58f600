"""Scores of a fitted isolation forest, several times as fast as scikit-learn computes them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from joblib import effective_n_jobs
from sklearn.ensemble import IsolationForest
from sklearn.ensemble._iforest import _average_path_length
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline

from .._compiled import compiled
from .._types import Booleans, Floats, Integers
from .._validation import is_float_array

SingleFloats = npt.NDArray[np.float32]
Indices = npt.NDArray[np.uint32]

ROWS_AT_ONCE = 64  # they go down a tree together, so that the processor need not wait for any
ROWS_PER_CALL = 4096  # converted to single precision at a time
MOST_NODES = 2**31


@compiled
def add_depths(
    rows: SingleFloats,
    feature: Indices,
    threshold: SingleFloats,
    left: Indices,
    depth_of_leaf: Floats,
    root: Indices,
    n_levels: Integers,
    depth: Floats,
) -> None:
    """Add up the depths of each row's leaves, by the arrays of a `PackedForest`.

    The rows of a block take each step together. No step depends on the one before it of another
    row, and there are no branches, so the processor works on many rows at once.
    """
    n, n_features = rows.shape
    values = np.empty((n_features, ROWS_AT_ONCE), dtype=np.float32)
    node = np.empty(ROWS_AT_ONCE, dtype=np.uint32)
    for start in range(0, n, ROWS_AT_ONCE):
        size = min(ROWS_AT_ONCE, n - start)
        for row in range(size):
            for column in range(n_features):
                values[column, row] = rows[start + row, column]
        for tree in range(len(root)):
            node[:] = root[tree]
            for _ in range(n_levels[tree]):
                for row in range(size):
                    here = node[row]
                    goes_right = values[feature[here], row] > threshold[here]
                    node[row] = left[here] + np.uint32(goes_right)
            for row in range(size):
                depth[start + row] += depth_of_leaf[node[row]]


@dataclass(frozen=True, eq=False)
class PackedForest:
    """The trees of an isolation forest in a few arrays, one entry per node.

    The score is 2^(-depth of a row's leaves / usual depth), with the same bits as scikit-learn's:
    columns are compared in single precision and depths added in the same order. The score of a row
    does not depend on the other rows.

    Attributes
    ----------
    feature : ndarray
        The column that a node compares.
    threshold : ndarray
        A row goes to the right child if its value is larger. Infinite at leaves.
    left : ndarray
        The left child of a node; the right one is next to it. A leaf is its own left child, so
        that rows stay there.
    depth_of_leaf : ndarray
        The depth of a leaf, plus the expected depth of a tree of the rows that ended there.
    root, n_levels : ndarray of shape (trees,)
    usual_depth : float
        The expected depth, summed over the trees.
    n_features : int
    """

    feature: Indices
    threshold: SingleFloats
    left: Indices
    depth_of_leaf: Floats
    root: Indices
    n_levels: Integers
    usual_depth: float
    n_features: int

    @classmethod
    def of(cls, forest: Any) -> Self | None:
        """Pack a fitted forest; None if it is not one whose scores are known to be these."""
        if type(forest) is not IsolationForest or not hasattr(forest, "_decision_path_lengths"):
            return None
        if hasattr(forest, "feature_names_in_"):  # it warns about rows without names
            return None
        trees = [estimator.tree_ for estimator in forest.estimators_]
        n_nodes = np.array([tree.node_count for tree in trees])
        usual_depth = float(len(trees) * _average_path_length([forest._max_samples])[0])
        if n_nodes.sum() > MOST_NODES or usual_depth == 0.0:
            return None
        root = np.cumsum(n_nodes) - n_nodes
        left, right = (
            np.concatenate([getattr(tree, side) for tree in trees]) + np.repeat(root, n_nodes)
            for side in ("children_left", "children_right")
        )
        inner = np.concatenate([tree.children_left for tree in trees]) >= 0
        order = _with_siblings_together(left, right, inner, root)
        place = np.empty(len(order), dtype=np.uint32)
        place[order] = np.arange(len(order))

        is_subset = forest._max_features != forest.n_features_in_
        feature = np.concatenate(
            [
                columns[np.maximum(tree.feature, 0)] if is_subset else tree.feature
                for tree, columns in zip(trees, forest.estimators_features_, strict=True)
            ]
        )
        depths = zip(
            forest._decision_path_lengths, forest._average_path_length_per_tree, strict=True
        )
        depth_of_leaf = np.concatenate([path + beyond - 1.0 for path, beyond in depths])
        threshold = _largest_single_up_to(np.concatenate([tree.threshold for tree in trees]))
        if np.isnan(threshold[inner]).any():  # from a file: scikit-learn never makes such a tree
            return None
        return cls(
            feature=np.where(inner, feature, 0)[order].astype(np.uint32),
            threshold=np.where(inner, threshold, np.float32(np.inf))[order],
            left=np.where(inner, place[np.where(inner, left, 0)], place)[order],
            depth_of_leaf=depth_of_leaf[order],
            root=root.astype(np.uint32),
            n_levels=np.array([tree.max_depth for tree in trees], dtype=np.int64),
            usual_depth=usual_depth,
            n_features=forest.n_features_in_,
        )

    def score(self, rows: Any, n_jobs: int | None = None) -> Floats | None:
        """The scores of rows, higher = more anomalous; None if the forest has to look at them.

        That is so unless they are an array of finite floats with the columns of training.
        """
        if not is_float_array(rows, 2) or rows.shape[1] != self.n_features or len(rows) == 0:
            return None
        scores = np.empty(len(rows))
        parts = [
            slice(start, start + ROWS_PER_CALL) for start in range(0, len(rows), ROWS_PER_CALL)
        ]
        n_threads = min(effective_n_jobs(n_jobs), len(parts))
        if n_threads > 1:
            with ThreadPoolExecutor(n_threads) as pool:
                are_scored = list(
                    pool.map(lambda part: self._score(rows[part], scores[part]), parts)
                )
        else:
            are_scored = [self._score(rows[part], scores[part]) for part in parts]
        return scores if all(are_scored) else None

    def _score(self, rows: Floats, scores: Floats) -> bool:
        with np.errstate(over="ignore"):
            single = np.ascontiguousarray(rows, dtype=np.float32)
        if not np.isfinite(single.min()) or not np.isfinite(single.max()):
            return False
        depth = np.zeros(len(single))
        add_depths(
            single,
            self.feature,
            self.threshold,
            self.left,
            self.depth_of_leaf,
            self.root,
            self.n_levels,
            depth,
        )
        scores[:] = 2 ** (-(depth / self.usual_depth))
        return True


def _with_siblings_together(
    left: Integers, right: Integers, inner: Booleans, root: Integers
) -> Integers:
    """The nodes tree by tree, level by level, with both children of a node side by side."""
    level, levels = root, [root]
    while inner[level].any():
        parents = level[inner[level]]
        level = np.column_stack([left[parents], right[parents]]).ravel()
        levels.append(level)
    order = np.concatenate(levels)
    tree = np.searchsorted(root, order, side="right")
    return order[np.argsort(tree, kind="stable")]


def _largest_single_up_to(threshold: Floats) -> SingleFloats:
    """In single precision, values are larger than this if they are larger than the threshold."""
    with np.errstate(over="ignore"):
        single = threshold.astype(np.float32)
    too_large = single > threshold
    single[too_large] = np.nextafter(single[too_large], np.float32(-np.inf))
    return single


class ForestScorer:
    """Scores rows as a fitted detector does, if that is an isolation forest.

    Parameters
    ----------
    detector : object
        scikit-learn's IsolationForest, PyOD's IForest, or a pipeline that ends with one of them.
    method : str
        The method of the detector that gives its scores.
    """

    def __init__(self, detector: Any, method: str) -> None:
        self.detector = detector
        self.method = method
        self._packed: tuple[tuple[Any, ...], PackedForest | None] = ((), None)

    def __getstate__(self) -> dict[str, Any]:
        """Without the packed trees, which can be made again."""
        return {**self.__dict__, "_packed": ((), None)}

    def __call__(self, X: Any) -> Floats | None:
        """What the method returns; None if it has to be called."""
        detector, before = self.detector, []
        # Subclasses may score in another way.
        if type(detector) is FrozenEstimator:
            detector = detector.estimator
        if type(detector) is Pipeline:
            before, detector = [step for _, step in detector.steps[:-1]], detector[-1]
        is_of_pyod = type(detector).__module__ == "pyod.models.iforest"
        if self.method != ("decision_function" if is_of_pyod else "score_samples"):
            return None
        forest: Any = getattr(detector, "detector_", None) if is_of_pyod else detector
        packed = self._packed_forest(forest)
        if packed is None:
            return None
        for step in before:
            X = X if step in (None, "passthrough") else step.transform(X)
        score = packed.score(X, forest.n_jobs)
        if score is not None:
            return score + forest.offset_ if is_of_pyod else -score
        if not before:
            return None
        scores: Floats = getattr(detector, self.method)(X)
        return scores

    def _packed_forest(self, forest: Any) -> PackedForest | None:
        if not isinstance(forest, IsolationForest) or not hasattr(forest, "estimators_"):
            return None
        key, packed = self._packed
        current = (*forest.estimators_, forest._max_samples, forest._max_features)
        if current != key:  # packed for the first time, or fitted again
            packed = PackedForest.of(forest)
            self._packed = current, packed
        return packed
