"""Gaussian models of scikit-learn: robust covariances, mixtures, factor analysis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._description import Description, Values, set_attributes
from .._kinds import (
    Booleans,
    Choice,
    Flag,
    Floats,
    Integer,
    Kind,
    ListOf,
    MayBeMissing,
    Number,
    OneOf,
    Optional,
    Seed,
    require,
)
from ._common import CALL, COLUMNS, POSITIVE, VERBOSE, SingleOrDouble

if TYPE_CHECKING:
    from .._reader import Scope

# Some models invert a matrix in every call. It is tried when a file is loaded.
MAX_INVERTED_COLUMNS = 1000

MAX_COMPONENTS = 10_000  # a batch needs several numbers for each

ROBUST_PARAMETERS: dict[str, Kind] = {
    "store_precision": Flag(),
    "assume_centered": Flag(),
    "support_fraction": Optional(Number(0, 1)),
    "random_state": Seed(),
}
ROBUST: dict[str, Kind] = {
    **COLUMNS,
    "location_": Floats("d"),
    "covariance_": Floats("d", "d"),
    "precision_": Optional(Floats("d", "d")),
    "raw_location_": Floats("d"),
    "raw_covariance_": Floats("d", "d"),
    "raw_support_": Booleans("rows"),
    "support_": Booleans("rows"),
    "dist_": Floats("rows"),
}


def _check_robust(values: Values, scope: Scope) -> None:
    stored = values["precision_"] is not None
    require(values["store_precision"] == stored, "precision_: not as store_precision says")
    require(stored or scope.lengths["d"] <= MAX_INVERTED_COLUMNS, "too many columns to invert")


def _put_robust_together(item: Any, values: dict[str, Any]) -> None:
    set_attributes(item, values)
    item.get_precision()


def _robust_work(values: Values, scope: Scope) -> int:
    return 0 if values["store_precision"] else 10 * scope.lengths["d"] ** 3


def _check_factors(values: Values, scope: Scope) -> None:
    require(scope.lengths["d"] <= MAX_INVERTED_COLUMNS, "too many columns to invert")
    require(scope.lengths["k"] <= scope.lengths["d"], "components_: more than columns")


def _put_factors_together(item: Any, values: dict[str, Any]) -> None:
    set_attributes(item, values)
    item.get_precision()
    item.transform(np.zeros((1, item.n_features_in_)))


COVARIANCE_TYPES = {
    "full": ("k", "d", "d"),
    "tied": ("d", "d"),
    "diag": ("k", "d"),
    "spherical": ("k",),
}
ANY_COVARIANCES = OneOf(
    tuple(kind for shape in COVARIANCE_TYPES.values() for kind in SingleOrDouble(*shape).kinds)
)
LOWER_BOUND = OneOf((Number(infinite=True, nan=True), Floats(1, finite=False, nan=True)))

MIXTURE_PARAMETERS: dict[str, Kind] = {
    "n_components": Integer(1),
    "covariance_type": Choice(tuple(COVARIANCE_TYPES)),
    "tol": Number(0),
    "reg_covar": Number(0),
    "max_iter": Integer(0),
    "n_init": Integer(1),
    "init_params": Choice(("kmeans", "k-means++", "random", "random_from_data")),
    "random_state": Seed(),
    "warm_start": Flag(),
}
START: dict[str, Kind] = {
    "weights_init": Optional(SingleOrDouble("k")),
    "means_init": Optional(SingleOrDouble("k", "d")),
    "precisions_init": Optional(ANY_COVARIANCES),
}
PRINTING: dict[str, Kind] = {"verbose": VERBOSE, "verbose_interval": Integer(1)}
MIXTURE: dict[str, Kind] = {
    **COLUMNS,
    "weights_": SingleOrDouble("k", low=0),
    "means_": SingleOrDouble("k", "d"),
    "covariances_": ANY_COVARIANCES,
    "precisions_": ANY_COVARIANCES,
    "precisions_cholesky_": ANY_COVARIANCES,
    "converged_": Flag(),
    "n_iter_": Integer(),
    "lower_bound_": LOWER_BOUND,
    "lower_bounds_": MayBeMissing(ListOf(LOWER_BOUND)),
}


def _check_mixture(values: Values, scope: Scope) -> None:
    require(scope.lengths["k"] <= MAX_COMPONENTS, f"more than {MAX_COMPONENTS:,} components")
    names = COVARIANCE_TYPES[values["covariance_type"]]
    shape = tuple(scope.lengths[name] for name in names)
    for name in ("covariances_", "precisions_", "precisions_cholesky_"):
        require(values[name].shape == shape, f"{name}: not of this covariance_type")


def _check_bayesian_mixture(values: Values, scope: Scope) -> None:
    _check_mixture(values, scope)
    of_a_process = values["weight_concentration_prior_type"] == "dirichlet_process"
    is_pair = isinstance(values["weight_concentration_"], tuple)
    require(of_a_process == is_pair, "weight_concentration_: not of this prior")


def _mixture_work(values: Values, scope: Scope) -> int:
    # Python multiplies by each covariance in turn, or by the one covariance once per component.
    in_turn = values["covariance_type"] in ("full", "tied")
    return scope.lengths["k"] * (scope.lengths["d"] ** 2 + CALL) if in_turn else 0


DESCRIPTIONS = (
    Description(
        type="sklearn.covariance.EllipticEnvelope",
        role="detector",
        parameters={**ROBUST_PARAMETERS, "contamination": Number(0, 0.5)},
        fitted={**ROBUST, "offset_": Number()},
        put_together=_put_robust_together,
        check=_check_robust,
        n_in="d",
        work=_robust_work,
    ),
    Description(
        type="sklearn.covariance.MinCovDet",
        role="part",
        parameters=ROBUST_PARAMETERS,
        fitted=ROBUST,
        put_together=_put_robust_together,
        check=_check_robust,
        n_in="d",
        work=_robust_work,
    ),
    Description(
        type="sklearn.mixture.GaussianMixture",
        role="detector",
        parameters={**MIXTURE_PARAMETERS, **START, **PRINTING},
        fitted=MIXTURE,
        check=_check_mixture,
        n_in="d",
        work=_mixture_work,
    ),
    Description(
        type="sklearn.mixture.BayesianGaussianMixture",
        role="detector",
        parameters={
            **MIXTURE_PARAMETERS,
            **PRINTING,
            "weight_concentration_prior_type": Choice(
                ("dirichlet_process", "dirichlet_distribution")
            ),
            "weight_concentration_prior": Optional(Number(POSITIVE)),
            "mean_precision_prior": Optional(Number(POSITIVE)),
            "mean_prior": Optional(Floats("d")),
            "degrees_of_freedom_prior": Optional(Number(POSITIVE)),
            "covariance_prior": Optional(
                OneOf((Number(POSITIVE), Floats("d", low=POSITIVE), Floats("d", "d")))
            ),
        },
        fitted={
            **MIXTURE,
            "weight_concentration_prior_": Number(POSITIVE),
            "weight_concentration_": OneOf(
                (
                    ListOf(SingleOrDouble("k", low=POSITIVE), 2, tuple),
                    SingleOrDouble("k", low=POSITIVE),
                )
            ),
            "mean_precision_prior_": Number(POSITIVE),
            "mean_precision_": SingleOrDouble("k", low=POSITIVE),
            "mean_prior_": SingleOrDouble("d"),
            "degrees_of_freedom_prior_": Number(POSITIVE),
            "degrees_of_freedom_": OneOf(
                (Number(POSITIVE), *SingleOrDouble("k", low=POSITIVE).kinds)
            ),
            "covariance_prior_": OneOf(
                (Number(), *SingleOrDouble("d").kinds, *SingleOrDouble("d", "d").kinds)
            ),
        },
        check=_check_bayesian_mixture,
        n_in="d",
        work=_mixture_work,
    ),
    Description(
        type="sklearn.decomposition.FactorAnalysis",
        role="transformer",
        other_role="detector",
        parameters={
            "n_components": Optional(Integer(1)),
            "tol": Number(0),
            "copy": Flag(),
            "max_iter": Integer(1),
            "noise_variance_init": Optional(Floats("d")),
            "svd_method": Choice(("lapack", "randomized")),
            "iterated_power": Integer(),
            "rotation": Choice((None, "varimax", "quartimax")),
            "random_state": Seed(),
        },
        fitted={
            **COLUMNS,
            "mean_": Floats("d"),
            "components_": Floats("k", "d"),
            "noise_variance_": Floats("d", low=1e-12),
            "loglike_": ListOf(Number(infinite=True, nan=True)),
            "n_iter_": Integer(1),
        },
        rebuilt=("_n_features_out",),
        put_together=_put_factors_together,
        check=_check_factors,
        n_in="d",
        n_out="k",
        work=lambda values, scope: scope.lengths["d"] ** 3,
    ),
)
