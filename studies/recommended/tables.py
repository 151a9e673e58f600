"""The tables of docs/recommended.md, as lines of Markdown."""

from collections import Counter
from collections.abc import Callable

import numpy as np
import pandas as pd

from ctad.evaluation.report import format_p_value

from ..markdown import table
from .candidates import BASELINE, RECOMMENDED, TOO_SLOW, candidates
from .gains import Gains, left_out_groups, p_value
from .plan import (
    CLASSICAL,
    DETECTORS,
    FIRST_HALF,
    FIRST_HALF_STANDARDISED,
    RANDOM_SPLIT,
    SPLITS,
)
from .retrained import IDEAS

# The gains that were aimed at, on the first half.
GOALS = dict(zip(DETECTORS, (0.15, 0.10, 0.08, 0.10, 0.02, 0.058, 0.024), strict=True))
LARGE_LOSS = 0.05
SMALL_LOSS = 0.02
AGREEMENT_EDGES = (-1.0, 0.25, 0.5, 0.7, 1.0)

# A part of RelaxedCTAD: candidates without it, and what replaces it there.
PARTS = {
    "up to 200 centroids": {"K up to 100": "up to 100", "K up to 30": "up to 30"},
    "unscaled and min-max": {
        "unscaled": "unscaled columns",
        "standardised": "standardised columns",
        "min-max": "columns scaled to [0, 1]",
    },
    "random columns": {"all columns": "all columns"},
    "four draws": {"2 draws": "two"},
    "weight 2": {"weight 1": "weight 1"},
    "median and quartiles": {"mean and standard deviation": "mean and standard deviation"},
    "leave-one-out training terms": {"in-sample terms, weight 2": "in-sample terms"},
}


def gains_by_detector(gains: Gains) -> list[str]:
    """What calibration adds to each detector."""
    heads = ["detector", "split", "data sets", "AUC-PR", "gain", "p", "wins", "goal"]
    heads += ["constant on", "gain elsewhere", "gain of RelaxedCTAD", "gain of the nearest row"]
    rows = []
    for protocol, detector in _judged():
        plain, gain = gains.plain(protocol, detector), gains.of_choices(protocol, detector)
        rows.append(
            (
                *(detector, protocol, len(gain), f"{plain.base_auc_pr.mean():.3f}"),
                *(
                    f"**{gain.mean():+.3f}**",
                    format_p_value(p_value(gain), decimals=4),
                    (gain > 0).sum(),
                ),
                f"{GOALS[detector]:+.3f}" if protocol == FIRST_HALF.name else "> 0",
                *(plain.constant.sum(), f"{gain[~plain.constant].mean():+.3f}"),
                f"{gains.of_calibration(RECOMMENDED, protocol, detector).mean():+.3f}",
                f"{gains.of_calibration(BASELINE, protocol, detector).mean():+.3f}",
            )
        )
    return table(heads, rows)


def choices(gains: Gains) -> list[str]:
    """How often each candidate was chosen."""
    counts = Counter(gains.choices[group[0]] for group in left_out_groups(gains.datasets))
    chosen = ", ".join(f"{name} ({n})" for name, n in counts.most_common())
    return [
        f"Chosen when one of {sum(counts.values())} groups of data sets is left out: {chosen}.",
        f"Chosen on all data sets: {gains.choice_without(())}.",
    ]


def large_losses(gains: Gains) -> list[str]:
    """The data sets that lose much."""
    rows = []
    for protocol, detector in _judged():
        lost = (
            _large_losses(gains.of_choices(protocol, detector)),
            _large_losses(gains.of_calibration(RECOMMENDED, protocol, detector)),
        )
        if any(lost):
            rows.append((detector, protocol, *lost))
    heads = ("detector", "split", "chosen without the data set", "RelaxedCTAD")
    return table(heads, rows)


def _large_losses(gain: pd.Series) -> str:
    return ", ".join(f"{name} {gain[name]:+.2f}" for name in gain.index[gain < -LARGE_LOSS])


def baseline(gains: Gains) -> list[str]:
    """Mean AUC-PR of the classical detectors beside the baseline, which has no shuttle."""
    names = {
        FIRST_HALF: "first half, unscaled",
        FIRST_HALF_STANDARDISED: "first half, standardised",
        RANDOM_SPLIT: "random split, standardised",
    }
    rows = []
    for split, name in names.items():
        cells = gains.results.loc[split.name].drop("shuttle", level="dataset")
        means = cells.auc_pr.groupby(["calibration", "detector"]).mean().unstack("detector")
        means = means[list(CLASSICAL)].mean(axis=1)
        of_choices = ""
        if split in SPLITS:
            gained = [gains.of_choices(split.name, one).drop("shuttle").mean() for one in CLASSICAL]
            of_choices = f"{means['none'] + np.mean(gained):.4f}"
        shown = (f"{means[one]:.4f}" for one in ("none", BASELINE, RECOMMENDED))
        rows.append((name, *shown, of_choices))
    heads = ("split and columns", "detectors alone", "with the nearest training row")
    heads += ("with RelaxedCTAD", "chosen without the data set")
    return table(heads, rows)


def parts(gains: Gains) -> list[str]:
    """The mean gain that is lost if a part of RelaxedCTAD is replaced."""
    mean = gains.means(())
    rows = [
        (part, in_its_place, f"{mean[RECOMMENDED] - mean[name]:+.4f}")
        for part, replacements in PARTS.items()
        for name, in_its_place in replacements.items()
    ]
    lost = mean["unscaled"] - mean["unscaled, plain distance"]
    rows.append(("relative costs", "plain distances (with unscaled columns)", f"{lost:+.4f}"))
    return table(("part", "in its place", "gain lost"), rows)


def all_candidates(gains: Gains) -> list[str]:
    """Every candidate with its mean gains."""
    heads = ["candidate", *_heads(DETECTORS)]
    rows = []
    for subject, group in candidates().items():
        rows.append((f"*{subject}*", *[""] * (len(heads) - 1)))
        for one in group:
            name = f"**{one.name}**" if one.name == RECOMMENDED else one.name
            name += " (too slow)" if one.name in TOO_SLOW else ""
            rows.append((name, *_mean_gains(gains.of_calibration, one.name, DETECTORS)))
    return table(heads, rows)


def ideas(gains: Gains) -> list[str]:
    """The ideas that train a detector several times, beside RelaxedCTAD."""
    rows = [(RECOMMENDED, *_mean_gains(gains.of_calibration, RECOMMENDED, CLASSICAL))]
    rows += [(idea, *_mean_gains(gains.of_idea, idea, CLASSICAL)) for idea in IDEAS]
    return table(["idea", *_heads(CLASSICAL)], rows)


def gains_by_agreement(together: pd.DataFrame) -> list[str]:
    """The gain by agreement, given both for each case."""
    intervals = pd.cut(together.agreement, AGREEMENT_EDGES, include_lowest=True)
    rows = []
    for interval, cases in together.groupby(intervals, observed=True):
        gain = cases.gain
        rows.append(
            (
                f"{max(interval.left, -1):.2f} to {interval.right:.2f}",
                len(cases),
                *(f"{gain.mean():+.3f}", f"{gain.median():+.3f}"),
                *(f"{(gain > 0).mean():.0%}", f"{(gain < -SMALL_LOSS).mean():.0%}"),
            )
        )
    heads = ("agreement on training rows", "cases", "mean gain", "median", "wins")
    return table((*heads, f"lose over {SMALL_LOSS}"), rows)


def _judged() -> list[tuple[str, str]]:
    return [(split.name, detector) for split in SPLITS for detector in DETECTORS]


def _heads(detectors: tuple[str, ...]) -> list[str]:
    splits = [split.name for split in SPLITS]
    return splits + [f"{detector}, {split}" for split in splits for detector in detectors]


def _mean_gains(
    gain_of: Callable[[str, str, str], pd.Series], name: str, detectors: tuple[str, ...]
) -> list[str]:
    """The mean over detectors for both splits, then each mean."""
    each = [[gain_of(name, split.name, one).mean() for one in detectors] for split in SPLITS]
    return [f"{np.mean(one):+.4f}" for one in each] + [f"{v:+.3f}" for one in each for v in one]
