"""Ideas that train the detector several times.

Each is a detector whose scores are calibrated already. None uses a label or another test row.
"""

from collections.abc import Iterable, Iterator

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.cluster import KMeans
from sklearn.model_selection import KFold, train_test_split

from ctad import RelaxedCTAD
from ctad.detectors import make
from ctad.evaluation import Contestant, Values, measure

from .additions import add_robustly


class Retrained(BaseEstimator):
    """A detector of PyOD with RelaxedCTAD. Each subclass changes one thing."""

    def __init__(self, detector, random_state=None):
        self.detector, self.random_state = detector, random_state

    def fit(self, rows):
        self.detector_ = self.train_detector(rows)
        self.calibrator_ = RelaxedCTAD(random_state=self.random_state).fit(rows)
        self.known_scores_ = self.known_scores(rows)
        self.weight_ = self.find_weight(rows)
        return self

    def decision_function(self, rows):
        return add_robustly(*self.scores_and_terms(rows), self.weight_)

    def scores_and_terms(self, rows) -> tuple[Values, Values]:
        """Scores and terms of these rows, with those of the training rows."""
        return (
            Values(self.known_scores_, _scores(self.detector_, rows)),
            Values(self.calibrator_.training_delta_, self.calibrator_.delta(rows)),
        )

    def train_detector(self, rows):
        """A trained copy of the detector."""
        copy = clone(self.detector)
        if "random_state" in copy.get_params():
            copy.set_params(random_state=self.random_state)
        return copy.fit(rows)

    def known_scores(self, rows):
        """The scores whose median and quartiles scale all others."""
        return _infinite_if_nan(self.detector_.decision_scores_)

    def find_weight(self, rows) -> float:
        """The weight of the term."""
        return self.calibrator_.weight


class CrossFitted(Retrained):
    """Median and quartiles of the score come from rows that the detector has not seen."""

    def known_scores(self, rows):
        seen = super().known_scores(rows)
        if not np.isfinite(seen).any():  # no score is used then, so folds must not give any
            return seen
        known = np.empty(len(rows))
        folds = KFold(min(3, len(rows)), shuffle=True, random_state=self.random_state)
        for trained, unseen in folds.split(rows):
            known[unseen] = _scores(self.train_detector(rows[trained]), rows[unseen])
        return known


class WeightBySyntheticAnomalies(Retrained):
    """The weight that best finds synthetic anomalies among held-out rows, a third of all rows."""

    weights = (2.0, 1.0, 4.0, 0.5, 8.0, 0.25)  # the first of equally good ones is taken

    def find_weight(self, rows) -> float:
        seed = self.random_state
        train, held_out = train_test_split(rows, test_size=1 / 3, random_state=seed)
        trial = Retrained(self.detector, seed).fit(train)
        normal = trial.scores_and_terms(held_out)
        kinds = [
            trial.scores_and_terms(anomalies)
            for anomalies in synthetic_anomalies(train, held_out, np.random.default_rng(seed))
        ]

        def quality(weight):
            of_normal = add_robustly(*normal, weight)
            return np.mean(
                [_average_precision(of_normal, add_robustly(*kind, weight)) for kind in kinds]
            )

        return max(self.weights, key=quality)


def synthetic_anomalies(train, normal, random) -> Iterator[np.ndarray]:
    """Normal rows changed into local, cluster, global and dependency anomalies.

    The four kinds of S. Han, X. Hu, H. Huang, M. Jiang, Y. Zhao: ADBench, NeurIPS 2022.
    """
    k = min(5, len(np.unique(train, axis=0)))
    clusters = KMeans(k, n_init=1, random_state=random.integers(2**31)).fit(train)
    centroid = clusters.cluster_centers_[clusters.predict(normal)]
    yield centroid + np.sqrt(5) * (normal - centroid)  # five times the variance
    yield normal + 4 * (centroid - train.mean(axis=0))  # the centroid five times as far out
    low, high = train.min(axis=0), train.max(axis=0)
    margin = 0.1 * (high - low)
    yield random.uniform(low - margin, high + margin, normal.shape)
    yield random.permuted(normal, axis=0)  # independent columns


def _scores(detector, rows):
    return _infinite_if_nan(detector.decision_function(rows))


def _infinite_if_nan(values):
    """PyOD's PCA divides by the variance of constant columns."""
    return np.where(np.isnan(values), np.inf, values)


def _average_precision(normal, anomalies) -> float:
    is_anomaly = np.arange(len(normal) + len(anomalies)) >= len(normal)
    return measure(np.concatenate([normal, anomalies]), is_anomaly).auc_pr


IDEAS = {
    "cross-fitted score statistics": CrossFitted,
    "weight by synthetic anomalies": WeightBySyntheticAnomalies,
}


def name_in_results(detector: str, idea: str) -> str:
    """The name in results of a detector with an idea."""
    return f"{detector}, {idea}"


def contestants(detectors: Iterable[str]) -> list[Contestant]:
    """Every detector with every idea."""
    return [
        Contestant(name_in_results(detector, idea), kind(make(detector)), "higher")
        for detector in detectors
        for idea, kind in IDEAS.items()
    ]
