"""Projections of scikit-learn: rows in other coordinates, linear ones and those of kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._description import Description, Values, set_attributes
from .._kinds import (
    Choice,
    Flag,
    Integer,
    Integers,
    Kind,
    MayBeMissing,
    Number,
    Object,
    OneOf,
    Optional,
    Record,
    Seed,
    require,
)
from ._common import N_JOBS, SingleOrDouble, check_compared
from ._transformers_common import TRANSFORMER

if TYPE_CHECKING:
    from .._reader import Scope

PROJECTION: dict[str, Any] = {"role": "transformer", "n_in": "d", "n_out": "k"}
COMPONENTS = SingleOrDouble("k", "d")
# Rows are kept as they came.
ROWS = OneOf((*SingleOrDouble("rows", "d").kinds, Integers("rows", "d")))
BASIS = OneOf((*SingleOrDouble("k", "d").kinds, Integers("k", "d")))

PRINCIPAL: dict[str, Kind] = {
    **TRANSFORMER,
    "n_components_": Integer(1, length="k"),
    "components_": COMPONENTS,
    "mean_": SingleOrDouble("d"),
    "explained_variance_": SingleOrDouble("k", low=0),
    "explained_variance_ratio_": SingleOrDouble("k", nan=True),  # NaN: all rows are the same
    "singular_values_": SingleOrDouble("k"),
    "noise_variance_": Number(nan=True),
}
SOLVERS = ("auto", "full", "covariance_eigh", "arpack", "randomized")
NORMALIZERS = ("auto", "QR", "LU", "none")
ITERATED_POWER = OneOf((Choice(("auto",)), Integer(0)))

CHI2 = ("additive_chi2", "chi2")
NYSTROEM_KERNELS = (
    *("linear", "poly", "polynomial", "rbf", "laplacian", "sigmoid", "cosine"),
    *CHI2,
)


def _put_together_principal(pca: Any, values: dict[str, Any]) -> None:
    set_attributes(pca, values)
    if values.get("_fit_svd_solver") == "arpack":
        pca.components_ = _last_row_first(pca.components_)
    # As a number of numpy: Python's raise OverflowError.
    pca.noise_variance_ = pca.components_.dtype.type(pca.noise_variance_)


def _put_together_svd(svd: Any, values: dict[str, Any]) -> None:
    set_attributes(svd, values)
    if svd.algorithm == "arpack":
        svd.components_ = _last_row_first(svd.components_)


def _last_row_first(components: Any) -> Any:
    """The same components in memory as scikit-learn leaves those of ARPACK: the last row first.

    Matrix products of another order of memory differ in their last bits.
    """
    return components[::-1].copy()[::-1]


def _work_of_scores(values: Values, scope: Scope) -> int:
    """Operations of `PCA.score_samples`, which inverts the covariance of all columns."""
    is_detector = "detector" in scope.place.roles
    return scope.lengths["d"] ** 3 // 10 if is_detector else 0


def _check_principal(values: Values, scope: Scope) -> None:
    # A matrix of components is inverted to score rows.
    require(scope.lengths["k"] <= scope.lengths["d"], "components_: more than columns")


def _check_ica(values: Values, scope: Scope) -> None:
    require(not values["whiten"] or "mean_" in values, "mean_: missing")


def _check_kernel_pca(values: Values, scope: Scope) -> None:
    n_rows = scope.lengths["rows"]
    check_compared(n_rows)
    require(scope.n_in(values["_centerer"]) == n_rows, "_centerer: not for these rows")


def _check_nystroem(values: Values, scope: Scope) -> None:
    require(
        values["kernel"] not in CHI2 or not (values["components_"] < 0).any(),
        "components_: a negative value, which the kernel does not have",
    )


DESCRIPTIONS = (
    Description(
        type="sklearn.decomposition.PCA",
        other_role="detector",
        parameters={
            "n_components": OneOf((Choice((None, "mle")), Integer(1), Number(0, 1))),
            "copy": Flag(),
            "whiten": Flag(),
            "svd_solver": Choice(SOLVERS),
            "tol": Number(0),
            "iterated_power": ITERATED_POWER,
            "n_oversamples": Integer(1),
            "power_iteration_normalizer": Choice(NORMALIZERS),
            "random_state": Seed(),
        },
        fitted={
            **PRINCIPAL,
            "n_samples_": Integer(1),
            "_fit_svd_solver": Choice(SOLVERS),
        },
        put_together=_put_together_principal,
        check=_check_principal,
        work=_work_of_scores,
        **PROJECTION,
    ),
    Description(
        type="sklearn.decomposition.IncrementalPCA",
        parameters={
            "n_components": Optional(Integer(1)),
            "whiten": Flag(),
            "copy": Flag(),
            "batch_size": Optional(Integer(1)),
        },
        fitted={
            **PRINCIPAL,
            "n_samples_seen_": Number(1),
            "var_": SingleOrDouble("d", low=0),
            "batch_size_": MayBeMissing(Integer(1)),
        },
        put_together=_put_together_principal,
        **PROJECTION,
    ),
    Description(
        type="sklearn.decomposition.TruncatedSVD",
        parameters={
            "n_components": Integer(1),
            "algorithm": Choice(("arpack", "randomized")),
            "n_iter": Integer(0),
            "n_oversamples": Integer(1),
            "power_iteration_normalizer": Choice(NORMALIZERS),
            "random_state": Seed(),
            "tol": Number(0),
        },
        fitted={
            **TRANSFORMER,
            "components_": COMPONENTS,
            "explained_variance_": SingleOrDouble("k", low=0),
            "explained_variance_ratio_": SingleOrDouble("k", nan=True),
            "singular_values_": SingleOrDouble("k"),
        },
        put_together=_put_together_svd,
        **PROJECTION,
    ),
    Description(
        type="sklearn.decomposition.FastICA",
        parameters={
            "n_components": Optional(Integer(1)),
            "algorithm": Choice(("parallel", "deflation")),
            "whiten": Choice(("arbitrary-variance", "unit-variance", False)),
            "fun": Choice(("logcosh", "exp", "cube")),
            "fun_args": Optional(Record({"alpha": MayBeMissing(Number(1, 2))})),
            "max_iter": Integer(1),
            "tol": Number(0),
            "w_init": Optional(SingleOrDouble("k", "k")),
            "whiten_solver": Choice(("eigh", "svd")),
            "random_state": Seed(),
        },
        fitted={
            **TRANSFORMER,
            "n_iter_": Integer(1),
            "components_": COMPONENTS,
            "mean_": MayBeMissing(SingleOrDouble("d")),
            "whitening_": MayBeMissing(COMPONENTS),
            "mixing_": SingleOrDouble("d", "k"),
            "_unmixing": SingleOrDouble("k", "k"),
        },
        check=_check_ica,
        **PROJECTION,
    ),
    Description(
        type="sklearn.decomposition.KernelPCA",
        parameters={
            "n_components": Optional(Integer(1)),
            "kernel": Choice(("linear", "poly", "rbf", "sigmoid", "cosine")),
            "gamma": Optional(Number(0)),
            "degree": Number(0),
            "coef0": Number(),
            "kernel_params": Choice((None,)),
            "alpha": Number(0),
            "fit_inverse_transform": Flag(),
            "eigen_solver": Choice(("auto", "dense", "arpack", "randomized")),
            "tol": Number(0),
            "max_iter": Optional(Integer(1)),
            "iterated_power": ITERATED_POWER,
            "remove_zero_eig": Flag(),
            "random_state": Seed(),
            "copy_X": Flag(),
            "n_jobs": N_JOBS,
        },
        fitted={
            **TRANSFORMER,
            "X_fit_": ROWS,
            "gamma_": Number(0),
            "eigenvalues_": SingleOrDouble("k", low=0),
            "eigenvectors_": SingleOrDouble("rows", "k"),
            "_centerer": Object(types=("sklearn.preprocessing.KernelCenterer",)),
            "dual_coef_": MayBeMissing(SingleOrDouble("rows", "d")),
            "X_transformed_fit_": MayBeMissing(SingleOrDouble("rows", "k")),
        },
        check=_check_kernel_pca,
        **PROJECTION,
    ),
    Description(
        type="sklearn.preprocessing.KernelCenterer",
        role="transformer",
        parameters={},
        fitted={**TRANSFORMER, "K_fit_rows_": SingleOrDouble("d"), "K_fit_all_": Number()},
        n_in="d",
        n_out="d",
    ),
    Description(
        type="sklearn.kernel_approximation.Nystroem",
        parameters={
            "kernel": Choice(NYSTROEM_KERNELS),
            "gamma": Optional(Number(0)),
            "coef0": Optional(Number()),
            "degree": Optional(Number(1)),
            "kernel_params": Choice((None,)),
            "n_components": Integer(1),
            "random_state": Seed(),
            "n_jobs": N_JOBS,
        },
        fitted={
            **TRANSFORMER,
            "components_": BASIS,
            "component_indices_": Integers("k", low=0),
            "normalization_": SingleOrDouble("k", "k"),
            "_n_features_out": Integer(1, length="k"),
        },
        check=_check_nystroem,
        **PROJECTION,
    ),
    Description(
        type="sklearn.kernel_approximation.RBFSampler",
        parameters={
            "gamma": OneOf((Choice(("scale",)), Number(0))),
            "n_components": Integer(1, length="k"),
            "random_state": Seed(),
        },
        fitted={
            **TRANSFORMER,
            "_gamma": Number(0),
            "random_weights_": SingleOrDouble("d", "k"),
            "random_offset_": SingleOrDouble("k"),
            "_n_features_out": Integer(1, length="k"),
        },
        **PROJECTION,
    ),
    Description(
        type="sklearn.random_projection.GaussianRandomProjection",
        parameters={
            "n_components": OneOf((Choice(("auto",)), Integer(1))),
            "eps": Number(0),
            "compute_inverse_components": Flag(),
            "random_state": Seed(),
        },
        fitted={
            **TRANSFORMER,
            "n_components_": Integer(1, length="k"),
            "components_": COMPONENTS,
            "inverse_components_": MayBeMissing(SingleOrDouble("d", "k")),
            "_n_features_out": OneOf((Choice(("auto",)), Integer(1, length="k"))),
        },
        **PROJECTION,
    ),
)
