"""Every calibration that was tried for the preset "recommended", also those that failed.

Each has a reason; none looks at a label or at another test row.
"""

from functools import partial

import numpy as np
from scipy.spatial.distance import cdist
from scipy.stats import spearmanr
from sklearn.base import BaseEstimator, clone
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import QuantileTransformer, StandardScaler

from ctad import CTAD, RelaxedCTAD
from ctad.calibration import MahalanobisDistance
from ctad.evaluation import OwnCalibration
from ctad.evaluation._protocols import add_by_training
from ctad.transport import RowTransport

# Terms that are no option of `CTAD`


class NearestRow(BaseEstimator):
    """The rival: the distance to the nearest training row."""

    def fit(self, rows):
        self.rows_ = rows
        self.search_ = NearestNeighbors().fit(rows)
        return self

    def delta(self, rows):
        itself = rows is self.rows_  # a training row is not its own neighbour
        return self.search_.kneighbors(rows, 2 if itself else 1)[0][:, -1]


class Inside(BaseEstimator):
    """A term in a space that a transformer makes."""

    def __init__(self, transformer, term, random_state=None):
        self.transformer, self.term, self.random_state = transformer, term, random_state

    def fit(self, rows):
        self.transformer_ = clone(self.transformer).fit(rows)
        self.term_ = clone(self.term).set_params(random_state=self.random_state)
        self.term_.fit(self.transformer_.transform(rows))
        self.training_delta_ = self.term_.training_delta_
        return self

    def delta(self, rows):
        return self.term_.delta(self.transformer_.transform(rows))


class MeanOf(BaseEstimator):
    """The mean of several terms."""

    def __init__(self, terms, random_state=None):
        self.terms, self.random_state = terms, random_state

    def fit(self, rows):
        self.terms_ = [
            clone(term).set_params(random_state=self.random_state).fit(rows) for term in self.terms
        ]
        self.training_delta_ = np.mean([term.training_delta_ for term in self.terms_], axis=0)
        return self

    def delta(self, rows):
        return np.mean([term.delta(rows) for term in self.terms_], axis=0)


class UpTo(BaseEstimator):
    """`CTAD` with so many centroids, but at most a share of the distinct rows."""

    def __init__(self, n_centroids, term, share=1 / 3, random_state=None):
        self.n_centroids, self.term = n_centroids, term
        self.share, self.random_state = share, random_state

    def fit(self, rows):
        k = max(1, min(self.n_centroids, int(self.share * len(np.unique(rows, axis=0)))))
        self.term_ = clone(self.term).set_params(n_centroids=k, random_state=self.random_state)
        self.term_.fit(rows)
        if self.term_.n_centroids_ < k:
            raise ValueError("RelaxedCTAD has at most one centroid per three distinct rows")
        self.training_delta_ = self.term_.training_delta_
        return self

    def delta(self, rows):
        return self.term_.delta(rows)


class RandomRows(BaseEstimator):
    """Random training rows in the place of centroids."""

    def __init__(self, n_rows, n_draws, random_state=None):
        self.n_rows, self.n_draws, self.random_state = n_rows, n_draws, random_state

    def fit(self, rows):
        random = np.random.default_rng(self.random_state)
        n = min(self.n_rows, len(rows))
        self.draws_ = [random.choice(rows, n, replace=False) for _ in range(self.n_draws)]
        return self

    def delta(self, rows):
        return np.mean([cdist(rows, draw).min(axis=1) for draw in self.draws_], axis=0)


class CappedPrice(BaseEstimator):
    """Between "uniform" and "free": a centroid may take more than 1/K, at a price of `cap` at most.

    The price of a full centroid is what the references pay more when the row goes there. It is
    capped at so many usual distances: 0 is the free target, infinity the uniform one.
    """

    def __init__(self, cap, n_centroids=50, n_draws=6, random_state=None):
        self.cap, self.n_centroids = cap, n_centroids
        self.n_draws, self.random_state = n_draws, random_state

    def fit(self, rows):
        random = np.random.RandomState(self.random_state)
        k = min(self.n_centroids, max(1, len(np.unique(rows, axis=0)) // 3))
        m = 2 * k - 1  # K divides M + 1: a row is placed in one step
        self.draws_ = []
        for _ in range(self.n_draws):
            centroids = KMeans(k, n_init=1, random_state=random.randint(2**31 - 1)).fit(rows)
            centroids = centroids.cluster_centers_
            costs = cdist(rows[random.choice(len(rows), m)], centroids)
            price = RowTransport(costs)._table.price[0]
            usual = cdist(rows, centroids).min(axis=1).mean()
            self.draws_.append((centroids, np.minimum(price - price.min(), self.cap * usual)))
        return self

    def delta(self, rows):
        each = [(cdist(rows, centroids) + price).min(axis=1) for centroids, price in self.draws_]
        return np.mean(each, axis=0)


class AsSeen(BaseEstimator):
    """Terms of training rows are those of rows that k-means has seen."""

    def __init__(self, term, random_state=None):
        self.term, self.random_state = term, random_state

    def fit(self, rows):
        self.term_ = clone(self.term).set_params(random_state=self.random_state).fit(rows)
        return self

    def delta(self, rows):
        return self.term_.delta(rows)


# Ways to add score and term

# By median and quartiles, as the preset does.
add_robustly = partial(add_by_training, scaling="robust")


def add_tails(scores, terms, weight):
    """Minus the logarithm of the tail probability, the last tenth taken for exponential."""
    return _tail(scores) + weight * _tail(terms)


def _tail(values):
    known = np.sort(values.train[np.isfinite(values.train)])
    if len(known) == 0:
        return np.zeros(len(values.test))
    start = np.quantile(known, 0.9)
    excess = (known[known > start] - start).mean() if (known > start).any() else 1.0
    above = 1.0 - np.searchsorted(known, values.test, side="left") / (len(known) + 1)
    inside = -np.log(np.maximum(above, 0.1))
    return np.where(values.test > start, -np.log(0.1) + (values.test - start) / excess, inside)


def add_ranks(scores, terms, weight):
    """The share of training rows below."""
    ranks = [
        np.searchsorted(np.sort(values.train), values.test) / len(values.train)
        for values in (scores, terms)
    ]
    return ranks[0] + weight * ranks[1]


def add_largest(scores, terms, weight):
    """The larger of the two, on a common scale."""
    zero = terms._replace(train=np.zeros_like(terms.train), test=np.zeros_like(terms.test))
    nothing = scores._replace(train=zero.train, test=zero.test)
    return np.maximum(add_robustly(scores, zero, 0.0), add_robustly(nothing, terms, weight))


def add_by_agreement(scores, terms, weight):
    """More weight, up to threefold, the less score and term agree on training rows."""
    agreement = spearmanr(scores.train, terms.train).statistic
    return add_robustly(scores, terms, weight * (2.0 - np.nan_to_num(agreement)))


def add_squared(scores, terms, weight):
    """The term squared: it says little of usual rows and much of odd ones."""
    squared = terms._replace(train=terms.train**2, test=terms.test**2)
    return add_robustly(scores, squared, weight)


def term_alone(scores, terms, weight):
    """Without the detector."""
    return weight * terms.test


RIVAL = "nearest training row"
CHOSEN = "recommended"
PRESET = RelaxedCTAD()

# Cost more per row than ten passes of K=5, or ever more the larger the training set.
TOO_DEAR = (
    RIVAL,
    "uniform own, 20 draws",
    "free, K=5, 20 draws",
    "K up to 400",
    "K up to 10, 30 and 200",
    "8 draws",
)


def variants() -> dict[str, list[OwnCalibration]]:
    """What was tried, by what it is about: the preset with one thing changed, if not said."""

    def changed(**changes):
        return RelaxedCTAD(**changes)

    def paper(**changes):
        return CTAD(**changes)

    def own(name, term, weight=PRESET.weight, add=add_robustly):
        return OwnCalibration(name, term, weight, add)

    return {
        "the rival": [
            own(RIVAL, NearestRow(), 1.0, add_by_training),
        ],
        "as published, but inductive": [
            own("uniform total, K=5, M=20", paper(), 1.0),
            own("uniform own, K=5, M=20", paper(signal="own"), 1.0),
            own("uniform own, 20 draws", paper(signal="own", n_draws=20), 1.0),
            own("free, K=5, 20 draws", paper(target="free", signal="own", n_draws=20), 1.0),
            own("Mahalanobis distance", MahalanobisDistance(), 1.0),
        ],
        "mass on the centroids, K=50, plain distance": [
            own(
                "uniform total, M=99, 6 draws",
                paper(n_centroids=50, n_references=99, n_draws=6),
                1.0,
            ),
            own(
                "sizes own, M=199, 6 draws",
                paper(n_centroids=50, n_references=199, target="sizes", signal="own", n_draws=6),
                1.0,
            ),
            own("price capped at 1", CappedPrice(1.0), 1.0),
            own("price capped at 0.25", CappedPrice(0.25), 1.0),
            own("free", CappedPrice(0.0), 1.0),
            own("random rows as centroids", RandomRows(50, 6), 1.0),
        ],
        "scaling of columns": [
            own(CHOSEN, PRESET),
            own("as they are", changed(feature_scaling=None)),
            own("standardised", changed(feature_scaling="standard")),
            own("min-max", changed(feature_scaling="minmax")),
            own("robust", changed(feature_scaling="robust")),
            own(
                "all but robust, 3 draws",
                changed(feature_scaling=(None, "standard", "minmax"), n_draws=3),
            ),
            own(
                "ranks",
                Inside(
                    QuantileTransformer(n_quantiles=200, subsample=None),
                    changed(feature_scaling=None),
                ),
            ),
            own(
                "whitened",
                Inside(
                    make_pipeline(StandardScaler(), PCA(0.99, whiten=True)),
                    changed(feature_scaling=None),
                ),
            ),
        ],
        "cost": [
            # Plain distances of two scalings cannot be averaged: to be compared with "as they are".
            own("as they are, plain distance", changed(feature_scaling=None, cost="distance")),
        ],
        "centroids and draws": [
            own("K up to 30", UpTo(30, PRESET)),
            own("K up to 100", UpTo(100, PRESET)),
            own("K up to 400", UpTo(400, PRESET)),
            own("two thirds of the rows", UpTo(200, PRESET, 2 / 3)),
            own("K up to 10, 30 and 200", MeanOf([UpTo(k, PRESET) for k in (10, 30, 200)])),
            own("2 draws", changed(n_draws=2)),
            own("8 draws", changed(n_draws=8)),
        ],
        "columns": [
            own("all columns", changed(columns="all")),
        ],
        "how score and term meet": [
            own("weight 1", PRESET, 1.0),
            own("weight 1.5", PRESET, 1.5),
            own("weight 3", PRESET, 3.0),
            own("the term alone", PRESET, add=term_alone),
            own("training rows as seen, weight 2", AsSeen(PRESET)),
            own("training rows as seen, weight 1", AsSeen(PRESET), 1.0),
            own("weight 1, or up to 3 by agreement", PRESET, 1.0, add_by_agreement),
            own("the term squared, weight 1", PRESET, 1.0, add_squared),
            own("mean and standard deviation", PRESET, add=add_by_training),
            own("tail probabilities", PRESET, add=add_tails),
            own("training ranks", PRESET, add=add_ranks),
            own("the larger of both", PRESET, 1.0, add_largest),
        ],
    }
