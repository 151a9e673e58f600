"""Support vector machines of scikit-learn."""

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
    Kind,
    ListOf,
    MayBeMissing,
    Number,
    OneOf,
    require,
)
from ._common import COLUMNS, VERBOSE

if TYPE_CHECKING:
    from .._reader import Scope

MACHINE: dict[str, Kind] = {
    "kernel": Choice(("linear", "poly", "rbf", "sigmoid")),
    "degree": Integer(0, 100),
    "gamma": OneOf((Choice(("scale", "auto")), Number(0))),
    "coef0": Number(),
    "tol": Number(0),
    "nu": Number(0, 1),
    "shrinking": Flag(),
    "cache_size": Number(0),
    "verbose": VERBOSE,
    "max_iter": Integer(-1, 2**31 - 1),
}


def _check(values: Values, scope: Scope) -> None:
    n_rows, n_columns = values["shape_fit_"]
    require(n_columns == scope.lengths["d"], "shape_fit_: not of the same columns")
    require((values["support_"] < n_rows).all(), "support_: not among the training rows")


def _put_together(machine: Any, values: dict[str, Any]) -> None:
    set_attributes(machine, values)
    machine.support_vectors_ = np.ascontiguousarray(machine.support_vectors_)
    n = len(machine.support_)
    machine._sparse = False
    machine._n_support = np.array([n, n], dtype=np.int32)
    machine._dual_coef_ = machine.dual_coef_
    machine._intercept_ = machine.intercept_.copy()
    machine.offset_ = -machine._intercept_
    machine._probA = machine._probB = np.empty(0)
    machine._num_iter = np.array([machine.n_iter_], dtype=np.int32)


def _take_apart(machine: Any) -> Values:
    require(not machine._sparse, "fitted on sparse rows")
    return {}


DESCRIPTIONS = (
    Description(
        type="sklearn.svm.OneClassSVM",
        role="detector",
        parameters=MACHINE,
        fitted={
            **COLUMNS,
            "_gamma": Number(0),
            "support_": Array("int32", ("vectors",), low=0),
            "support_vectors_": Floats("vectors", "d"),
            "dual_coef_": Floats(1, "vectors"),
            "intercept_": Floats(1),
            "shape_fit_": ListOf(Integer(1), 2, tuple),
            "fit_status_": Integer(0, 1),
            "n_iter_": Integer(0, 2**31 - 1),
            "_effective_probability": MayBeMissing(Choice((False,))),
        },
        rebuilt=(
            *("C", "epsilon", "probability", "class_weight", "random_state"),
            *("_sparse", "_n_support", "_dual_coef_", "_intercept_", "offset_"),
            *("_probA", "_probB", "_num_iter"),
        ),
        take_apart=_take_apart,
        put_together=_put_together,
        check=_check,
        n_in="d",
    ),
)
