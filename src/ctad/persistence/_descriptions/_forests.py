"""Isolation forests of scikit-learn: the nodes of all trees in a few arrays.

Trees follow each other. Node 0 of a tree is its root, and children come after their parent, which
is how scikit-learn grows trees. Leaves have the children -1 and the feature -2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._description import Description, Values, set_attributes
from .._kinds import (
    Array,
    Booleans,
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

if TYPE_CHECKING:
    from .._reader import Scope

MAX_TREES = 20_000  # each is a Python object
LEAF = -1  # as a child
NO_FEATURE = -2

FOREST: dict[str, Kind] = {
    "n_estimators": Integer(1),
    "max_samples": OneOf((Choice(("auto",)), Integer(1), Number(0, 1))),
    "max_features": OneOf((Integer(), Number(0, 1))),
    "bootstrap": Flag(),
    "n_jobs": N_JOBS,
    "random_state": Seed(),
    "verbose": VERBOSE,
}
# Attributes of scikit-learn's `Tree`. Values of leaves are missing: they predict random numbers,
# on which isolation trees are trained.
NODES = {
    "children_left": Array("int32", ("nodes",), low=LEAF),
    "children_right": Array("int32", ("nodes",), low=LEAF),
    "feature": Array("int32", ("nodes",), low=NO_FEATURE, high="<used"),
    "threshold": Floats("nodes", finite=False, nan=True),
    "impurity": Floats("nodes"),
    "n_node_samples": Integers("nodes", low=1, high=2**53),
    "weighted_n_node_samples": Floats("nodes", low=POSITIVE),
    "missing_go_to_left": Booleans("nodes"),
}
# Fields of the nodes of a `Tree` that have another name than its attribute.
FIELDS = {"children_left": "left_child", "children_right": "right_child"}


def _take_apart(forest: Any) -> Values:
    trees = [estimator.tree_.__getstate__()["nodes"] for estimator in forest.estimators_]
    nodes = np.concatenate(trees)
    return {
        "estimators_features_": np.array(forest.estimators_features_, dtype=np.int64),
        "seeds": np.array([tree.random_state for tree in forest.estimators_], dtype=np.int64),
        "n_nodes": np.array([len(tree) for tree in trees], dtype=np.int64),
        "nodes": {
            name: nodes[FIELDS.get(name, name)].astype(kind.dtype) for name, kind in NODES.items()
        },
    }


def _check(values: Values, scope: Scope) -> None:
    require(scope.lengths["trees"] <= MAX_TREES, f"more than {MAX_TREES:,} trees")
    require(scope.lengths["used"] <= scope.lengths["d"], "_max_features: more than all columns")
    n_nodes, nodes = values["n_nodes"], values["nodes"]
    require(n_nodes.sum() == scope.lengths["nodes"], "n_nodes: not the number of nodes")
    start = np.repeat(np.cumsum(n_nodes) - n_nodes, n_nodes)  # of the tree that a node is in
    number = np.arange(len(start)) - start
    size = np.repeat(n_nodes, n_nodes)
    left, right = nodes["children_left"], nodes["children_right"]
    inner = left != LEAF
    require(
        np.array_equal(inner, right != LEAF) and np.array_equal(inner, nodes["feature"] >= 0),
        "nodes: a leaf with a child or a feature, or a node without",
    )
    for child in (left[inner], right[inner]):
        require((child > number[inner]).all() and (child < size[inner]).all(), "nodes: not a tree")
    children = np.concatenate([(start + left)[inner], (start + right)[inner]])
    n_parents = np.bincount(children, minlength=len(start))
    require(np.array_equal(n_parents, number > 0), "nodes: not a tree")
    n_rows = nodes["n_node_samples"]
    both = n_rows[(start + left)[inner]] + n_rows[(start + right)[inner]]
    require(np.array_equal(both, n_rows[inner]), "n_node_samples: not the rows of both children")


def _put_together(forest: Any, values: dict[str, Any]) -> None:
    from sklearn.ensemble._iforest import _average_path_length
    from sklearn.tree import ExtraTreeRegressor
    from sklearn.tree._tree import NODE_DTYPE, Tree

    columns = values.pop("nodes")
    n_nodes, seeds = values.pop("n_nodes"), values.pop("seeds").tolist()
    set_attributes(forest, values)
    forest.estimators_features_ = list(values["estimators_features_"])
    forest.estimator_ = forest._get_estimator()
    forest.estimator_.max_depth = int(np.ceil(np.log2(max(forest.max_samples_, 2))))
    parameters = forest.estimator_.get_params()

    nodes = np.zeros(len(columns["feature"]), dtype=NODE_DTYPE)
    for name, column in columns.items():
        nodes[FIELDS.get(name, name)] = column
    ends = np.cumsum(n_nodes)[:-1]
    path_lengths = _average_path_length(nodes["n_node_samples"])
    forest._average_path_length_per_tree = tuple(np.split(path_lengths, ends))
    forest.estimators_, depths = [], []
    for seed, tree_nodes in zip(seeds, np.split(nodes, ends), strict=True):
        tree = Tree(forest._max_features, np.array([1]), 1)
        state = {"node_count": len(tree_nodes), "nodes": tree_nodes}
        state["values"] = np.zeros((len(tree_nodes), 1, 1))
        tree.__setstate__({**state, "max_depth": 0})
        depths.append(tree.compute_node_depths())
        # Buffers for paths from the root to a leaf have this size.
        tree.max_depth = int(depths[-1].max()) - 1
        estimator = ExtraTreeRegressor(**{**parameters, "random_state": seed})
        estimator.n_features_in_ = forest._max_features
        estimator.n_outputs_ = estimator.max_features_ = 1
        estimator.tree_ = tree
        forest.estimators_.append(estimator)
    forest._decision_path_lengths = tuple(depths)


DESCRIPTIONS = (
    Description(
        type="sklearn.ensemble.IsolationForest",
        role="detector",
        parameters={
            **FOREST,
            "contamination": OneOf((Choice(("auto",)), Number(0, 0.5))),
            "warm_start": Flag(),
        },
        fitted={
            **COLUMNS,
            "_n_samples": Integer(1, length="rows"),
            "max_samples_": Integer(1),
            "_max_samples": Integer(1),
            "_max_features": Integer(1, length="used"),
            "_sample_weight": MayBeMissing(Optional(Floats("rows", low=0))),
            "_seeds": Integers("new_trees", low=0, high=2**32 - 1),
            "estimators_features_": Integers("trees", "used", low=0, high="<d"),
            "seeds": Integers("trees", low=0, high=2**32 - 1),
            "n_nodes": Integers("trees", low=1, high=2**31),
            "nodes": Record(NODES),
            "offset_": Number(-1, 0),
        },
        rebuilt=(
            *("estimator", "estimator_params", "bootstrap_features", "oob_score"),
            *("estimator_", "estimators_", "estimators_features_"),
            *("_average_path_length_per_tree", "_decision_path_lengths"),
        ),
        take_apart=_take_apart,
        put_together=_put_together,
        check=_check,
        n_in="d",
    ),
)
