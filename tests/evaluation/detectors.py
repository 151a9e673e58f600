"""Quick detectors, and one that fails; worker processes can import them."""

import time

import numpy as np
from sklearn.base import BaseEstimator


class Distance(BaseEstimator):
    """The distance from the mean; training takes as long as wanted."""

    def __init__(self, seconds=0.0, random_state=None):
        self.seconds = seconds
        self.random_state = random_state

    def fit(self, X):
        time.sleep(self.seconds)
        self.mean_ = np.mean(X, axis=0)
        return self

    def decision_function(self, X):
        return np.linalg.norm(X - self.mean_, axis=1)


class Fails(Distance):
    """Cannot be trained."""

    def fit(self, X):
        raise ValueError("these rows\ncannot be used")
