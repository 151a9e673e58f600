"""Detectors that take part in a benchmark."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sklearn.base import clone

from ..datasets import Dataset
from ..detectors import known_detector, make


@dataclass(frozen=True)
class Contestant:
    """A detector that takes part in a benchmark.

    Attributes
    ----------
    name : str
        Identifies it in results. A name that `ctad.detectors` knows, unless `detector` is given.
    detector : object, optional
        Any detector, not fitted yet. It is cloned; its parameter `random_state`, if it has one, is
        set to the seed.
    polarity : {"auto", "higher", "lower"}, default="auto"
        Which scores are more anomalous, for detectors that are not of PyOD, scikit-learn or ctad.
    settings : callable, optional
        Returns detector options, given the name of a data set. A function of a module, because it
        is sent to other processes.

    Examples
    --------
    >>> from sklearn.svm import OneClassSVM
    >>> from ctad.evaluation import Contestant
    >>> by_name, own = Contestant("IForest"), Contestant("narrow SVM", OneClassSVM(gamma=10.0))
    """

    name: str
    detector: Any = None
    polarity: str = "auto"
    settings: Callable[[str], dict[str, Any]] | None = None

    def build(self, dataset: Dataset, seed: int) -> Any:
        """A new detector for a data set, to be fitted."""
        options = {} if self.settings is None else dict(self.settings(dataset.name))
        if self.is_random:
            options["random_state"] = seed
        if self.detector is None:
            return make(self.name, **options)
        return clone(self.detector).set_params(**options)

    @property
    def is_random(self) -> bool:
        """Whether its scores depend on the seed."""
        if self.detector is not None:
            return "random_state" in self.detector.get_params()
        return "random_state" in known_detector(self.name).parameters

    @property
    def is_slow(self) -> bool:
        """Whether training may take so long that it should have its own process."""
        return self.detector is not None or "torch" in known_detector(self.name).library.needs
