"""PyOD's kernel PCA."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._description import Description, Values, set_attributes
from .._kinds import (
    Choice,
    Flag,
    Floats,
    Integer,
    Kind,
    Number,
    Object,
    OneOf,
    Optional,
    Seed,
)
from ._common import (
    COLUMNS,
    N_JOBS,
    PYOD,
    PYOD_CONTAMINATION,
    SingleOrDouble,
    check_compared,
    columns_of,
)

KERNEL_PCA = "pyod.models.kpca.PyODKernelPCA"


def _take_kernel_pca_apart(item: Any) -> Values:
    centerer = item._centerer
    return {"K_fit_rows_": centerer.K_fit_rows_, "K_fit_all_": centerer.K_fit_all_}


def _put_kernel_pca_together(item: Any, values: dict[str, Any]) -> None:
    from sklearn.preprocessing import KernelCenterer

    item._centerer = centerer = KernelCenterer().set_output(transform="default")
    centerer.K_fit_rows_ = values.pop("K_fit_rows_")
    centerer.K_fit_all_ = np.float64(values.pop("K_fit_all_"))
    centerer.n_features_in_ = len(centerer.K_fit_rows_)
    set_attributes(item, values)


KERNEL: dict[str, Kind] = {
    "n_components": Optional(Integer(1)),
    "kernel": Choice(("linear", "poly", "rbf", "sigmoid", "cosine")),
    "gamma": Optional(Number(0)),
    "degree": Number(0, 100),
    "coef0": Number(),
    "kernel_params": Choice((None,)),
    "alpha": Number(0),
    "eigen_solver": Choice(("auto", "dense", "arpack", "randomized")),
    "tol": Number(0),
    "max_iter": Optional(Integer(1)),
    "remove_zero_eig": Flag(),
    "copy_X": Flag(),
    "n_jobs": N_JOBS,
    "random_state": Seed(),
}

DESCRIPTIONS = (
    Description(
        type="pyod.models.kpca.KPCA",
        role="detector",
        parameters={
            "contamination": PYOD_CONTAMINATION,
            **KERNEL,
            "n_selected_components": Optional(Integer(1)),
            "sampling": Flag(),
            "subset_size": OneOf((Integer(1), Number(0, 1))),
        },
        fitted={
            **PYOD,
            "kpca": Object(types=(KERNEL_PCA,)),
            "n_selected_components_": Integer(1),
        },
        n_in=columns_of("kpca"),
    ),
    Description(
        type=KERNEL_PCA,
        role="part",
        parameters={**KERNEL, "fit_inverse_transform": Choice((False,))},
        fitted={
            **COLUMNS,
            "X_fit_": SingleOrDouble("rows", "d"),
            "gamma_": Number(0),
            # Constant rows have no components.
            "eigenvalues_": Floats("k", low=0, empty=True),
            "eigenvectors_": Floats("rows", "k", empty=True),
            "K_fit_rows_": Floats("rows"),
            "K_fit_all_": Number(),
        },
        rebuilt=("iterated_power", "_centerer"),
        # The constructor makes a random generator of the seed.
        given=lambda item: {**item.get_params(deep=False), "random_state": None},
        take_apart=_take_kernel_pca_apart,
        put_together=_put_kernel_pca_together,
        check=lambda values, scope: check_compared(scope.lengths["rows"]),
        n_in="d",
        n_out="k",
    ),
)
