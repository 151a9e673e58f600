"""How well scores tell anomalies apart, and how sure one can be of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ._input import Floats

METRICS = ("AUC-PR", "AUC-ROC")
CONFIDENCE = 95  # per cent


class Interval(NamedTuple):
    """A value and the range that holds it with 95 % confidence."""

    value: float
    low: float
    high: float


class Comparison(NamedTuple):
    """One metric before and after calibration, and the difference."""

    before: Interval
    after: Interval
    gain: Interval


class Ranking:
    """Labelled rows, sorted by score once; a resample only weighs them anew."""

    def __init__(self, scores: Floats, anomalous: npt.NDArray[np.bool_]) -> None:
        self._order = np.argsort(-scores, kind="stable")
        in_order = scores[self._order]
        self._anomalous = anomalous[self._order]
        # Rows of equal score count as one: the places where a run of them ends.
        self._ends = np.flatnonzero(np.append(in_order[1:] != in_order[:-1], True))

    def measure(self, counts: npt.NDArray[np.int64]) -> Floats:
        """AUC-PR (average precision) and AUC-ROC, with row i taken `counts[i]` times."""
        weights = counts[self._order]
        found = np.cumsum(weights * self._anomalous)[self._ends]
        alarms = np.cumsum(weights)[self._ends]
        false = alarms - found
        new_found, new_false = np.diff(found, prepend=0), np.diff(false, prepend=0)
        precision = found / np.maximum(alarms, 1)
        average_precision = (new_found * precision).sum() / found[-1]
        # The share of pairs in which the anomaly is ahead; equal scores count half.
        pairs = float(found[-1]) * float(false[-1])
        auc_roc = (new_false * (found - new_found / 2)).sum() / pairs
        return np.array([average_precision, auc_roc])


def compare(
    before: Floats,
    after: Floats,
    anomalous: npt.NDArray[np.bool_],
    *,
    resamples: int,
    seed: int,
    watch: Callable[[int], object] = lambda done: None,
) -> dict[str, Comparison]:
    """Each metric of two scores of the same rows, with bootstrap percentile intervals.

    Normal and anomalous rows are resampled apart, and both scores by the same rows.
    """
    rankings = [Ranking(scores, anomalous) for scores in (before, after)]
    once = np.ones(len(anomalous), dtype=np.int64)
    values = np.array([ranking.measure(once) for ranking in rankings])
    drawn = np.empty((resamples, *values.shape))
    for number, counts in enumerate(_resampled(anomalous, resamples, seed)):
        drawn[number] = [ranking.measure(counts) for ranking in rankings]
        watch(number + 1)
    return {
        metric: Comparison(
            _interval(values[0, m], drawn[:, 0, m]),
            _interval(values[1, m], drawn[:, 1, m]),
            _interval(values[1, m] - values[0, m], drawn[:, 1, m] - drawn[:, 0, m]),
        )
        for m, metric in enumerate(METRICS)
    }


def _resampled(
    anomalous: npt.NDArray[np.bool_], resamples: int, seed: int
) -> Iterator[npt.NDArray[np.int64]]:
    """How often each row is drawn."""
    random = np.random.default_rng(seed)
    groups = [np.flatnonzero(anomalous), np.flatnonzero(~anomalous)]
    counts = np.empty(len(anomalous), dtype=np.int64)
    for _ in range(resamples):
        for rows in groups:
            drawn = random.integers(len(rows), size=len(rows))
            counts[rows] = np.bincount(drawn, minlength=len(rows))
        yield counts


def _interval(value: float, drawn: Floats) -> Interval:
    low, high = np.percentile(drawn, [50 - CONFIDENCE / 2, 50 + CONFIDENCE / 2])
    return Interval(float(value), float(low), float(high))
