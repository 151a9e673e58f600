"""Detectors of scikit-learn, and the parts that PyOD's detectors have inside."""

import numpy as np
import pandas as pd
from sklearn.cluster import HDBSCAN, KMeans, MiniBatchKMeans
from sklearn.covariance import EllipticEnvelope, MinCovDet
from sklearn.decomposition import FactorAnalysis
from sklearn.ensemble import IsolationForest
from sklearn.linear_model import LinearRegression, SGDOneClassSVM
from sklearn.mixture import BayesianGaussianMixture, GaussianMixture
from sklearn.neighbors import KernelDensity, LocalOutlierFactor, NearestNeighbors
from sklearn.svm import OneClassSVM

from . import X_NEW, X_TRAIN, Example

TABLE, NEW_TABLE = (pd.DataFrame(rows, columns=["a", "b", "c"]) for rows in (X_TRAIN, X_NEW))
ONE_COLUMN, ONE_NEW_COLUMN = X_TRAIN[:, :1], X_NEW[:, :1]
TIES = np.repeat(np.round(X_TRAIN[:20]), 3, axis=0)


def forest(name="", rows=X_TRAIN, new=X_NEW, *, weights=None, **parameters):
    parameters = {"n_estimators": 4, "random_state": 0, **parameters}
    return Example(
        "sklearn.ensemble.IsolationForest",
        lambda: IsolationForest(**parameters).fit(rows, sample_weight=weights),
        new,
        name,
    )


def warm_started():
    forest = IsolationForest(n_estimators=2, warm_start=True, random_state=0).fit(X_TRAIN)
    return forest.set_params(n_estimators=5).fit(X_TRAIN[:9])


def local_outlier_factor(name="", rows=X_TRAIN, new=X_NEW, **parameters):
    return Example(
        "sklearn.neighbors.LocalOutlierFactor",
        lambda: LocalOutlierFactor(**{"n_neighbors": 5, "novelty": True, **parameters}).fit(rows),
        new,
        name,
    )


def neighbours(name="", rows=X_TRAIN, new=X_NEW, **parameters):
    return Example(
        "sklearn.neighbors.NearestNeighbors",
        lambda: NearestNeighbors(**parameters).fit(rows),
        new,
        name,
    )


def support_vectors(name="", rows=X_TRAIN, new=X_NEW, **parameters):
    return Example(
        "sklearn.svm.OneClassSVM", lambda: OneClassSVM(**parameters).fit(rows), new, name
    )


def envelope(name="", rows=X_TRAIN, new=X_NEW, **parameters):
    return Example(
        "sklearn.covariance.EllipticEnvelope",
        lambda: EllipticEnvelope(random_state=0, **parameters).fit(rows),
        new,
        name,
    )


def mixture(name="", rows=X_TRAIN, new=X_NEW, **parameters):
    parameters = {"n_components": 2, "random_state": 0, **parameters}
    return Example(
        "sklearn.mixture.GaussianMixture",
        lambda: GaussianMixture(**parameters).fit(rows),
        new,
        name,
    )


def bayesian_mixture(name="", rows=X_TRAIN, new=X_NEW, **parameters):
    parameters = {"n_components": 2, "random_state": 0, **parameters}
    return Example(
        "sklearn.mixture.BayesianGaussianMixture",
        lambda: BayesianGaussianMixture(**parameters).fit(rows),
        new,
        name,
    )


def kernel_density(name="", rows=X_TRAIN, new=X_NEW, *, weights=None, **parameters):
    return Example(
        "sklearn.neighbors.KernelDensity",
        lambda: KernelDensity(**parameters).fit(rows, sample_weight=weights),
        new,
        name,
    )


def simple(cls, name="", rows=X_TRAIN, new=X_NEW, **parameters):
    module = ".".join(cls.__module__.split(".")[:2])
    return Example(f"{module}.{cls.__name__}", lambda: cls(**parameters).fit(rows), new, name)


EXAMPLES = [
    forest(),
    forest("of some columns", max_features=0.7, contamination=0.1, n_jobs=1),
    forest("with names", TABLE, NEW_TABLE, bootstrap=True, max_samples=0.5),
    forest("of one column", ONE_COLUMN, ONE_NEW_COLUMN, max_features=1, max_samples=10),
    forest("with weights", weights=np.arange(60) % 3.0, max_samples=9, verbose=False),
    forest("of missing values", np.where(X_TRAIN > 1, np.nan, X_TRAIN)),
    forest("of huge values", X_TRAIN * 1e200),
    forest("of leaves only", np.ones((9, 3))),
    Example("sklearn.ensemble.IsolationForest", warm_started, name="warm-started"),
    local_outlier_factor(),
    local_outlier_factor("with names", TABLE, NEW_TABLE, contamination=0.1),
    local_outlier_factor("of one column", ONE_COLUMN, ONE_NEW_COLUMN, n_neighbors=60),
    local_outlier_factor("of ties", TIES, n_neighbors=2, algorithm="ball_tree", leaf_size=1),
    local_outlier_factor("by brute force", algorithm="brute", metric="cosine", n_jobs=2),
    local_outlier_factor("of float32", X_TRAIN.astype(np.float32), X_NEW.astype(np.float32)),
    local_outlier_factor("of integers", TIES.astype(int)),
    neighbours(),
    neighbours("by weighted Minkowski", p=3, metric_params={"w": np.arange(3.0)}),
    neighbours("by brute force", algorithm="brute", metric="cosine"),
    neighbours("by Minkowski, p < 1", p=0.5, algorithm="brute"),
    neighbours("by Minkowski, p infinite", p=np.inf, algorithm="kd_tree"),
    neighbours("by standardised distance", metric="seuclidean", metric_params={"V": np.ones(3)}),
    neighbours("by V", metric="mahalanobis", metric_params={"V": np.cov(X_TRAIN.T)}),
    neighbours(
        "by VI", metric="mahalanobis", algorithm="brute", metric_params={"VI": np.diag([1.0, 2, 3])}
    ),
    neighbours("on a sphere", X_TRAIN[:, :2], X_NEW[:, :2], metric="haversine", radius=None),
    support_vectors(),
    support_vectors("with names", TABLE, NEW_TABLE, kernel="poly", gamma=0.1, coef0=1, degree=2),
    support_vectors("linear", ONE_COLUMN, ONE_NEW_COLUMN, kernel="linear", nu=0.1, max_iter=20),
    support_vectors("sigmoid", kernel="sigmoid", gamma="auto", verbose=0),
    envelope(),
    envelope("with names", TABLE, NEW_TABLE, contamination=0.2, support_fraction=0.8),
    envelope("without precision", store_precision=False, assume_centered=True),
    envelope("of one column", ONE_COLUMN, ONE_NEW_COLUMN),
    mixture(),
    mixture("of float32", X_TRAIN.astype(np.float32), X_NEW.astype(np.float32)),
    mixture("tied", TABLE, NEW_TABLE, covariance_type="tied", init_params="k-means++"),
    mixture("diagonal", covariance_type="diag", means_init=X_TRAIN[:2], warm_start=True),
    mixture(
        "spherical",
        ONE_COLUMN,
        ONE_NEW_COLUMN,
        covariance_type="spherical",
        weights_init=np.array([0.5, 0.5]),
        precisions_init=np.ones(2),
    ),
    bayesian_mixture(),
    bayesian_mixture("tied", covariance_type="tied", mean_prior=np.zeros(3)),
    bayesian_mixture("diagonal", covariance_type="diag", covariance_prior=np.ones(3)),
    bayesian_mixture(
        "spherical",
        covariance_type="spherical",
        weight_concentration_prior_type="dirichlet_distribution",
    ),
    kernel_density(),
    kernel_density("with weights", weights=np.arange(60.0), bandwidth="scott", kernel="tophat"),
    kernel_density("by depth", breadth_first=False, kernel="cosine", rtol=0.1, atol=1e-3),
    kernel_density(
        "by Minkowski",
        TABLE,
        NEW_TABLE,
        metric="minkowski",
        metric_params={"p": 3},
        bandwidth="silverman",
        kernel="linear",
    ),
    kernel_density(
        "by V", metric="mahalanobis", metric_params={"V": np.cov(X_TRAIN.T)}, algorithm="ball_tree"
    ),
    kernel_density("of one column", ONE_COLUMN, ONE_NEW_COLUMN, kernel="exponential"),
    simple(SGDOneClassSVM, random_state=0),
    simple(SGDOneClassSVM, "averaged", TABLE, NEW_TABLE, average=True, random_state=0),
    simple(SGDOneClassSVM, "without intercept", fit_intercept=False, average=10, random_state=0),
    simple(FactorAnalysis, n_components=2),
    simple(FactorAnalysis, "of all columns", rotation="varimax", svd_method="lapack"),
    simple(FactorAnalysis, "of one column", ONE_COLUMN, ONE_NEW_COLUMN),
    simple(MinCovDet, random_state=0),
    simple(KMeans, n_clusters=3, random_state=0),
    simple(KMeans, "from given centroids", n_clusters=2, init=X_TRAIN[:2], algorithm="elkan"),
    simple(MiniBatchKMeans, "with names", TABLE, NEW_TABLE, n_clusters=3, random_state=0),
    simple(MiniBatchKMeans, "of few steps", max_iter=1, max_no_improvement=None, random_state=0),
    simple(HDBSCAN, store_centers="centroid"),
    simple(HDBSCAN, "without clusters", min_cluster_size=50),
    Example(
        "sklearn.linear_model.LinearRegression",
        lambda: LinearRegression().fit(X_TRAIN, X_TRAIN.sum(axis=1)),
    ),
    Example(
        "sklearn.linear_model.LinearRegression",
        lambda: LinearRegression(positive=True, fit_intercept=False).fit(X_TRAIN, X_TRAIN[:, 0]),
        name="positive",
    ),
]
