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
from ..errors import InputError
from ..tables import TableEncoder


@dataclass(frozen=True, eq=False)
class Split:
    """Training rows, which are normal unless the protocol says otherwise, and labelled test rows.

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
    scales = ScoreScaling.from_training(scaling, scores.train, terms.train)
    of_scores, of_terms = scales.contributions(scores.test, terms.test, weight)
    return of_scores + of_terms


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
    training_anomalies : float, default=0.0
        Share of the training rows that are random anomalies in place of normal rows. They are not
        in the test. The normal rows in the test are the same for every share.
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
    training_anomalies: float = 0.0
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
        random = np.random.default_rng(seed)
        if self.shuffled:
            normal = random.permutation(normal)
        half = len(normal) // 2
        trained = normal[:half]
        n_replaced = self.n_training_anomalies(dataset)
        if n_replaced:
            if n_replaced >= len(anomalies):
                raise InputError(
                    f"{dataset.name} has {len(anomalies)} anomalies, too few: training needs "
                    f"{n_replaced} and the test needs others"
                )
            anomalies = random.permutation(anomalies)
            trained = np.concatenate([trained[n_replaced:], anomalies[:n_replaced]])
        tested = np.concatenate([normal[half:], anomalies[n_replaced:]])
        train, test = self._prepared(dataset.X, trained, tested)
        return Split(train, test, dataset.y[tested])

    def n_training_anomalies(self, dataset: Dataset) -> int:
        """The number of training rows that are anomalies.

        Parameters
        ----------
        dataset : Dataset
        """
        return round(self.training_anomalies * (np.count_nonzero(~dataset.y) // 2))

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
