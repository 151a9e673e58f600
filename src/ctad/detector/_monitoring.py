"""Whether a model still fits the data: scores and columns of new rows against known ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.stats import false_discovery_control, fisher_exact, ks_2samp

from .._findings import Drift, Fit
from .._input import Floats

# Up to so many rows the test is exact; above, its limit distribution is as good.
EXACT_ROWS = 30
NAMED = 5  # columns in a sentence

NO_SAMPLE = (
    "the model file was written by an earlier version and has no training rows to compare with: "
    "train the model anew."
)


def fit_of(
    rows: Floats,
    sample: Floats,
    sources: Sequence[str],
    scores: Floats,
    normal: Floats | None,
    error: float,
) -> Fit:
    """Compare new rows with a sample of training rows, and their scores with those of normal rows.

    Half of the `error` goes to the scores, half to the columns; so it is the chance to say of data
    that fits that it does not. If all columns are as before, Benjamini-Hochberg's rate is the
    chance to name any.

    Parameters
    ----------
    rows, sample : ndarrays of shape (n, D), (m, D)
        New rows and training rows, as numbers.
    sources : sequence of str
        The column of the table that each number comes from.
    scores : ndarray of shape (n,)
    normal : ndarray or None
        Scores of normal rows held out of training. That their p-values are uniform and that both
        have one distribution is the same, but only a test of two samples knows that the rows held
        out are a sample, too.
    error : float
    """
    drifts = _drifts(rows, sample, sources, error if normal is None else error / 2)
    changed = [drift.column for drift in drifts if drift.has_changed]
    p_value = None if normal is None else _same_distribution(scores, normal)[1]
    scores_changed = p_value is not None and p_value <= error / 2
    fits = not changed and not scores_changed
    return Fit(fits, p_value, error, drifts, _verdict(scores, normal, scores_changed, changed))


def _drifts(rows: Floats, sample: Floats, sources: Sequence[str], error: float) -> list[Drift]:
    """Each column, the most changed first; of several numbers that one column became, the most
    changed counts."""
    tests = [_same_distribution(now, then) for now, then in zip(rows.T, sample.T, strict=True)]
    adjusted = false_discovery_control([p for _, p in tests])
    found: dict[str, Drift] = {}
    for source, (statistic, _), p in zip(sources, tests, adjusted, strict=True):
        drift = Drift(source, statistic, float(p), bool(p <= error))
        if source not in found or (p, -statistic) < (
            found[source].p_value,
            -found[source].statistic,
        ):
            found[source] = drift
    return sorted(found.values(), key=lambda drift: (drift.p_value, -drift.statistic))


def _same_distribution(now: Floats, then: Floats) -> tuple[float, float]:
    """Kolmogorov-Smirnov's statistic and p-value.

    Ties make it more careful, with two values only much too careful: then Fisher's test of shares.
    """
    low, high = min(now.min(), then.min()), max(now.max(), then.max())
    if all(((values == low) | (values == high)).all() for values in (now, then)):
        counts = [
            [int((values == low).sum()), int((values == high).sum())] for values in (now, then)
        ]
        shares = [lows / (lows + highs) for lows, highs in counts]
        p_value = 1.0 if low == high else float(fisher_exact(np.array(counts)).pvalue)
        return abs(shares[0] - shares[1]), p_value
    few = min(len(now), len(then)) <= EXACT_ROWS and max(len(now), len(then)) <= 10_000
    test = ks_2samp(now, then, method="exact" if few else "asymp")
    return float(test.statistic), float(test.pvalue)


def _verdict(
    scores: Floats, normal: Floats | None, scores_changed: bool, changed: Sequence[str]
) -> str:
    if not scores_changed and not changed:
        return "The model still fits the data."
    parts = ["The model does not fit the data any more"]
    if changed:
        named = ", ".join(repr(column) for column in changed[:NAMED])
        more = f" and {len(changed) - NAMED} more" if len(changed) > NAMED else ""
        plural = "columns" if len(changed) > 1 else "column"
        parts.append(f", because of {plural} {named}{more}")
    if scores_changed and normal is not None:
        way = "higher" if np.median(scores) > np.median(normal) else "lower"
        parts.append(f"{': ' if not changed else '; '}scores are {way} than those of normal rows")
    return "".join(parts) + ". Look at these rows, and train anew if they are normal."
