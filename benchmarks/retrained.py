"""Ideas for the preset "recommended" that train the detector several times.

Each is a whole detector: its scores are calibrated already. None looks at a label or at another
test row.
"""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.cluster import KMeans
from sklearn.metrics import average_precision_score
from sklearn.model_selection import KFold, train_test_split
from variants import PRESET, add_robustly

from ctad.detectors import make
from ctad.evaluation import Contestant
from ctad.evaluation._protocols import Values
from ctad.evaluation._scores import higher_is_worse
from ctad.wrapper import scoring_method


class Scorer(NamedTuple):
    """A detector that was trained."""

    detector: Any

    def __call__(self, rows):
        """Higher = more anomalous."""
        reading = scoring_method(self.detector, "auto")
        return higher_is_worse(getattr(self.detector, reading.method)(rows), reading.sign)

    def of_training(self):
        """What it says of the rows it has seen."""
        return higher_is_worse(self.detector.decision_scores_, 1.0)


def trained(detector, rows, seed) -> Scorer:
    """A copy of the detector, trained."""
    copy = clone(detector)
    if "random_state" in copy.get_params():
        copy.set_params(random_state=seed)
    return Scorer(copy.fit(rows))


class Retrained(BaseEstimator):
    """A detector of PyOD with the preset; what follows differs in one thing from it."""

    def __init__(self, detector, random_state=None):
        self.detector, self.random_state = detector, random_state

    def fit(self, rows):
        self.score_ = trained(self.detector, rows, self.random_state)
        self.term_ = clone(PRESET).set_params(random_state=self.random_state).fit(rows)
        self.known_ = self._known_scores(rows)
        self.weight_ = self._weight(rows)
        return self

    def decision_function(self, rows):
        return add_robustly(*self.both(rows), self.weight_)

    def both(self, rows):
        """Scores and terms, with those of the training rows."""
        scores = Values(self.known_, self.score_(rows))
        return scores, Values(self.term_.training_delta_, self.term_.delta(rows))

    def _known_scores(self, rows):
        """The scores of training rows, which say what is usual."""
        return self.score_.of_training()

    def _weight(self, rows):
        return PRESET.weight


class CrossFitted(Retrained):
    """What is usual is said by scores of rows that the detector has not seen: three folds."""

    def _known_scores(self, rows):
        seen = super()._known_scores(rows)
        if not np.isfinite(seen).any():  # blind, which the folds need not be
            return seen
        known = np.empty(len(rows))
        folds = KFold(min(3, len(rows)), shuffle=True, random_state=self.random_state)
        for learnt, unseen in folds.split(rows):
            known[unseen] = trained(self.detector, rows[learnt], self.random_state)(rows[unseen])
        return known


class WeightBySynthetic(Retrained):
    """The weight that best finds made-up anomalies among rows held out, a third of them."""

    weights = (2.0, 1.0, 4.0, 0.5, 8.0, 0.25)  # of equals the first, nearest to the preset's

    def _weight(self, rows):
        seed = self.random_state
        learnt, unseen = train_test_split(rows, test_size=1 / 3, random_state=seed)
        trial = Retrained(self.detector, seed).fit(learnt)
        normal = trial.both(unseen)
        kinds = [trial.both(odd) for odd in made_up(learnt, unseen, np.random.default_rng(seed))]

        def quality(weight):
            usual = add_robustly(*normal, weight)
            return np.mean([_precision(usual, add_robustly(*odd, weight)) for odd in kinds])

        return max(self.weights, key=quality)


def made_up(learnt, unseen, random) -> Iterator[np.ndarray]:
    """Local, cluster, global and dependency anomalies: rows that were normal, changed.

    The four kinds of S. Han, X. Hu, H. Huang, M. Jiang, Y. Zhao: ADBench, NeurIPS 2022.
    """
    k = min(5, len(np.unique(learnt, axis=0)))
    clusters = KMeans(k, n_init=1, random_state=random.integers(2**31)).fit(learnt)
    centre = clusters.cluster_centers_[clusters.predict(unseen)]
    yield centre + np.sqrt(5) * (unseen - centre)  # five times the variance around the centroid
    yield unseen + 4 * (centre - learnt.mean(axis=0))  # the centroid five times as far out
    low, high = learnt.min(axis=0), learnt.max(axis=0)
    margin = 0.1 * (high - low)
    yield random.uniform(low - margin, high + margin, unseen.shape)
    yield random.permuted(unseen, axis=0)  # columns that know nothing of each other


def _precision(normal, odd) -> float:
    labels = np.repeat([0, 1], [len(normal), len(odd)])
    scores = np.nan_to_num(np.concatenate([normal, odd]), posinf=np.finfo(float).max)
    return float(average_precision_score(labels, scores))


IDEAS = {
    "scores of unseen rows say what is usual": CrossFitted,
    "weight by made-up anomalies": WeightBySynthetic,
}


def named(detector: str, idea: str) -> str:
    """What the results call a detector with an idea."""
    return f"{detector}, {idea}"


def contestants(detectors: Iterable[str]) -> list[Contestant]:
    """Every detector with every idea."""
    return [
        Contestant(named(detector, idea), kind(make(detector)), "higher")
        for detector in detectors
        for idea, kind in IDEAS.items()
    ]
