"""Detectors of PyOD that have objects of scikit-learn inside, or build them for every call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._description import Description, Values, set_attributes
from .._kinds import (
    Choice,
    Flag,
    Integer,
    Integers,
    Kind,
    ListOf,
    Number,
    Object,
    OneOf,
    Optional,
    Seed,
    require,
)
from ._common import N_JOBS, POSITIVE, PYOD, PYOD_CONTAMINATION, columns_of
from ._forests import FOREST
from ._gaussian import MIXTURE_PARAMETERS, ROBUST_PARAMETERS, START
from ._neighbours import SEARCH
from ._pyod_kernel_pca import DESCRIPTIONS as KERNEL_PCA
from ._pyod_neighbours import DESCRIPTIONS as NEIGHBOURS
from ._support_vectors import MACHINE

if TYPE_CHECKING:
    from .._reader import Scope

KMEANS = ("sklearn.cluster.KMeans", "sklearn.cluster.MiniBatchKMeans")
REGRESSION = ("sklearn.linear_model.LinearRegression",)


def _around(part: str, detector: str, parameters: dict[str, Kind]) -> Description:
    """A detector that does nothing but call the object inside."""
    return Description(
        type=detector,
        role="detector",
        parameters={"contamination": PYOD_CONTAMINATION, **parameters},
        fitted={**PYOD, "detector_": Object(types=(part,))},
        n_in=columns_of("detector_"),
    )


def _given_cblof(detector: Any) -> Values:
    from sklearn.base import clone

    parameters: dict[str, Any] = detector.get_params(deep=False)
    given = detector.clustering_estimator
    return {**parameters, "clustering_estimator": None if given is None else clone(given)}


def _check_cblof(values: Values, scope: Scope) -> None:
    clustering = values["clustering_estimator_"]
    scope.fix_length("rows", len(clustering.labels_))
    n_clusters = int(clustering.labels_.max()) + 1
    both = np.concatenate([values["large_cluster_labels_"], values["small_cluster_labels_"]])
    require(
        np.array_equal(np.sort(both), np.arange(n_clusters)), "clusters: not either large or small"
    )
    every = n_clusters == len(clustering.cluster_centers_)
    require(every or not values["use_weights"], "clusters: there is no weight of the last one")


def _put_cblof_together(detector: Any, values: dict[str, Any]) -> None:
    set_attributes(detector, values)
    clustering = detector.clustering_estimator_
    if detector.clustering_estimator is not None:
        detector.clustering_estimator = clustering
    detector.cluster_labels_ = clustering.labels_
    detector.cluster_sizes_ = np.bincount(clustering.labels_)
    detector.n_clusters_ = len(detector.cluster_sizes_)
    detector.cluster_centers_ = clustering.cluster_centers_
    detector._clustering_threshold = len(detector.large_cluster_labels_)
    detector._large_cluster_centers = clustering.cluster_centers_[detector.large_cluster_labels_]


def _given_cd(detector: Any) -> Values:
    from sklearn.linear_model import LinearRegression

    parameters: dict[str, Any] = detector.get_params(deep=False)
    default = LinearRegression()  # stands for None
    is_default = (
        type(detector.model) is LinearRegression
        and detector.model.get_params() == default.get_params()
    )
    return {**parameters, "model": None if is_default else detector.model}


def _check_cd(values: Values, scope: Scope) -> None:
    # There is a model per column, which predicts it by the others.
    n_columns = scope.lengths["d"]
    require(
        all(scope.n_in(model) == n_columns - 1 for model in values["_models"]),
        "_models: not for all other columns",
    )


DESCRIPTIONS = (
    _around(
        "sklearn.ensemble.IsolationForest",
        "pyod.models.iforest.IForest",
        {**FOREST, "behaviour": Choice(("old", "new"))},
    ),
    _around(
        "sklearn.neighbors.LocalOutlierFactor",
        "pyod.models.lof.LOF",
        {**SEARCH, "novelty": Flag()},
    ),
    _around("sklearn.svm.OneClassSVM", "pyod.models.ocsvm.OCSVM", MACHINE),
    _around("sklearn.covariance.MinCovDet", "pyod.models.mcd.MCD", ROBUST_PARAMETERS),
    _around(
        "sklearn.mixture.GaussianMixture",
        "pyod.models.gmm.GMM",
        {**MIXTURE_PARAMETERS, **START},
    ),
    Description(
        type="pyod.models.kde.KDE",
        role="detector",
        parameters={
            "contamination": PYOD_CONTAMINATION,
            "bandwidth": OneOf((Choice(("scott", "silverman")), Number(POSITIVE))),
            "algorithm": Choice(("auto", "ball_tree", "kd_tree")),
            **{name: SEARCH[name] for name in ("leaf_size", "metric", "metric_params")},
        },
        fitted={**PYOD, "density": Object(types=("sklearn.neighbors.KernelDensity",))},
        rebuilt=("kde_",),
        take_apart=lambda detector: {"density": detector.kde_},
        put_together=lambda detector, values: set_attributes(
            detector, {"kde_": values.pop("density"), **values}
        ),
        n_in=columns_of("density"),
    ),
    Description(
        type="pyod.models.cblof.CBLOF",
        role="detector",
        parameters={
            "contamination": PYOD_CONTAMINATION,
            "n_clusters": Integer(1),
            "clustering_estimator": Optional(Object(types=KMEANS, fitted=False)),
            "alpha": Number(0, 1),
            "beta": Number(1),
            "use_weights": Flag(),
            "check_estimator": Flag(),
            "random_state": Seed(),
            "n_jobs": N_JOBS,
        },
        fitted={
            **PYOD,
            "clustering_estimator_": Object(types=KMEANS),
            "large_cluster_labels_": Integers("large", low=0),
            "small_cluster_labels_": Integers("small", low=0),
        },
        rebuilt=(
            *("cluster_labels_", "cluster_sizes_", "cluster_centers_", "n_clusters_"),
            *("_clustering_threshold", "_large_cluster_centers"),
        ),
        given=_given_cblof,
        put_together=_put_cblof_together,
        check=_check_cblof,
        n_in=columns_of("clustering_estimator_"),
    ),
    Description(
        type="pyod.models.cd.CD",
        role="detector",
        parameters={
            "contamination": PYOD_CONTAMINATION,
            "model": Optional(Object(types=REGRESSION, fitted=False)),
        },
        fitted={**PYOD, "_models": ListOf(Object(types=REGRESSION), "d")},
        given=_given_cd,
        check=_check_cd,
        n_in="d",
        # A matrix of all other columns is inverted for each column.
        work=lambda values, scope: scope.lengths["d"] ** 3,
    ),
    *KERNEL_PCA,
    *NEIGHBOURS,
)
