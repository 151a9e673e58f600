"""The tables of docs/recommended.md, as lines of Markdown."""

from collections import Counter

import numpy as np
import pandas as pd
from scipy import stats

from ctad.evaluation.report import format_p_value

from ..markdown import table
from . import other_tables
from .candidates import (
    FIRST_EDITION,
    NEEDS_BATCH,
    NEIGHBOURS,
    RECOMMENDED,
    RIVALS,
    TERM_ALONE,
    TOO_SLOW,
    candidates,
)
from .gains import Gains, left_out_groups, p_value
from .plan import CLASSICAL, CLEAN, NETWORKS, SPLITS

LARGE_LOSS = 0.05
SMALL_LOSS = 0.02
AGREEMENT_EDGES = (-1.0, 0.5, 0.7, 1.0)
METRIC_NAMES = {"auc_pr": "AUC-PR", "auc_roc": "AUC-ROC"}


def by_split(gains: Gains, metric: str) -> list[str]:
    """What calibrations add on each split, as means over the classical detectors."""
    shown = (RECOMMENDED, *RIVALS, FIRST_EDITION)
    rows = []
    for split in SPLITS:
        alone = gains.alone(split.name, metric).mean()
        cells = [f"{gains.mean_gain(one, split.name, metric):+.3f}" for one in shown]
        if metric == "auc_pr":
            chosen = np.mean([gains.of_choices(split.name, one).mean() for one in CLASSICAL])
            cells.insert(1, f"{chosen:+.3f}")
        n_datasets = len(gains.table.loc[split.name].index.unique("dataset"))
        rows.append((split.name, n_datasets, f"{alone:.3f}", f"**{cells[0]}**", *cells[1:]))
    heads = ["split", "data sets", f"{METRIC_NAMES[metric]} alone", *shown]
    if metric == "auc_pr":
        heads.insert(4, "chosen without the data set")
    return table(heads, rows)


def on_other_tables(others: pd.DataFrame, metric: str) -> list[str]:
    """What calibrations add on tables that were not used to make the default.

    `others` are metrics by table, as `other_tables.by_table` returns them.
    """
    gain = others[metric] - others[f"base_{metric}"]
    rows = []
    for split in other_tables.SPLITS:
        alone = others.loc[split.name, RECOMMENDED][f"base_{metric}"]
        cells = [f"{_mean(gain[split.name, one]):+.3f}" for one in other_tables.COMPARED]
        n_tables = alone.index.get_level_values("table").nunique()
        rows.append((split.name, n_tables, f"{_mean(alone):.3f}", f"**{cells[0]}**", *cells[1:]))
    return table(("split", "tables", f"{METRIC_NAMES[metric]} alone", *other_tables.COMPARED), rows)


def _mean(values: pd.Series) -> float:
    """Over tables, then over detectors."""
    return float(values.groupby("detector").mean().mean())


def detectors_on_other_tables(others: pd.DataFrame) -> list[str]:
    """The gain in AUC-PR of each detector on these tables."""
    gain = (others["auc_pr"] - others["base_auc_pr"]).xs(RECOMMENDED, level="calibration")
    rows = [
        (one, *(_gain_cell(gain[split.name, one]) for split in other_tables.SPLITS))
        for one in CLASSICAL
    ]
    return table(("detector", *(split.name for split in other_tables.SPLITS)), rows)


def against_neighbours(others: pd.DataFrame) -> list[str]:
    """How much more the simplest rival gains on these tables, with a two-sided test."""
    values = others["auc_pr"].groupby(["protocol", "calibration", "table"]).mean()
    rows = []
    for split in other_tables.SPLITS:
        lead = values[split.name, NEIGHBOURS[0]] - values[split.name, RECOMMENDED]
        p = stats.ttest_1samp(lead, 0).pvalue
        rows.append(
            (split.name, f"{lead.mean():+.3f}", f"{(lead > 0).sum()} of {len(lead)}", f"{p:.3f}")
        )
    return table(("split", "5 neighbours minus RelaxedCTAD", "tables", "p (two-sided)"), rows)


def by_detector(gains: Gains) -> list[str]:
    """The gain in AUC-PR of each detector on each split."""
    rows = []
    for detector in (*CLASSICAL, *NETWORKS):
        cells = []
        for split in SPLITS if detector in CLASSICAL else SPLITS[:1]:
            gain = gains.of_calibration(RECOMMENDED, split.name, detector)
            cells.append(_gain_cell(gain))
        rows.append((detector, *cells, *[""] * (len(SPLITS) - len(cells))))
    return table(("detector", *(split.name for split in SPLITS)), rows)


def _gain_cell(gain: pd.Series) -> str:
    """The mean gain over data sets, on how many there is one, and the p-value."""
    p = format_p_value(p_value(gain), decimals=4)
    return f"{gain.mean():+.3f} ({(gain > 0).sum()} of {len(gain)}, p {p})"


def choices(gains: Gains) -> list[str]:
    """How often each candidate was chosen."""
    counts = Counter(gains.choices[group[0]] for group in left_out_groups(gains.datasets))
    chosen = ", ".join(f"{name} ({n})" for name, n in counts.most_common())
    return [
        f"Chosen when one of {sum(counts.values())} groups of data sets is left out: {chosen}.",
        f"Chosen on all data sets: {gains.choice_without(())}.",
    ]


def large_losses(gains: Gains) -> list[str]:
    """The data sets that lose much, without anomalies among the training rows."""
    rows = []
    for split in CLEAN:
        for detector in CLASSICAL:
            gain = gains.of_calibration(RECOMMENDED, split.name, detector)
            lost = ", ".join(f"{one} {gain[one]:+.2f}" for one in gain.index[gain < -LARGE_LOSS])
            rows.append((detector, split.name, lost))
    return table(("detector", "split", "data sets"), [row for row in rows if row[-1]])


def alone_or_together(gains: Gains) -> list[str]:
    """The detector alone, the term alone and both, as means over the classical detectors."""
    rows = []
    for split in SPLITS:
        cells = [
            f"{gains.of_name(one, split.name, metric).mean():.3f}"
            for metric in METRIC_NAMES
            for one in ("none", TERM_ALONE, RECOMMENDED, "weight 1")
        ]
        rows.append((split.name, *cells))
    heads = [
        f"{name}: {what}"
        for name in METRIC_NAMES.values()
        for what in ("detector", "term", "both", "both, weight 1")
    ]
    return table(("split", *heads), rows)


def all_candidates(gains: Gains) -> list[str]:
    """Every candidate with its mean gain on each split."""
    heads = ["candidate", "all splits", *(split.name for split in SPLITS)]
    of_all = gains.means()
    rows = []
    for subject, group in candidates().items():
        rows.append((f"*{subject}*", *[""] * (len(heads) - 1)))
        for one in group:
            name = f"**{one.name}**" if one.name == RECOMMENDED else one.name
            name += " (too slow)" if one.name in TOO_SLOW else ""
            name += " (needs the batch)" if one.name in NEEDS_BATCH else ""
            each = [gains.mean_gain(one.name, split.name) for split in SPLITS]
            rows.append((name, f"{of_all[one.name]:+.4f}", *(f"{gain:+.3f}" for gain in each)))
    return table(heads, rows)


def gains_by_agreement(together: pd.DataFrame) -> list[str]:
    """The gain by agreement, given both for each case."""
    rows = []
    for interval, cases in by_interval(together):
        gain = cases.gain
        rows.append(
            (
                f"{max(interval.left, -1):.2f} to {interval.right:.2f}",
                len(cases),
                *(f"{gain.mean():+.3f}", f"{gain.median():+.3f}"),
                *(f"{(gain > 0).mean():.0%}", f"{(gain < -SMALL_LOSS).mean():.0%}"),
                f"{calibration_error(together, interval):.0%}",
            )
        )
    heads = ("agreement on training rows", "cases", "mean gain", "median", "wins")
    return table((*heads, f"lose over {SMALL_LOSS}", "wins, off by"), rows)


def by_interval(together: pd.DataFrame):
    """The cases of each interval of agreement."""
    intervals = pd.cut(together.agreement, AGREEMENT_EDGES, include_lowest=True)
    return together.groupby(intervals, observed=True)


def calibration_error(together: pd.DataFrame, interval: pd.Interval) -> float:
    """How far a stated share of wins is from the share on data sets that were not used for it.

    The share is stated from one half of the data sets and compared with the other half, over 200
    random halves; the mean absolute difference.
    """
    cases = dict(iter(by_interval(together)))[interval]
    wins = (cases.gain > 0).groupby(level="dataset").agg(["sum", "size"])
    random, differences = np.random.default_rng(0), []
    for _ in range(200):
        is_stated = random.random(len(wins)) < 0.5
        if is_stated.any() and not is_stated.all():
            shares = [
                wins[part]["sum"].sum() / wins[part]["size"].sum()
                for part in (is_stated, ~is_stated)
            ]
            differences.append(abs(shares[0] - shares[1]))
    return float(np.mean(differences))
