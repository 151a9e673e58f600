"""Drift: scores and columns of new rows compared with those of training."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from scipy.stats import false_discovery_control, fisher_exact, ks_2samp

from .._result_types import ColumnDrift, DriftResult
from .._types import Floats

# Up to this many rows the test is exact; above, the asymptotic distribution is as good.
EXACT_ROWS = 30
MAX_NAMED_COLUMNS = 5


def drift_from_training(
    rows: Floats,
    sample: Floats,
    sources: Sequence[str],
    scores: Floats,
    normal: Floats | None,
    alpha: float,
) -> DriftResult:
    """Compare new rows with a sample of training rows, and their scores with those of normal rows.

    Half of `alpha` goes to the scores, half to the columns, so that `alpha` is the false-alarm
    rate. If no column has changed, the false discovery rate of Benjamini and Hochberg is the
    probability that any is named.

    Parameters
    ----------
    rows, sample : ndarrays of shape (n, D), (m, D)
        New rows and training rows, numeric.
    sources : sequence of str
        The column of the table that each feature comes from.
    scores : ndarray of shape (n,)
    normal : ndarray or None
        Scores of normal rows held out of training. They are a sample, too, so the test is one of
        two samples and not one of uniform p-values.
    alpha : float

    Returns
    -------
    DriftResult
    """
    drifts = _drifts(rows, sample, sources, alpha if normal is None else alpha / 2)
    changed = [drift.column for drift in drifts if drift.has_changed]
    p_value = None
    if normal is not None:
        p_value = float(_same_distributions(scores[:, np.newaxis], normal[:, np.newaxis])[1][0])
    scores_changed = p_value is not None and p_value <= alpha / 2
    fits = not changed and not scores_changed
    return DriftResult(
        fits, p_value, alpha, drifts, _verdict(scores, normal, scores_changed, changed)
    )


def _drifts(
    rows: Floats, sample: Floats, sources: Sequence[str], alpha: float
) -> list[ColumnDrift]:
    """The drift of each column, the most changed first. If a column has several features, the most
    changed one counts."""
    statistics, p_values = _same_distributions(rows, sample)
    adjusted = false_discovery_control(p_values)
    drifts = [
        ColumnDrift(source, float(statistic), float(p), bool(p <= alpha))
        for source, statistic, p in zip(sources, statistics, adjusted, strict=True)
    ]
    drifts.sort(key=lambda drift: (drift.p_value, -drift.statistic))
    by_column: dict[str, ColumnDrift] = {}
    for drift in drifts:
        by_column.setdefault(drift.column, drift)
    return list(by_column.values())


def _same_distributions(now: Floats, then: Floats) -> tuple[Floats, Floats]:
    """Statistic and p-value of the Kolmogorov-Smirnov test of each column.

    Ties make that test conservative. With only two values it is far too conservative, so Fisher's
    exact test of their shares is used.
    """
    low = np.minimum(now.min(axis=0), then.min(axis=0))
    high = np.maximum(now.max(axis=0), then.max(axis=0))
    two_values = np.all(
        [((rows == low) | (rows == high)).all(axis=0) for rows in (now, then)], axis=0
    )
    statistics = np.abs((now == low).mean(axis=0) - (then == low).mean(axis=0))
    p_values = np.ones(len(low))
    for column in np.flatnonzero(two_values & (low < high)):
        counts = [
            [int((rows == edge[column]).sum()) for edge in (low, high)]
            for rows in (now[:, column], then[:, column])
        ]
        p_values[column] = fisher_exact(np.array(counts)).pvalue
    if not two_values.all():
        few = min(len(now), len(then)) <= EXACT_ROWS and max(len(now), len(then)) <= 10_000
        method: Literal["exact", "asymp"] = "exact" if few else "asymp"
        test = ks_2samp(now[:, ~two_values], then[:, ~two_values], method=method, axis=0)
        statistics[~two_values], p_values[~two_values] = test.statistic, test.pvalue
    return statistics, p_values


def _verdict(
    scores: Floats, normal: Floats | None, scores_changed: bool, changed: Sequence[str]
) -> str:
    if not scores_changed and not changed:
        return "The model still fits the data."
    parts = ["The model does not fit the data any more"]
    if changed:
        named = ", ".join(repr(column) for column in changed[:MAX_NAMED_COLUMNS])
        n_more = len(changed) - MAX_NAMED_COLUMNS
        more = f" and {n_more} more" if n_more > 0 else ""
        plural = "columns" if len(changed) > 1 else "column"
        parts.append(f", because of {plural} {named}{more}")
    if scores_changed and normal is not None:
        how = "higher" if np.median(scores) > np.median(normal) else "lower"
        parts.append(f"{'; ' if changed else ': '}scores are {how} than those of normal rows")
    return "".join(parts) + ". Look at these rows, and retrain the model if they are normal."
