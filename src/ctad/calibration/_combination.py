"""How a detector's score and the calibration term meet: the one place that scales scores."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .._input import Scores

Location = tuple[float, float]  # (shift, scale)


class Combination(NamedTuple):
    """calibrated = (score - shift) / scale + weight * (delta - shift) / scale."""

    score: Location
    delta: Location

    def scaled_score(self, scores: Scores) -> Scores:
        return (scores - self.score[0]) / self.score[1]

    def scaled_delta(self, delta: Scores) -> Scores:
        return (delta - self.delta[0]) / self.delta[1]


IDENTITY: Location = (0.0, 1.0)


def _unit(values: Scores) -> Location:
    return float(values.min()), float(np.ptp(values))


def _standard(values: Scores) -> Location:
    return float(values.mean()), float(values.std())


def _robust(values: Scores) -> Location:
    low, median, high = np.percentile(values, [25, 50, 75])
    # More than half of the values equal: fall back to what the others say.
    return float(median), float(high - low) or float(values.std())


# score_scaling: (location of the scores, location of the term)
SCORE_SCALINGS: dict[str, tuple[Callable[[Scores], Location] | None, ...]] = {
    "none": (None, None),
    "unit": (_unit, None),
    "standard": (_standard, _standard),
    "robust": (_robust, _robust),
}


def combination_from_training(scaling: str, scores: Scores, delta: Scores) -> Combination:
    """Shift and scale of scores and term, from the training rows alone."""
    of_scores, of_delta = SCORE_SCALINGS[scaling]
    return Combination(
        score=_location(of_scores, scores, "scores"),
        delta=_location(of_delta, delta, "calibration terms"),
    )


def _location(measure: Callable[[Scores], Location] | None, values: Scores, what: str) -> Location:
    if measure is None:
        return IDENTITY
    finite = values[np.isfinite(values)]
    if len(finite) < len(values):
        warnings.warn(
            f"{len(values) - len(finite)} of {len(values)} training {what} are infinite and were "
            "left out of the scaling; such rows keep an infinite calibrated score.",
            UserWarning,
            stacklevel=2,
        )
    with np.errstate(over="ignore", invalid="ignore"):
        shift, scale = measure(finite)
    if not (np.isfinite(shift) and np.isfinite(scale)):
        raise ValueError(f"the training {what} are too large to be scaled (up to {finite.max():g})")
    # A constant carries no information: it is only shifted, as scikit-learn's scalers do.
    return shift, scale or 1.0
