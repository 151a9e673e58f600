"""PyOD's RGraph: it represents every row by other rows, anew for each batch of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..._fixed_batches import BATCH_ROWS
from .._description import Description, Values, set_attributes
from .._kinds import Choice, Flag, Integer, Number, require
from ._common import PYOD, PYOD_CONTAMINATION, VERBOSE
from ._neighbours import ROWS

if TYPE_CHECKING:
    from .._reader import Scope

SMALL, LARGE = 1e-50, 1e50  # products of values beyond them overflow or vanish
MAX_ROWS = 10_000  # it makes a matrix of their square
SOLUTION = 10**7  # operations to find the representation of a row, by measurement


def _put_together(detector: Any, values: dict[str, Any]) -> None:
    from sklearn.preprocessing import StandardScaler

    set_attributes(detector, values)
    if detector.preprocessing:
        detector.scaler_ = StandardScaler().fit(detector.X_train)


def _check(values: Values, scope: Scope) -> None:
    sizes = np.abs(values["X_train"].astype(float))
    require(((sizes == 0) | (sizes >= SMALL)).all(), "X_train: a value too close to zero")
    require((sizes <= LARGE).all(), "X_train: a value too large")
    require(scope.lengths["rows"] <= MAX_ROWS, f"X_train: more than {MAX_ROWS:,} rows")
    require(
        values["n_nonzero"] <= max(1000, scope.lengths["rows"]), "n_nonzero: more than other rows"
    )


def _work(values: Values, scope: Scope) -> int:
    n_rows, n_columns = scope.lengths["rows"], scope.lengths["d"]
    size = values["support_size"] if values["active_support"] else n_rows
    # With a smaller support, solutions are found in several steps.
    is_smaller = n_rows + values["blocksize_test_data"] > size
    n_solutions = n_rows * (values["maxiter"] if is_smaller else 1)
    solution = SOLUTION + values["maxiter_lasso"] * n_columns * min(n_rows, size)
    # A random walk over these rows and those of a batch.
    n_steps = (n_rows + BATCH_ROWS) ** 2 * values["transition_steps"]
    return int(n_solutions * solution + n_steps)


DESCRIPTIONS = (
    Description(
        type="pyod.models.rgraph.RGraph",
        role="detector",
        parameters={
            "transition_steps": Integer(1),
            "n_nonzero": Integer(1),
            "gamma": Number(1e-3, 1e9),
            "gamma_nz": Flag(),
            "algorithm": Choice(("lasso_lars", "lasso_cd")),
            "tau": Number(0, 1),
            "maxiter_lasso": Integer(1),
            "preprocessing": Flag(),
            "contamination": PYOD_CONTAMINATION,
            "blocksize_test_data": Integer(1, 1000),
            "support_init": Choice(("L2", "knn")),
            "maxiter": Integer(20),  # RGraph fails if a solution needs more steps
            "support_size": Integer(1),
            "active_support": Flag(),
            "fit_intercept_LR": Flag(),
            "verbose": VERBOSE,
        },
        fitted={**PYOD, "X_train": ROWS},
        # The matrix is that of the rows that were scored last.
        rebuilt=("scaler_", "transition_matrix_"),
        put_together=_put_together,
        check=_check,
        n_in="d",
        work=_work,
    ),
)
