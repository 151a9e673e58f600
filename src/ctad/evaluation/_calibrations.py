"""What may be done to a detector's scores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from sklearn.base import clone

from .._types import Floats
from ..calibration import CALIBRATIONS, CTAD, CentroidDistance, MahalanobisDistance
from ..errors import InputError
from ._protocols import Protocol, Values, add_by_training

PRESET_OF = {"algorithm 1": "paper", "recommended": "recommended"}


@dataclass(frozen=True)
class Calibration:
    """One way to calibrate.

    Parameters
    ----------
    method : str, default="ctad"
        "none"; "ctad": add the transport term; "transport only": the term without the score;
        "centroid distance"; "mahalanobis"; "algorithm 1": the paper's equations to the letter, a
        plain sum; or "recommended". The last two are presets of `CTAD` and bring their own way to
        add.
    target, signal, n_centroids, n_references, weight
        As in `CTAD`; of the methods that have them.

    Examples
    --------
    >>> from ctad.evaluation import Calibration
    >>> Calibration(n_centroids=10).name
    'ctad uniform own K=10 M=20 weight=1'
    >>> Calibration("mahalanobis").name
    'mahalanobis weight=1'
    """

    method: str = "ctad"
    target: str = "uniform"
    signal: str = "own"
    n_centroids: int = 5
    n_references: int = 20
    weight: float = 1.0

    @property
    def name(self) -> str:
        """What tells it from others in the results."""
        transport = f"{self.target} {self.signal} K={self.n_centroids} M={self.n_references}"
        settings = {
            "ctad": f" {transport} weight={self.weight:g}",
            "transport only": f" {transport}",
            "centroid distance": f" K={self.n_centroids} weight={self.weight:g}",
            "mahalanobis": f" weight={self.weight:g}",
        }
        return self.method + settings.get(self.method, "")

    @property
    def is_preset(self) -> bool:
        """Whether it is a preset of `CTAD`, with its own settings and its own way to add."""
        return self.method in PRESET_OF

    @property
    def same_term(self) -> Calibration:
        """The calibration that stands for all that have this one's term."""
        method = "ctad" if self.method == "transport only" else self.method
        return replace(self, method=method, weight=1.0)

    def calibrator(self, seed: int) -> Any:
        """What computes the term."""
        match self.method:
            case "ctad" | "transport only":
                return CTAD(
                    n_centroids=self.n_centroids,
                    n_references=self.n_references,
                    target=self.target,
                    signal=self.signal,
                    random_state=seed,
                )
            case "centroid distance":
                return CentroidDistance(self.n_centroids, random_state=seed)
            case "mahalanobis":
                return MahalanobisDistance()
            case _ if self.is_preset:
                return CALIBRATIONS[PRESET_OF[self.method]](random_state=seed)
        raise InputError(f"{self.method!r} has no term")

    def applied(self, scores: Values, terms: Values, protocol: Protocol) -> Floats:
        """The calibrated scores of the test rows."""
        if self.method == "transport only":
            return terms.test
        if self.is_preset:
            preset = CALIBRATIONS[PRESET_OF[self.method]]()
            return add_by_training(scores, terms, preset.weight, preset.score_scaling)
        return protocol.add(scores, terms, self.weight)


@dataclass(frozen=True)
class OwnCalibration:
    """A calibrator of one's own.

    Parameters
    ----------
    name : str
        What tells it from others in the results.
    term : object
        Learns from rows by `fit(rows)`, gives the terms of others by `delta(rows)`. If it has a
        parameter `random_state`, that is set to the seed.
    weight : float, default=1.0
    add : callable, optional
        Of scores, terms and weight: the calibrated scores of the test rows. By default both are
        standardised by their training rows. Functions that a module has, not lambdas: it is sent
        to other processes.

    Examples
    --------
    >>> from ctad import RelaxedCTAD
    >>> from ctad.evaluation import OwnCalibration
    >>> twice = OwnCalibration("twice the term", RelaxedCTAD(), weight=2.0)
    """

    name: str
    term: Any
    weight: float = 1.0
    add: Callable[[Values, Values, float], Floats] = add_by_training
    method: ClassVar[str] = "own"

    @property
    def same_term(self) -> OwnCalibration:
        """The calibration that stands for all that have this one's term."""
        return OwnCalibration("", self.term)

    def calibrator(self, seed: int) -> Any:
        """What computes the term."""
        calibrator = clone(self.term)
        if "random_state" in calibrator.get_params(deep=False):
            calibrator.set_params(random_state=seed)
        return calibrator

    def applied(self, scores: Values, terms: Values, protocol: Protocol) -> Floats:
        """The calibrated scores of the test rows."""
        return self.add(scores, terms, self.weight)


AnyCalibration = Calibration | OwnCalibration

NONE = Calibration("none")
