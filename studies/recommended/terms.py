"""Calibration terms that are not options of `RelaxedCTAD` or `CTAD`.

`training_delta_` is the term of the training rows. `WithinBatch` and `RowsThemselves` are for
rivals that need all new rows at once.
"""

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, clone
from sklearn.cluster import KMeans
from sklearn.neighbors import LocalOutlierFactor, NearestNeighbors
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler

from ctad import RelaxedCTAD


class NearestRow(BaseEstimator):
    """The distance to the nearest training row."""

    def fit(self, rows):
        self.search_ = NearestNeighbors().fit(rows)
        # Without rows, each training row is excluded from its own neighbours.
        self.training_delta_ = self.search_.kneighbors(n_neighbors=1)[0][:, 0]
        return self

    def delta(self, rows):
        return self.search_.kneighbors(rows, 1)[0][:, 0]


class WithinBatch(BaseEstimator):
    """How anomalous each row is among the rows it comes with, by a detector trained on them.

    The evidence of EPHAD (Patra and Ben Taieb, NeurIPS 2025), which is gathered from the new rows
    because the training rows may be contaminated.
    """

    def __init__(self, detector):
        self.detector = detector

    def fit(self, rows):
        self.training_delta_ = self.delta(rows)
        return self

    def delta(self, rows):
        detector = clone(self.detector).fit(rows)
        if isinstance(detector, LocalOutlierFactor):
            return -detector.negative_outlier_factor_
        return -detector.score_samples(rows)


class RowsThemselves(BaseEstimator):
    """The rows in place of a term, for `uadb.boost`, which needs them together with the scores."""

    def fit(self, rows):
        self.training_delta_ = rows
        return self

    def delta(self, rows):
        return rows


class OfBothViews(BaseEstimator):
    """Another way to make one term of the two views of `RelaxedCTAD`: "sum", or "wide" alone."""

    def __init__(self, how, random_state=None):
        self.how, self.random_state = how, random_state

    def fit(self, rows):
        both = RelaxedCTAD(random_state=self.random_state).fit(rows)
        self.near_ = RelaxedCTAD(training="normal", random_state=self.random_state).fit(rows)
        self.wide_draws_ = both.wide_draws_
        # Rows that k-means used are like new rows here: a wide view hardly depends on one of them.
        self.training_delta_ = self._joined(self.near_.training_delta_, rows)
        return self

    def delta(self, rows):
        return self._joined(self.near_.delta(rows), rows)

    def _joined(self, near, rows):
        wide = np.mean([draw.solve(rows).own for draw in self.wide_draws_], axis=0)
        return wide if self.how == "wide" else near + wide


class FirstEdition(BaseEstimator):
    """The default before this one: only near views, half of them in the units of the columns.

    Four draws with up to 200 centroids, alternating between unscaled columns and columns scaled to
    [0, 1]; the first uses all columns, the others a random majority.
    """

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, rows):
        n, random = len(rows), np.random.RandomState(self.random_state)
        k = max(1, min(200, len(np.unique(rows, axis=0)) // 3))
        self.draws_, terms = [], []
        for number in range(4):
            columns = random_columns(rows.shape[1], random) if number else slice(None)
            transformer = MinMaxScaler() if number % 2 else FunctionTransformer()
            inside = transformer.fit_transform(rows[:, columns])
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
