"""How a data set is split and prepared, the same for all detectors and calibrations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.preprocessing import StandardScaler

from .._types import Booleans, Floats
from ..calibration import ScoreScaling
from ..datasets import Dataset
from ..tables import TableEncoder


@dataclass(frozen=True, eq=False)
class Split:
    """Training rows, all normal, and labelled test rows.

    Attributes
    ----------
    train, test : ndarray of shape (n, D), (m, D)
    anomalous : ndarray of shape (m,)
        Which of the test rows are anomalies.
    """

    train: Floats
    test: Floats
    anomalous: Booleans


@dataclass(frozen=True, eq=False)
class Values:
    """Scores or terms of the rows of a split.

    Attributes
    ----------
    train, test : ndarray of shape (n,), (m,)
    """

    train: Floats
    test: Floats


Addition = Callable[[Values, Values, float], Floats]


def add_by_training(
    scores: Values, terms: Values, weight: float, scaling: str = "standard"
) -> Floats:
    """Add scores and terms, both scaled by statistics of the training rows.

    Parameters
    ----------
    scores, terms : Values
    weight : float
        Factor of the terms.
    scaling : {"none", "unit", "standard", "robust"}, default="standard"
        As `score_scaling` of `ctad.CTAD`.

    Returns
    -------
    ndarray of shape (m,)
        The calibrated scores of the test rows.

    Examples
    --------
    >>> import numpy as np
    >>> from ctad.evaluation import Values, add_by_training
    >>> scores = Values(train=np.array([1.0, 3.0]), test=np.array([4.0]))
    >>> terms = Values(train=np.array([10.0, 30.0]), test=np.array([20.0]))
    >>> add_by_training(scores, terms, weight=2.0)
    array([2.])
    """
    scores = usable_scores(scores)
    scales = ScoreScaling.from_training(scaling, scores.train, terms.train)
    of_scores, of_terms = scales.contributions(scores.test, terms.test, weight)
    return of_scores + of_terms


def usable_scores(scores: Values) -> Values:
    """Zeros if a detector has no finite score for any training row; else the scores."""
    if np.isfinite(scores.train).any():
        return scores
    return Values(np.zeros_like(scores.train), np.zeros_like(scores.test))


@dataclass(frozen=True)
class Protocol:
    """The rules of a comparison. Half of the normal rows are for training.

    Attributes
    ----------
    name : str
        Identifies it in results.
    description : str
    shuffled : bool
        Whether the training rows are a random half of the normal rows; else the first half.
    standardised : bool
        Whether features are scaled to mean 0 and standard deviation 1 of the training rows.
    add : callable
        For calibrations with ``add="protocol"``: returns the calibrated scores of the test rows,
        given scores, terms and weight. A function of a module, because it is sent to other
        processes.

    Examples
    --------
    >>> from ctad.datasets import Dataset
    >>> from ctad.evaluation import Protocol
    >>> in_order = Protocol("in order", "first half", shuffled=False, standardised=False)
    >>> in_order.split(Dataset("mine", [[1], [2], [3], [9]], [0, 0, 0, 1]), seed=0)
    Split(train=array([[1.]]), test=array([[2.],
           [3.],
           [9.]]), anomalous=array([False, False,  True]))
    """

    name: str
    description: str
    shuffled: bool
    standardised: bool
    add: Addition = add_by_training

    def split(self, dataset: Dataset, seed: int) -> Split:
        """Split a data set: half of the normal rows for training, all other rows for testing.

        Parameters
        ----------
        dataset : Dataset
        seed : int
            Seed of the order of the rows, if they are shuffled.

        Returns
        -------
        Split
        """
        normal, anomalies = np.flatnonzero(~dataset.y), np.flatnonzero(dataset.y)
        if self.shuffled:
            normal = np.random.default_rng(seed).permutation(normal)
        half = len(normal) // 2
        tested = np.concatenate([normal[half:], anomalies])
        train, test = self._prepared(dataset.X, normal[:half], tested)
        return Split(train, test, dataset.y[tested])

    def _prepared(
        self, X: Any, trained: npt.NDArray[np.intp], tested: npt.NDArray[np.intp]
    ) -> tuple[Floats, Floats]:
        if not isinstance(X, np.ndarray):  # a table with text, dates or missing values
            encoder = TableEncoder(scaling="standard" if self.standardised else None)
            return encoder.fit_transform(X.take(trained)), encoder.transform(X.take(tested))
        if self.standardised:
            scaler = StandardScaler().fit(X[trained])
            return scaler.transform(X[trained]), scaler.transform(X[tested])
        return X[trained], X[tested]


RANDOM_SPLIT = Protocol(
    "random split",
    "a random half of the normal rows for training, features standardised by the training rows; "
    "score and term are added by statistics of the training rows only",
    shuffled=True,
    standardised=True,
)
