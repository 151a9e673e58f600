"""An axis on which scores with heavy tails have room, and bins along it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .._types import Floats
from ._numbers import tick_text

BINS = 40
ENOUGH_TICKS, MOST_TICKS = 4, 5  # a phone has no room for more
LARGEST = 1e100  # what is larger is as good as infinite
FARTHEST = 4.0  # places from the middle; sinh(4), 27 widths of the bulk


class Axis(NamedTuple):
    """Places along an axis that is straight in the bulk of scores and squeezed far out.

    A score s stands at arcsinh((s - middle) / width). Scores farther out than `low` and `high`,
    infinite ones among them, share one bin at that end.
    """

    middle: float
    width: float
    low: float
    high: float
    has_lower: bool
    has_higher: bool

    def places(self, scores: Floats) -> Floats:
        """Where scores stand."""
        # The largest numbers there are may overflow, to infinity: they are beyond the end.
        with np.errstate(over="ignore"):
            return np.arcsinh((scores - self.middle) / self.width)

    def score(self, place: float) -> float:
        """The score that stands at a place."""
        return self.middle + self.width * math.sinh(place)

    @property
    def step(self) -> float:
        """How wide a bin is."""
        return (self.high - self.low) / BINS

    def edges(self) -> Floats:
        """The ends of bins, those beyond the ends of the axis among them."""
        inner = np.linspace(self.low, self.high, BINS + 1)
        lower = [self.low - self.step] if self.has_lower else []
        higher = [self.high + self.step] if self.has_higher else []
        return np.concatenate([lower, inner, higher])

    def counts(self, scores: Floats) -> npt.NDArray[np.int64]:
        """How many scores are in each bin."""
        edges = self.edges()
        middles = (edges[1:] + edges[:-1]) / 2
        places = np.clip(self.places(scores), middles[0], middles[-1])
        return np.histogram(places, edges)[0]

    def ticks(self) -> tuple[list[float], list[str]]:
        """Places of round scores, and these scores."""
        ends: dict[float, str] = {}
        if self.has_lower:
            ends[self.low - self.step / 2] = "less"
        if self.has_higher:
            ends[self.high + self.step / 2] = "more"
        steps = _round_steps(self.score(self.high) - self.score(self.low))
        evenly = [
            marks
            for step in steps
            if len(marks := self._with_room([step], ends)) == len(self._multiples(step)) + len(ends)
        ]
        marks = max(evenly, key=len, default=ends)
        if len(marks) < ENOUGH_TICKS:  # squeezed: the roundest first, then what fits between
            marks = self._with_room(steps, ends)
        places = sorted(marks)
        return places, [marks[place] for place in places]

    def _with_room(self, steps: Sequence[float], taken: dict[float, str]) -> dict[float, str]:
        """Multiples of steps that do not stand too close to others, after what is taken."""
        marks = dict(taken)
        least = (self.high - self.low) / MOST_TICKS
        for step in steps:
            for number in self._multiples(step):
                at = float(self.places(np.array(number * step)))
                if all(abs(at - other) >= least for other in marks):
                    marks[at] = tick_text(number * step, step)
        return marks

    def _multiples(self, step: float) -> range:
        """Which multiples of a step are on the axis, give or take half a bin."""
        low, high = (
            self.score(end) for end in (self.low - self.step / 2, self.high + self.step / 2)
        )
        return range(math.ceil(low / step), math.floor(high / step) + 1)


def axis_for(*groups: Floats) -> Axis:
    """The axis for all of these scores."""
    scores = np.concatenate(groups)
    finite = scores[np.abs(scores) < LARGEST]
    if not len(finite):
        finite = np.zeros(1)
    fifth, middle, last = (float(q) for q in np.percentile(finite, [5, 50, 95]))
    widths = (last - fifth, float(np.ptp(finite)), abs(middle))
    width = next((width for width in widths if width > 1 / LARGEST), 1.0)
    axis = Axis(middle, width, -FARTHEST, FARTHEST, False, False)
    places = axis.places(scores)
    inside = places[np.abs(places) <= FARTHEST]
    low, high = float(inside.min(initial=0.0)), float(inside.max(initial=0.0))
    if high == low:
        low, high = low - 0.5, high + 0.5
    lower, higher = places.min() < low, places.max() > high
    return axis._replace(low=low, high=high, has_lower=bool(lower), has_higher=bool(higher))


def _round_steps(span: float) -> list[float]:
    """1, 2 and 5 times powers of ten, from about `span` down to where they would crowd."""
    power = 10.0 ** math.ceil(math.log10(span))
    return [power / 10**digits / part for digits in range(3) for part in (1, 2, 5)]
