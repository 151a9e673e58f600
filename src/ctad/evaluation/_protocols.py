"""How a data set is split and prepared, and how score and term are added: one for both sides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.preprocessing import StandardScaler

from .._types import Floats
from ..calibration import ScoreScaling
from ..datasets import Dataset
from ..tables import TableEncoder


class Split(NamedTuple):
    """Rows to learn from, all normal, and rows to be judged by.

    Attributes
    ----------
    train, test : ndarray of shape (n, D), (m, D)
    anomalous : ndarray of shape (m,)
        Which of the test rows are anomalies.
    """

    train: Floats
    test: Floats
    anomalous: npt.NDArray[np.bool_]


class Values(NamedTuple):
    """Scores or terms of the rows of a split.

    Attributes
    ----------
    train, test : ndarray of shape (n,), (m,)
    """

    train: Floats
    test: Floats


class Protocol(NamedTuple):
    """The rules of a comparison.

    Attributes
    ----------
    name : str
    description : str
    shuffled : bool
        Whether the normal rows are put into random order before they are halved.
    standardised : bool
        Whether columns are brought to mean 0 and standard deviation 1 of the training rows.
    add : callable
        Of scores, terms and weight: the calibrated scores of the test rows.
    """

    name: str
    description: str
    shuffled: bool
    standardised: bool
    add: Callable[[Values, Values, float], Floats]

    def split(self, dataset: Dataset, seed: int) -> Split:
        """Half of the normal rows to learn from; the others and all anomalies to judge by.

        Parameters
        ----------
        dataset : Dataset
        seed : int
            Of the order of the rows, if they are shuffled.
        """
        normal, anomalies = np.flatnonzero(~dataset.y), np.flatnonzero(dataset.y)
        if self.shuffled:
            normal = np.random.default_rng(seed).permutation(normal)
        half = len(normal) // 2
        tested = np.concatenate([normal[half:], anomalies])
        train, test = self._prepared(dataset.X, normal[:half], tested)
        return Split(train, test, dataset.y[tested])

    def _prepared(
        self, X: Any, learnt: npt.NDArray[np.intp], tested: npt.NDArray[np.intp]
    ) -> Values:
        if not isinstance(X, np.ndarray):  # a table with text, dates or gaps
            encoder = TableEncoder(scaling="standard" if self.standardised else None)
            return Values(encoder.fit_transform(X.take(learnt)), encoder.transform(X.take(tested)))
        if self.standardised:
            scaler = StandardScaler().fit(X[learnt])
            return Values(scaler.transform(X[learnt]), scaler.transform(X[tested]))
        return Values(X[learnt], X[tested])


def add_by_test_batch(scores: Values, terms: Values, weight: float) -> Floats:
    """Both brought to [0, 1] over the test rows, as behind the paper's tables.

    No row can be scored so without the others, and one extreme row changes them all.
    """
    return _to_unit(scores.test) + weight * _to_unit(terms.test)


def add_by_training(
    scores: Values, terms: Values, weight: float, scaling: str = "standard"
) -> Floats:
    """Both by statistics of the training rows, by default mean and standard deviation."""
    if not np.isfinite(scores.train).any():  # a detector that cannot tell rows apart
        scores = Values(np.zeros_like(scores.train), np.zeros_like(scores.test))
    together = ScoreScaling.from_training(scaling, scores.train, terms.train)
    return together.combine(scores.test, terms.test, weight)


def _to_unit(values: Floats) -> Floats:
    finite = values[np.isfinite(values)]
    if len(np.unique(finite)) < 2:
        return np.zeros_like(values)
    low, high = finite.min(), finite.max()
    unit: Floats = (np.clip(values, low, high) - low) / (high - low)
    return unit


PROTOCOLS = {
    protocol.name: protocol
    for protocol in (
        Protocol(
            "published",
            "columns as they are, the first half of the normal rows in file order, score and term "
            "each brought to [0, 1] over the test rows: how the paper's tables were made",
            shuffled=False,
            standardised=False,
            add=add_by_test_batch,
        ),
        Protocol(
            "honest",
            "columns standardised by the training rows, a random half of the normal rows, nothing "
            "known of a test row but the row",
            shuffled=True,
            standardised=True,
            add=add_by_training,
        ),
    )
}
