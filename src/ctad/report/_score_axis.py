"""An axis for scores with heavy tails, and bins along it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from .._types import Floats, Integers
from ._formatting import tick_text

BINS = 40
MIN_TICKS, MAX_TICKS = 4, 5  # more do not fit on a phone
LARGEST = 1e100  # larger scores are treated as infinite
SMALLEST = 1 / LARGEST  # smaller differences are treated as 0
FARTHEST = 4.0  # distance from the middle: sinh(4), 27 times the width of most scores


@dataclass(frozen=True)
class ScoreAxis:
    """An axis that is linear for most scores and compressed at its ends.

    The position of a score s is arcsinh((s - middle) / width). Scores below `low` or above `high`,
    including infinite ones, share one bin at that end.

    Attributes
    ----------
    middle, width : float
    low, high : float
        Positions of the ends.
    has_lower, has_higher : bool
        Whether there are scores beyond the ends.
    """

    middle: float
    width: float
    low: float
    high: float
    has_lower: bool
    has_higher: bool

    @classmethod
    def fitting(cls, *groups: Floats) -> Self:
        """The axis for all of these scores."""
        scores = np.concatenate(groups)
        finite = scores[np.abs(scores) < LARGEST]
        if not len(finite):
            finite = np.zeros(1)
        low, middle, high = (float(q) for q in np.percentile(finite, [5, 50, 95]))
        widths = (high - low, float(np.ptp(finite)), abs(middle))
        width = next((width for width in widths if width > SMALLEST), 1.0)
        axis = cls(middle, width, -FARTHEST, FARTHEST, has_lower=False, has_higher=False)
        positions = axis.positions(scores)
        inside = positions[np.abs(positions) <= FARTHEST]
        low, high = float(inside.min(initial=0.0)), float(inside.max(initial=0.0))
        if high - low <= SMALLEST:
            low, high = low - 0.5, high + 0.5
        return replace(
            axis,
            low=low,
            high=high,
            has_lower=bool(positions.min() < low),
            has_higher=bool(positions.max() > high),
        )

    def positions(self, scores: Floats) -> Floats:
        """The positions of scores."""
        # The largest numbers may overflow to infinity, which is beyond the end.
        with np.errstate(over="ignore"):
            return np.arcsinh((scores - self.middle) / self.width)

    def score(self, position: float) -> float:
        """The score at a position."""
        return self.middle + self.width * math.sinh(position)

    @property
    def step(self) -> float:
        """The width of a bin."""
        return (self.high - self.low) / BINS

    def edges(self) -> Floats:
        """The edges of the bins, including those beyond the ends of the axis."""
        inner = np.linspace(self.low, self.high, BINS + 1)
        lower = [self.low - self.step] if self.has_lower else []
        higher = [self.high + self.step] if self.has_higher else []
        return np.concatenate([lower, inner, higher])

    def counts(self, scores: Floats) -> Integers:
        """The number of scores in each bin."""
        edges = self.edges()
        middles = (edges[1:] + edges[:-1]) / 2
        positions = np.clip(self.positions(scores), middles[0], middles[-1])
        return np.histogram(positions, edges)[0]

    def ticks(self) -> tuple[list[float], list[str]]:
        """Positions of round scores, and their labels."""
        ends: dict[float, str] = {}
        if self.has_lower:
            ends[self.low - self.step / 2] = "less"
        if self.has_higher:
            ends[self.high + self.step / 2] = "more"
        steps = _round_steps(self.score(self.high) - self.score(self.low))
        evenly = [
            marks
            for step in steps
            if len(marks := self._spaced([step], ends)) == len(self._multiples(step)) + len(ends)
        ]
        marks = max(evenly, key=len, default=ends)
        if len(marks) < MIN_TICKS:  # compressed: the roundest first, then others that fit between
            marks = self._spaced(steps, ends)
        positions = sorted(marks)
        return positions, [marks[position] for position in positions]

    def _spaced(self, steps: Sequence[float], taken: dict[float, str]) -> dict[float, str]:
        """The ticks that are taken, and multiples of the steps that are not too close to others."""
        marks = dict(taken)
        least = (self.high - self.low) / MAX_TICKS
        for step in steps:
            for number in self._multiples(step):
                at = float(self.positions(np.array(number * step)))
                if all(abs(at - other) >= least for other in marks):
                    marks[at] = tick_text(number * step, step)
        return marks

    def _multiples(self, step: float) -> range:
        """The multiples of a step that are on the axis, plus or minus half a bin."""
        low, high = (
            self.score(end) for end in (self.low - self.step / 2, self.high + self.step / 2)
        )
        return range(math.ceil(low / step), math.floor(high / step) + 1)


def _round_steps(span: float) -> list[float]:
    """1, 2 and 5 times powers of ten, from about `span` down to a hundredth of it."""
    power = 10.0 ** math.ceil(math.log10(span))
    return [power / 10**digits / part for digits in range(3) for part in (1, 2, 5)]
