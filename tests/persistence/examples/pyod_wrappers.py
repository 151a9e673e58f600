"""Detectors of PyOD that have objects of scikit-learn inside."""

from importlib import import_module

import numpy as np
from sklearn.cluster import MiniBatchKMeans
from sklearn.linear_model import LinearRegression

from . import X_NEW, X_TRAIN, Example

ONE_COLUMN, ONE_NEW_COLUMN = X_TRAIN[:, :1], X_NEW[:, :1]
COMPILED = ("abod", "cblof", "loci", "sod")  # when they are used, which takes seconds
TIES = np.repeat(np.round(X_TRAIN[:20]), 3, axis=0)


def pyod(path, name="", rows=X_TRAIN, new=X_NEW, **parameters):
    path = f"pyod.models.{path}"

    def make():
        module, _, cls = path.rpartition(".")
        return getattr(import_module(module), cls)(**parameters).fit(rows)

    return Example(path, make, new, name, slow=path.split(".")[2] in COMPILED)


def kernel_pca():
    from pyod.models.kpca import PyODKernelPCA

    return PyODKernelPCA(random_state=0).fit(X_TRAIN)


EXAMPLES = [
    pyod("iforest.IForest", n_estimators=4, random_state=0),
    pyod("iforest.IForest", "of some columns", n_estimators=3, max_features=2, n_jobs=2),
    pyod("knn.KNN"),
    pyod("knn.KNN", "by mean", ONE_COLUMN, ONE_NEW_COLUMN, method="mean", n_neighbors=7),
    pyod("knn.KNN", "by median of ties", TIES, method="median", algorithm="kd_tree"),
    pyod("knn.KNN", "by V", metric="mahalanobis", metric_params={"V": np.cov(X_TRAIN.T)}),
    pyod("knn.KNN", "by brute force", algorithm="brute", metric="cosine", contamination=0.2),
    pyod("lof.LOF"),
    pyod("lof.LOF", "of ties", TIES, n_neighbors=3),
    pyod("lof.LOF", "of one column", ONE_COLUMN, ONE_NEW_COLUMN, n_neighbors=60),
    pyod("ocsvm.OCSVM"),
    pyod("ocsvm.OCSVM", "polynomial", kernel="poly", degree=2, gamma="scale"),
    pyod("mcd.MCD", random_state=0),
    pyod("mcd.MCD", "of one column", ONE_COLUMN, ONE_NEW_COLUMN, random_state=0),
    pyod("gmm.GMM", random_state=0),
    pyod("gmm.GMM", "tied", n_components=3, covariance_type="tied", random_state=0),
    pyod("kde.KDE"),
    pyod("kde.KDE", "of ties", TIES, bandwidth=0.1, algorithm="kd_tree"),
    pyod("cblof.CBLOF", n_clusters=4, alpha=0.6, random_state=0),
    pyod(
        "cblof.CBLOF",
        "of mini-batches",
        n_clusters=4,
        alpha=0.6,
        use_weights=True,
        clustering_estimator=MiniBatchKMeans(n_clusters=4, random_state=0),
    ),
    pyod("hdbscan.HDBSCAN"),
    pyod("hdbscan.HDBSCAN", "by Manhattan", metric="manhattan", min_cluster_size=20, n_jobs=None),
    pyod("kpca.KPCA"),
    pyod("kpca.KPCA", "of a sample", sampling=True, n_components=5, kernel="poly", random_state=0),
    pyod("kpca.KPCA", "of few components", n_selected_components=2, kernel="cosine"),
    Example("pyod.models.kpca.PyODKernelPCA", kernel_pca),
    pyod("abod.ABOD"),
    pyod("abod.ABOD", "of ties", TIES, n_neighbors=4, metric="manhattan"),
    pyod("abod.ABOD", "of all pairs", X_TRAIN[:12], X_NEW[:3], method="default"),
    pyod("cof.COF", n_neighbors=5),
    pyod("cof.COF", "with little memory", n_neighbors=2, method="memory"),
    pyod("sod.SOD", n_neighbors=6, ref_set=4),
    pyod(
        "sod.SOD",
        "by V",
        n_neighbors=6,
        ref_set=4,
        metric="seuclidean",
        metric_params={"V": np.ones(3)},
    ),
    pyod("loci.LOCI"),
    pyod("loci.LOCI", "of few rows", X_TRAIN[:10]),
    pyod("cd.CD"),
    pyod("cd.CD", "positive", model=LinearRegression(positive=True)),
]
