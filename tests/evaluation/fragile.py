"""Detectors that do not always end well, to be found by other processes, too."""

import os
import signal
import time

import numpy as np
from sklearn.base import BaseEstimator


class Distance(BaseEstimator):
    """The distance from the mean; waits a little, so that there is time to be interrupted."""

    def __init__(self, seconds=0.0, random_state=None):
        self.seconds = seconds
        self.random_state = random_state

    def fit(self, X):
        time.sleep(self.seconds)
        self.mean_ = np.mean(X, axis=0)
        return self

    def decision_function(self, X):
        return np.linalg.norm(X - self.mean_, axis=1)


class Refuses(Distance):
    """Cannot be trained."""

    def fit(self, X):
        raise ValueError("these rows\nare not to my liking")


class Dies(Distance):
    """Takes its process with it."""

    def fit(self, X):
        os.kill(os.getpid(), signal.SIGKILL)
