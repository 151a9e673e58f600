"""Projections of scikit-learn."""

import numpy as np
from sklearn.decomposition import PCA, FastICA, IncrementalPCA, KernelPCA, TruncatedSVD
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.preprocessing import KernelCenterer
from sklearn.random_projection import GaussianRandomProjection

from . import X_NEW, X_TRAIN, Example
from .scalers import NEW_SINGLE, NEW_TABLE, SINGLE, TABLE

INTEGERS, NEW_INTEGERS = (np.round(3 * rows).astype(int) for rows in (X_TRAIN, X_NEW))
WIDE = np.random.default_rng(0).normal(size=(60, 2000))


def projection(name, projection, rows=X_TRAIN, new=X_NEW):
    module = type(projection).__module__.rpartition("._")[0] or type(projection).__module__
    type_name = f"{module}.{type(projection).__name__}"
    return Example(type_name, lambda: projection.fit(rows), new, name)


def in_two_parts():
    return IncrementalPCA(2).partial_fit(X_TRAIN[:30]).partial_fit(X_TRAIN[30:])


EXAMPLES = [
    projection("", PCA(2)),
    projection("of all components", PCA(whiten=True)),
    projection("by variance", PCA(0.5, svd_solver="full"), TABLE, NEW_TABLE),
    projection("randomized", PCA(1, svd_solver="randomized", iterated_power=2, random_state=0)),
    projection("arpack", PCA(2, svd_solver="arpack", random_state=0)),
    projection("by likelihood", PCA("mle", copy=False)),
    projection("of float32", PCA(2), SINGLE, NEW_SINGLE),
    projection("", IncrementalPCA(2)),
    projection("whitened", IncrementalPCA(whiten=True, batch_size=20), TABLE, NEW_TABLE),
    Example("sklearn.decomposition.IncrementalPCA", in_two_parts, name="in two parts"),
    projection("", TruncatedSVD(random_state=0)),
    projection("arpack", TruncatedSVD(2, algorithm="arpack", random_state=0), TABLE, NEW_TABLE),
    projection("", FastICA(random_state=0, max_iter=20)),
    projection("not whitened", FastICA(whiten=False, max_iter=9, algorithm="deflation")),
    projection(
        "with options",
        FastICA(2, w_init=np.eye(2), whiten_solver="eigh", fun_args={"alpha": 1.5}, max_iter=9),
        TABLE,
        NEW_TABLE,
    ),
    projection("of float32", FastICA(2, fun="cube", max_iter=9), SINGLE, NEW_SINGLE),
    projection("", KernelPCA(2)),
    projection("rbf", KernelPCA(3, kernel="rbf", gamma=0.5, fit_inverse_transform=True), TABLE),
    projection("poly", KernelPCA(2, kernel="poly", degree=2, eigen_solver="arpack"), SINGLE),
    projection("of all components", KernelPCA(kernel="cosine", remove_zero_eig=True)),
    projection("of integers", KernelPCA(2, kernel="sigmoid"), INTEGERS, NEW_INTEGERS),
    Example(
        "sklearn.preprocessing.KernelCenterer",
        lambda: KernelCenterer().fit(X_TRAIN @ X_TRAIN.T),
        X_NEW @ X_TRAIN.T,
    ),
    projection("", Nystroem(n_components=9, random_state=0)),
    projection("poly", Nystroem("poly", degree=2, coef0=1, gamma=0.1, n_components=5), TABLE),
    projection("chi2", Nystroem("chi2", n_components=5), abs(X_TRAIN), abs(X_NEW)),
    projection("of integers", Nystroem("laplacian", n_components=5), INTEGERS, NEW_INTEGERS),
    projection("of float32", Nystroem(n_components=100, n_jobs=1), SINGLE, NEW_SINGLE),
    projection("", RBFSampler(n_components=7, random_state=0)),
    projection("scaled", RBFSampler(gamma="scale", n_components=7), SINGLE, NEW_SINGLE),
    projection("", GaussianRandomProjection(2, random_state=0)),
    projection("of its own size", GaussianRandomProjection(eps=0.9), WIDE[:, :200], WIDE[:3, :200]),
    projection(
        "and back",
        GaussianRandomProjection(2, compute_inverse_components=True),
        TABLE,
        NEW_TABLE,
    ),
]
