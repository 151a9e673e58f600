"""Ways to calibrate a detector's scores, as a benchmark compares them."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any, Literal, Self

from sklearn.base import clone

from .._types import Floats
from ..calibration import CALIBRATIONS, BaseCalibrator, ScoreScaling
from ..errors import InputError
from ._protocols import Addition, Protocol, Values, add_by_training


@dataclass(frozen=True)
class Calibration:
    """A calibrator with a name, and how score and term are added.

    Parameters
    ----------
    name : str
        Identifies it in results.
    calibrator : object, optional
        A calibrator of `ctad.calibration`, or any object with ``fit(rows)`` and ``delta(rows)``.
        It is cloned; its parameter `random_state`, if it has one, is set to the seed. None means
        no calibration.
    weight : float, optional
        Factor of the term. By default the calibrator's `weight`, or 1 if it has none.
    add : {"calibrator", "protocol"} or callable, default="calibrator"
        "calibrator": as the calibrator itself adds them, by its `score_scaling` and statistics of
        the training rows ("standard" if it has none); "protocol": as the protocol says; or a
        function of scores, terms and weight that returns the calibrated scores of the test rows.
        A function of a module, because it is sent to other processes.

    Examples
    --------
    >>> from ctad import RelaxedCTAD
    >>> from ctad.evaluation import Calibration
    >>> Calibration.named("recommended")
    Calibration(name='recommended', calibrator=RelaxedCTAD(), weight=None, add='calibrator')
    >>> twice = Calibration("twice the term", RelaxedCTAD(), weight=4.0)
    """

    name: str
    calibrator: Any = None
    weight: float | None = None
    add: Addition | Literal["calibrator", "protocol"] = "calibrator"

    @classmethod
    def named(cls, name: str) -> Self:
        """A calibration with default settings.

        Parameters
        ----------
        name : {"recommended", "paper"}
            `ctad.RelaxedCTAD` or `ctad.CTAD`.
        """
        if name not in CALIBRATIONS:
            raise InputError(f"{name!r} is not a calibration; choose {' or '.join(CALIBRATIONS)}")
        return cls(name, CALIBRATIONS[name]())

    def for_seed(self, seed: int) -> Any:
        """A new calibrator with this seed, to be fitted."""
        calibrator = clone(self.calibrator)
        if "random_state" in calibrator.get_params(deep=False):
            calibrator.set_params(random_state=seed)
        return calibrator

    def apply(self, scores: Values, terms: Values, fitted: Any, protocol: Protocol) -> Floats:
        """The calibrated scores of the test rows.

        Parameters
        ----------
        scores, terms : Values
        fitted : object
            The calibrator that made the terms.
        protocol : Protocol
        """
        weight = getattr(self.calibrator, "weight", 1.0) if self.weight is None else self.weight
        if callable(self.add):
            return self.add(scores, terms, weight)
        if self.add == "protocol":
            return protocol.add(scores, terms, weight)
        if not isinstance(fitted, BaseCalibrator):
            return add_by_training(scores, terms, weight)
        # The terms are computed once for all detectors. Only the scaling depends on the scores.
        calibrator = copy(fitted)
        calibrator.weight = weight
        calibrator.score_scaling_ = ScoreScaling.from_training(
            calibrator.score_scaling, scores.train, terms.train
        )
        return calibrator.combine(scores.test, terms.test)


NO_CALIBRATION = Calibration("none")
