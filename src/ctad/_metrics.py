"""AUC-PR, AUC-ROC and their curves, with bootstrap intervals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ._progress import report_progress
from ._types import Booleans, Floats, Integers

METRICS = ("AUC-PR", "AUC-ROC")
CONFIDENCE = 95  # per cent
_BOUNDS = (50 - CONFIDENCE / 2, 50 + CONFIDENCE / 2)
# Where curves are drawn: close together at the start, where alarms are few.
SHARES = np.linspace(0.0, 1.0, 101) ** 2


class Interval(NamedTuple):
    """A value and its 95 % confidence interval."""

    value: float
    low: float
    high: float


class Comparison(NamedTuple):
    """One metric before and after calibration, and the difference."""

    before: Interval
    after: Interval
    gain: Interval


class Curve(NamedTuple):
    """A curve over the unit interval, with a 95 % confidence interval at each point."""

    share: Floats
    value: Floats
    low: Floats
    high: Floats


class Ranking:
    """Labelled rows, sorted by score once; a resample only changes their weights."""

    def __init__(self, scores: Floats, anomalous: Booleans) -> None:
        self._order = np.argsort(-scores, kind="stable")
        in_order = scores[self._order]
        self._anomalous = anomalous[self._order]
        # A threshold cannot separate rows of equal score: only the ends of their runs count.
        self._ends = np.flatnonzero(np.append(in_order[1:] != in_order[:-1], True))

    def measure(self, counts: Integers) -> Floats:
        """AUC-PR (average precision) and AUC-ROC, with row i taken `counts[i]` times."""
        found, false = self._alarms(counts)
        new_found, new_false = np.diff(found, prepend=0), np.diff(false, prepend=0)
        precision = found / np.maximum(found + false, 1)
        average_precision = (new_found * precision).sum() / found[-1]
        # The share of pairs with the anomaly ahead; equal scores count half.
        pairs = float(found[-1]) * float(false[-1])
        auc_roc = (new_false * (found - new_found / 2)).sum() / pairs
        return np.array([average_precision, auc_roc])

    def curves(self, counts: Integers) -> Floats:
        """Precision by the share of anomalies found, and that share by the share of false alarms.

        Both at `SHARES`; the first is the PR curve, the second the ROC curve.
        """
        found, false = self._alarms(counts)
        # The fewest alarms that find the share; rounding must not require one more anomaly.
        first = np.searchsorted(found, np.maximum(SHARES * found[-1] - 1e-9, 1e-9))
        precision = found[first] / (found[first] + false[first])
        # Points are connected by straight lines: rows between them have equal scores.
        found, false = (np.append(0.0, counted / counted[-1]) for counted in (found, false))
        last = np.minimum(np.searchsorted(false, SHARES, side="right"), len(false) - 1)
        before = last - 1
        run = false[last] - false[before]
        part = np.clip((SHARES - false[before]) / np.where(run > 0, run, 1.0), 0.0, 1.0)
        part[run == 0] = 1.0
        return np.array([precision, found[before] + part * (found[last] - found[before])])

    def _alarms(self, counts: Integers) -> tuple[Integers, Integers]:
        """Anomalies found and false alarms, for every threshold from the highest score down."""
        weights = counts[self._order]
        found = np.cumsum(weights * self._anomalous)[self._ends]
        return found, np.cumsum(weights)[self._ends] - found


def compare(
    before: Floats,
    after: Floats,
    anomalous: Booleans,
    *,
    resamples: int,
    seed: int,
) -> dict[str, Comparison]:
    """Each metric of two scores of the same rows, with bootstrap percentile intervals.

    Normal and anomalous rows are resampled separately. Both scores use the same resamples.
    """
    rankings = [Ranking(scores, anomalous) for scores in (before, after)]
    once = np.ones(len(anomalous), dtype=np.int64)
    values = np.array([ranking.measure(once) for ranking in rankings])
    drawn = np.empty((resamples, *values.shape))
    for number, counts in enumerate(_resampled(anomalous, resamples, seed)):
        drawn[number] = [ranking.measure(counts) for ranking in rankings]
        report_progress("Resampling", number + 1, resamples)
    return {
        metric: Comparison(
            _interval(values[0, m], drawn[:, 0, m]),
            _interval(values[1, m], drawn[:, 1, m]),
            _interval(values[1, m] - values[0, m], drawn[:, 1, m] - drawn[:, 0, m]),
        )
        for m, metric in enumerate(METRICS)
    }


def curves_of(
    scores: Floats, anomalous: Booleans, *, resamples: int, seed: int
) -> dict[str, Curve]:
    """The curves behind METRICS, the areas under them, with pointwise bootstrap bands."""
    ranking = Ranking(scores, anomalous)
    values = ranking.curves(np.ones(len(anomalous), dtype=np.int64))
    drawn = np.array([ranking.curves(c) for c in _resampled(anomalous, resamples, seed)])
    low, high = np.percentile(drawn, _BOUNDS, axis=0)
    return {metric: Curve(SHARES, values[m], low[m], high[m]) for m, metric in enumerate(METRICS)}


def _resampled(anomalous: Booleans, resamples: int, seed: int) -> Iterator[Integers]:
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
    low, high = np.percentile(drawn, _BOUNDS)
    return Interval(float(value), float(low), float(high))
