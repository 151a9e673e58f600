"""Compiled types in skops' description of an object, checked before they are built.

They read their state without any check: a tuple that is too short, or a node of a tree with an
index out of range, would make them read or write memory that is not theirs.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ._values import integer, require, within

Node = dict[str, Any]
ReadArray = Callable[[str], npt.NDArray[Any]]

# Distances without arrays of their own, except for the weights that Minkowski's may have.
_METRICS = "sklearn.metrics._dist_metrics."
METRICS = {
    f"{_METRICS}{name}Distance64"
    for name in ("BrayCurtis", "Canberra", "Chebyshev", "Euclidean", "Manhattan", "Minkowski")
}


def is_metric(type_name: str) -> bool:
    """Whether it is a distance of scikit-learn, whether it can be saved or not."""
    return type_name.startswith(_METRICS)


def check_compiled(type_name: str, node: Node, read: ReadArray) -> None:
    """Check a node if it is of a compiled type; `read` returns an array by its name."""
    if type_name == "sklearn.tree._tree.Tree":
        _check_tree(node, read)
    elif type_name == "sklearn.linear_model._sgd_fast.Hinge":
        fits = _loaders(node["__reduce__"]["args"], node["content"]) == ("TupleNode", "DictNode")
        require(fits and not node["content"]["content"], "a loss")
    elif type_name == "sklearn.neighbors._kd_tree.KDTree":
        from sklearn.neighbors import KDTree

        _check_state(node, KDTree([[0.0]]), read)
    elif type_name == "sklearn.neighbors._ball_tree.BallTree":
        from sklearn.neighbors import BallTree

        _check_state(node, BallTree([[0.0]]), read)
    elif type_name in METRICS:
        from sklearn.metrics import DistanceMetric

        _check_state(node, DistanceMetric.get_metric("euclidean"), read)


def _check_tree(node: Node, read: ReadArray) -> None:
    arguments, state = node["__reduce__"]["args"], node["content"]
    require(_loaders(arguments, state) == ("TupleNode", "DictNode"), "a decision tree")
    n_features, n_classes, n_outputs = arguments["content"]
    classes, nodes = _array(n_classes, read), _array(state["content"]["nodes"], read)
    n = _count(state["content"]["node_count"])
    branching = nodes["left_child"] != -1
    own, inner = np.arange(len(nodes))[branching], nodes[branching]
    require(
        {key["__class__"] for key in state["key_types"]["content"]} == {"str"}
        and classes.shape == (_count(n_outputs),)
        and classes.dtype.kind == "i"
        and within(classes, 1, 2**16)
        and nodes.shape == (n,)
        # Children come after their parent, so every path down the tree ends.
        and within(inner["left_child"], own + 1, n)
        and within(inner["right_child"], own + 1, n)
        and within(inner["feature"], 0, _count(n_features)),
        "a decision tree",
    )


def _check_state(node: Node, example: Any, read: ReadArray) -> None:
    """The state must be a tuple of the same kinds of items as that of the example."""
    what, state, items = node["__class__"], node["content"], example.__getstate__()
    require(state["__loader__"] == "TupleNode" and len(state["content"]) == len(items), what)
    for part, item in zip(state["content"], items, strict=True):
        if isinstance(item, np.ndarray):
            values = _array(part, read)
            require((values.dtype, values.ndim) == (item.dtype, item.ndim), what)
        elif isinstance(item, int | float):
            require(part["__loader__"] == "JsonNode", what)
            require(isinstance(json.loads(part["content"]), int | float), what)
        elif item is not None:
            require(f"{part['__module__']}.{part['__class__']}" in METRICS, what)
        elif part["__loader__"] != "JsonNode":
            require(_array(part, read).dtype == np.float64, what)


def _array(part: Node, read: ReadArray) -> npt.NDArray[Any]:
    require(
        (part["__loader__"], part["type"]) == ("NdArrayNode", "numpy"), "an array of another kind"
    )
    return read(part["file"])


def _count(part: Node) -> int:
    require(part["__loader__"] == "JsonNode", "a count")
    return integer(json.loads(part["content"]), at_least=1)


def _loaders(*parts: Node) -> tuple[str, ...]:
    return tuple(part["__loader__"] for part in parts)
