"""How a detector's score and the calibration term are scaled before they are added."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np

from .._types import Floats
from .._warnings import warn_user
from ..errors import InputError

Location = tuple[float, float]  # (shift, scale)
IDENTITY: Location = (0.0, 1.0)

# If more than half of the values are nearly equal, such as the scores of machines that mostly rest,
# the interquartile range is not a useful scale. If the range of the middle 90 % is this many times
# wider, it is used instead, divided by the ratio of the two ranges in a normal distribution.
NARROW = 40
OUTER_TO_INNER = 2.439


def _unit(values: Floats) -> Location:
    return float(values.min()), float(np.ptp(values))


def _standard(values: Floats) -> Location:
    return float(values.mean()), float(values.std())


def _robust(values: Floats) -> Location:
    lowest, low, median, high, highest = np.percentile(values, [5, 25, 50, 75, 95])
    spread = high - low
    if NARROW * spread < highest - lowest:
        spread = (highest - lowest) / OUTER_TO_INNER
    if spread <= _rounding(values):
        spread = values.std()
    return float(median), float(spread)


# score_scaling: (location of the scores, location of the terms)
SCORE_SCALINGS: dict[str, tuple[Callable[[Floats], Location] | None, ...]] = {
    "none": (None, None),
    "unit": (_unit, None),
    "standard": (_standard, _standard),
    "robust": (_robust, _robust),
}


@dataclass(frozen=True)
class ScoreScaling:
    """calibrated = (score - shift) / scale + weight * (delta - shift) / scale.

    Attributes
    ----------
    score : (float, float) or None
        Shift and scale of the scores. None: they are not used, because no training score is
        finite.
    delta : (float, float)
        Shift and scale of the terms.

    Examples
    --------
    >>> import numpy as np
    >>> from ctad.calibration import ScoreScaling
    >>> known = np.array([1.0, 2.0, 3.0])
    >>> scaling = ScoreScaling.from_training("unit", known, known)
    >>> scaling.score
    (1.0, 2.0)
    >>> scaling.contributions(np.array([2.0]), np.array([7.0]), weight=1.0)
    (array([0.5]), array([7.]))
    """

    score: Location | None = IDENTITY
    delta: Location = IDENTITY

    @classmethod
    def from_training(
        cls, name: str, scores: Floats, delta: Floats, delta_rounding: float = 0.0
    ) -> Self:
        """Shift and scale from the scores and terms of the training rows.

        Parameters
        ----------
        name : {"none", "unit", "standard", "robust"}
        scores, delta : ndarray of shape (n,)
        delta_rounding : float, default=0.0
            Terms that differ by no more than this are regarded as equal.
        """
        of_scores, of_delta = SCORE_SCALINGS[name]
        is_usable = np.isfinite(scores).any()
        return cls(
            score=_location(of_scores, scores, _rounding(scores), "scores") if is_usable else None,
            delta=_location(of_delta, delta, max(_rounding(delta), delta_rounding), "terms"),
        )

    def contributions(self, scores: Floats, delta: Floats, weight: float) -> tuple[Floats, Floats]:
        """What scores and terms each add to the calibrated scores.

        Parameters
        ----------
        scores, delta : ndarray of shape (n,)
        weight : float

        Returns
        -------
        ndarray of shape (n,), ndarray of shape (n,)
        """
        delta_shift, delta_scale = self.delta
        of_delta = weight * ((delta - delta_shift) / delta_scale)
        if self.score is None:
            return np.zeros_like(of_delta), of_delta
        score_shift, score_scale = self.score
        return (scores - score_shift) / score_scale, of_delta


def _location(
    measure: Callable[[Floats], Location] | None, values: Floats, rounding: float, what: str
) -> Location:
    if measure is None:
        return IDENTITY
    finite = values[np.isfinite(values)]
    if len(finite) < len(values):
        warn_user(
            f"{len(values) - len(finite)} of {len(values)} training {what} are infinite and not "
            "used for scaling. Rows with an infinite score keep it."
        )
    with np.errstate(over="ignore", invalid="ignore"):
        shift, scale = measure(finite)
    if not (np.isfinite(shift) and np.isfinite(scale)):
        raise InputError(f"the training {what} are too large to be scaled (up to {finite.max():g})")
    # Constant values are only shifted, as by scikit-learn's scalers.
    return shift, 1.0 if scale <= rounding else scale


def _rounding(values: Floats) -> float:
    """Equal values may differ by this much after some arithmetic."""
    finite = np.abs(values[np.isfinite(values)])
    return float(10 * np.finfo(np.float64).eps * finite.max(initial=0.0))
