"""How a detector's score and the calibration term meet: the one place that scales scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .._input import Floats
from .._warning import warn_user

Location = tuple[float, float]  # (shift, scale)
IDENTITY: Location = (0.0, 1.0)

# The quartiles' distance says nothing of values of which more than half are nearly equal, such as
# the scores of machines that mostly rest: when 90 % of them lie this many times wider apart, that
# is measured, as the distance that a normal distribution's quartiles would have.
NARROW = 40
OUTER_TO_INNER = 2.439


class Combination(NamedTuple):
    """calibrated = (score - shift) / scale + weight * (delta - shift) / scale."""

    score: Location = IDENTITY
    delta: Location = IDENTITY

    def combine(self, scores: Floats, delta: Floats, weight: float) -> Floats:
        """The calibrated scores."""
        of_scores, of_delta = self.parts(scores, delta, weight)
        of_delta += of_scores
        return of_delta

    def parts(self, scores: Floats, delta: Floats, weight: float) -> tuple[Floats, Floats]:
        """What scores and terms each add to the calibrated scores."""
        of_scores = scores - self.score[0]
        of_scores /= self.score[1]
        of_delta = delta - self.delta[0]
        of_delta /= self.delta[1]
        of_delta *= weight
        return of_scores, of_delta


def _unit(values: Floats) -> Location:
    return float(values.min()), float(np.ptp(values))


def _standard(values: Floats) -> Location:
    return float(values.mean()), float(values.std())


def _robust(values: Floats) -> Location:
    lowest, low, median, high, highest = np.percentile(values, [5, 25, 50, 75, 95])
    spread = high - low
    if NARROW * spread < highest - lowest:  # half of them are nearly equal: let the others speak
        spread = (highest - lowest) / OUTER_TO_INNER
    if spread <= _rounding(values):
        spread = values.std()
    return float(median), float(spread)


# score_scaling: (location of the scores, location of the term)
SCORE_SCALINGS: dict[str, tuple[Callable[[Floats], Location] | None, ...]] = {
    "none": (None, None),
    "unit": (_unit, None),
    "standard": (_standard, _standard),
    "robust": (_robust, _robust),
}


def combination_from_training(
    scaling: str, scores: Floats, delta: Floats, delta_rounding: float = 0.0
) -> Combination:
    """Shift and scale of scores and term, from the training rows alone.

    Terms that differ by no more than `delta_rounding` are taken for equal.
    """
    of_scores, of_delta = SCORE_SCALINGS[scaling]
    return Combination(
        score=_location(of_scores, scores, _rounding(scores), "scores"),
        delta=_location(of_delta, delta, max(_rounding(delta), delta_rounding), "terms"),
    )


def _location(
    measure: Callable[[Floats], Location] | None, values: Floats, rounding: float, what: str
) -> Location:
    if measure is None:
        return IDENTITY
    finite = values[np.isfinite(values)]
    if len(finite) < len(values):
        warn_user(
            f"{len(values) - len(finite)} of {len(values)} training {what} are infinite and were "
            "left out of the scaling; such rows keep an infinite calibrated score."
        )
    with np.errstate(over="ignore", invalid="ignore"):
        shift, scale = measure(finite)
    if not (np.isfinite(shift) and np.isfinite(scale)):
        raise ValueError(f"the training {what} are too large to be scaled (up to {finite.max():g})")
    # A constant carries no information: it is only shifted, as scikit-learn's scalers do.
    return shift, 1.0 if scale <= rounding else scale


def _rounding(values: Floats) -> float:
    """Values that are equal may differ by this much after some arithmetic."""
    finite = np.abs(values[np.isfinite(values)])
    return float(10 * np.finfo(np.float64).eps * finite.max(initial=0.0))
