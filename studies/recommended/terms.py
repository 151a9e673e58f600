"""Calibration terms that are not options of `RelaxedCTAD` or `CTAD`.

`training_delta_` is the term of the training rows. A class without it computes the term of a
training row as of any other row.
"""

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, clone
from sklearn.cluster import KMeans
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler

from ctad.transport import RowTransport


class NearestRow(BaseEstimator):
    """The distance to the nearest training row."""

    def fit(self, rows):
        self.search_ = NearestNeighbors().fit(rows)
        # Without rows, each training row is excluded from its own neighbours.
        self.training_delta_ = self.search_.kneighbors(n_neighbors=1)[0][:, 0]
        return self

    def delta(self, rows):
        return self.search_.kneighbors(rows, 1)[0][:, 0]


class AfterTransform(BaseEstimator):
    """A term of transformed rows."""

    def __init__(self, transformer, calibrator, random_state=None):
        self.transformer, self.calibrator = transformer, calibrator
        self.random_state = random_state

    def fit(self, rows):
        self.transformer_ = clone(self.transformer).fit(rows)
        self.calibrator_ = clone(self.calibrator).set_params(random_state=self.random_state)
        self.calibrator_.fit(self.transformer_.transform(rows))
        self.training_delta_ = self.calibrator_.training_delta_
        return self

    def delta(self, rows):
        return self.calibrator_.delta(self.transformer_.transform(rows))


class MeanTerm(BaseEstimator):
    """The mean of several terms."""

    def __init__(self, calibrators, random_state=None):
        self.calibrators, self.random_state = calibrators, random_state

    def fit(self, rows):
        self.calibrators_ = [
            clone(one).set_params(random_state=self.random_state).fit(rows)
            for one in self.calibrators
        ]
        self.training_delta_ = np.mean([one.training_delta_ for one in self.calibrators_], axis=0)
        return self

    def delta(self, rows):
        return np.mean([one.delta(rows) for one in self.calibrators_], axis=0)


class MoreCentroids(BaseEstimator):
    """The term of `RelaxedCTAD`, with up to two thirds of the distinct rows as centroids.

    `RelaxedCTAD` stops at a third, so the formula of docs/recommended.md is computed here.
    """

    def __init__(self, n_centroids=200, share=2 / 3, random_state=None):
        self.n_centroids, self.share = n_centroids, share
        self.random_state = random_state

    def fit(self, rows):
        n, random = len(rows), np.random.RandomState(self.random_state)
        k = max(1, min(self.n_centroids, int(self.share * len(np.unique(rows, axis=0)))))
        self.draws_, terms = [], []
        for number in range(4):
            columns = random_columns(rows.shape[1], random) if number else slice(None)
            transformer = MinMaxScaler() if number % 2 else FunctionTransformer()
            inside = transformer.fit_transform(rows[:, columns])
            # RelaxedCTAD draws reference rows here: the same random numbers follow.
            random.choice(n, min(20, n), replace=False)
            used = random.choice(n, 64 * k, replace=False) if n > 64 * k else np.arange(n)
            kmeans = KMeans(k, n_init=1, random_state=random.randint(2**31 - 1)).fit(inside[used])
            centroids, labels = kmeans.cluster_centers_, kmeans.labels_
            distances = cdist(inside, centroids)
            unseen = leave_one_out(distances[used], labels)
            usual = (np.bincount(labels, unseen) + 10 * unseen.mean()) / (np.bincount(labels) + 10)
            term = (distances / usual).min(axis=1)
            term[used] = leave_one_out(distances[used] / usual, labels)
            terms.append(term)
            self.draws_.append((columns, transformer, centroids, usual))
        self.training_delta_ = np.mean(terms, axis=0)
        return self

    def delta(self, rows):
        each = [
            (cdist(transformer.transform(rows[:, columns]), centroids) / usual).min(axis=1)
            for columns, transformer, centroids, usual in self.draws_
        ]
        return np.mean(each, axis=0)


def random_columns(n, random):
    """More than half of the columns."""
    n_used = random.randint(n // 2 + 1, n + 1)
    return np.sort(random.choice(n, n_used, replace=False))


def leave_one_out(costs, labels):
    """The least cost of each row if k-means had not used it, given costs (n, K) and clusters.

    Without the row, the mean of n rows is n / (n - 1) times as far, and a row that is alone has no
    centroid.
    """
    rows, n = np.arange(len(costs)), np.bincount(labels)[labels]
    without = costs.copy()
    without[rows, labels] = np.inf
    shared = n > 1
    own = rows[shared], labels[shared]
    without[own] = costs[own] * n[shared] / (n[shared] - 1)
    return without.min(axis=1)


class RandomRows(BaseEstimator):
    """The distance to the nearest of some random training rows, which replace the centroids."""

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
    """Between the targets "uniform" and "free": a centroid may exceed 1/K at a limited price.

    The price of a centroid is what the references pay more if the row goes there. It is capped at
    `cap` usual distances: 0 is the free target, infinity the uniform one.
    """

    def __init__(self, cap, n_centroids=50, n_draws=6, random_state=None):
        self.cap, self.n_centroids = cap, n_centroids
        self.n_draws, self.random_state = n_draws, random_state

    def fit(self, rows):
        random = np.random.RandomState(self.random_state)
        k = min(self.n_centroids, max(1, len(np.unique(rows, axis=0)) // 3))
        m = 2 * k - 1  # K divides M + 1: a row goes to one centroid as a whole
        self.draws_ = []
        for _ in range(self.n_draws):
            kmeans = KMeans(k, n_init=1, random_state=random.randint(2**31 - 1)).fit(rows)
            centroids = kmeans.cluster_centers_
            price = prices(cdist(rows[random.choice(len(rows), m)], centroids))
            usual = cdist(rows, centroids).min(axis=1).mean()
            self.draws_.append((centroids, np.minimum(price, self.cap * usual)))
        return self

    def delta(self, rows):
        each = [(cdist(rows, centroids) + price).min(axis=1) for centroids, price in self.draws_]
        return np.mean(each, axis=0)


def prices(reference_costs):
    """The price of each centroid above the cheapest, if a row goes to one centroid as a whole."""
    m, k = reference_costs.shape
    # A row that can reach one centroid only.
    one_centroid = np.where(np.eye(k) == 1, 0.0, 1.0 + reference_costs.sum())
    total = (m + 1) * RowTransport(reference_costs).solve(one_centroid).total
    return total - total.min()


class InSample(BaseEstimator):
    """A term that treats training rows as any other rows: k-means has seen them."""

    def __init__(self, calibrator, random_state=None):
        self.calibrator, self.random_state = calibrator, random_state

    def fit(self, rows):
        self.calibrator_ = clone(self.calibrator).set_params(random_state=self.random_state)
        self.calibrator_.fit(rows)
        return self

    def delta(self, rows):
        return self.calibrator_.delta(rows)
