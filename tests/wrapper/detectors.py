"""Detectors that the tests wrap."""

import numpy as np
from pyod.models.ecod import ECOD
from pyod.models.iforest import IForest
from pyod.models.knn import KNN
from pyod.models.ocsvm import OCSVM
from pyod.models.pca import PCA
from sklearn.covariance import EllipticEnvelope
from sklearn.ensemble import IsolationForest
from sklearn.neighbors import LocalOutlierFactor
from sklearn.svm import OneClassSVM

PYOD = {
    "OCSVM": OCSVM,
    "KNN": KNN,
    "PCA": PCA,
    "IForest": lambda: IForest(n_estimators=20, random_state=0),
    "ECOD": ECOD,
}
SKLEARN = {
    "IsolationForest": lambda: IsolationForest(n_estimators=20, random_state=0),
    "OneClassSVM": OneClassSVM,
    "LocalOutlierFactor": lambda: LocalOutlierFactor(novelty=True),
    "EllipticEnvelope": lambda: EllipticEnvelope(random_state=0),
}
ALL = PYOD | SKLEARN
ALL_BUT_ECOD = {name: make for name, make in ALL.items() if name != "ECOD"}


class DistanceToMean:
    """A detector of no known library."""

    def fit(self, X):
        self.mean_ = np.mean(X, axis=0)
        return self

    def decision_function(self, X):
        return np.linalg.norm(np.asarray(X) - self.mean_, axis=1)


def distance_to_origin(X):
    return np.linalg.norm(np.asarray(X), axis=1)
