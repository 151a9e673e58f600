"""The tables of docs/fidelity.md, as lines of Markdown."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import pandas as pd
from scipy.stats import wilcoxon

from ctad.datasets import KNOWN_DATASETS
from ctad.detectors import known_detector
from ctad.evaluation import NO_CALIBRATION, Results

from ..markdown import table
from ..paper.printed_numbers import METRICS, ROUNDING, SAME, comparison
from ..paper.protocol import FIRST_HALF
from ..paper.published_settings import published_settings
from .settings import (
    CHANGES,
    N_SMALL,
    SEEDS,
    SEEDS_OF_CHANGES,
    SEEDS_OF_DEFAULTS,
    SLOWER_MCM,
    name_in_results,
)

DETECTORS = (
    *("OCSVM", "KNN", "PCA", "IForest", "ECOD", "DeepSVDD", "AutoEncoder"),
    *("DTE", "DRL", "GOAD", "NeuTraLAD", "MCM", "ICL"),
)


@dataclass(frozen=True, eq=False)
class Runs:
    """All runs of detectors without calibration on the first half.

    Attributes
    ----------
    cells : pandas.DataFrame
        dataset, detector (the name in results), seed, metrics, error.
    """

    cells: pd.DataFrame

    @classmethod
    def of(cls, *folders: Path) -> "Runs":
        """The runs in folders of results."""
        cells = pd.concat(Results(folder).cells.frame() for folder in folders)
        wanted = (cells.protocol == FIRST_HALF.name) & (cells.calibration == NO_CALIBRATION.name)
        return cls(cells[wanted])

    @property
    def datasets(self) -> list[str]:
        """From the smallest to the largest."""
        return sorted(set(self.cells.dataset), key=lambda name: KNOWN_DATASETS[name].samples)

    def ranges(self, name: str, metric: str) -> pd.DataFrame:
        """Mean, minimum and maximum over the seeds of each data set, for one detector.

        `size` counts the runs and `count` those that did not fail; `complete`: all seeds are there.
        """
        over_seeds = self._over_seeds[metric]
        found = over_seeds[over_seeds.index.get_level_values("detector") == name]
        found = found.droplevel("detector").dropna(subset="mean")
        wanted = seeds_wanted(name) if is_random(name) else 1
        return found.assign(complete=found["size"] >= wanted)

    @cached_property
    def _over_seeds(self) -> dict[str, pd.DataFrame]:
        groups = self.cells.groupby(["detector", "dataset"])
        return {
            metric: groups[metric].agg(["mean", "min", "max", "count", "size"])
            for metric in METRICS
        }

    def auc_pr(self, name: str) -> pd.Series:
        """AUC-PR by data set and seed."""
        own = self.cells[self.cells.detector == name]
        return own.set_index(["dataset", "seed"])["auc_pr"]

    def is_measured(self, name: str) -> bool:
        return bool(len(self.ranges(name, "auc_pr")))


def seeds_wanted(name: str) -> int:
    """How many runs of a detector a range needs."""
    detector = name.split()[0]
    if name == name_in_results(detector):
        return max(SEEDS_OF_DEFAULTS[detector], SEEDS_OF_CHANGES)
    return len(SEEDS)


def is_random(name: str) -> bool:
    """Whether scores depend on the seed."""
    return "random_state" in known_detector(name.split()[0]).parameters


def settings_of(detector: str) -> dict[str, str]:
    """The names in results by setting; "both" if published settings and defaults are the same."""
    if detector in SEEDS_OF_DEFAULTS:
        return {"published": detector, "defaults": name_in_results(detector)}
    return {"both": detector}


printed_numbers = cache(comparison)


def position(ranges: pd.DataFrame, printed: pd.Series) -> pd.Series:
    """Whether a printed number is inside, below or above our range; empty if seeds are missing."""
    side = pd.Series("inside", index=ranges.index)
    side[printed < ranges["min"] - SAME - ROUNDING] = "below"
    side[printed > ranges["max"] + SAME + ROUNDING] = "above"
    return side.where(ranges["complete"], "")


def summary(runs: Runs) -> list[str]:
    """A row per detector and setting: means over the data sets that were measured."""
    heads = ["detector", "setting", "seeds", "AUC-PR: paper", "ours", "best seeds"]
    heads += [f"{N_SMALL} small: paper", "ours", "printed below, inside, above"]
    heads += ["AUC-ROC: paper", "ours"]
    rows = [
        (detector, *_summary(runs, detector, setting, name))
        for detector in DETECTORS
        for setting, name in settings_of(detector).items()
        if runs.is_measured(name)
    ]
    return table(heads, rows)


def _summary(runs: Runs, detector: str, setting: str, name: str) -> Iterator[str]:
    found = runs.ranges(name, "auc_pr")
    datasets = [dataset for dataset in runs.datasets if dataset in found.index]
    small = [dataset for dataset in runs.datasets[:N_SMALL] if dataset in found.index]

    def paper_and_ours(metric: str, chosen: list[str]) -> list[str]:
        ours = runs.ranges(name, metric)["mean"]
        printed = printed_numbers(metric)[detector]
        return [f"{numbers[chosen].mean():.3f}" for numbers in (printed, ours)]

    is_complete = found.complete.all()
    yield setting if len(datasets) == len(runs.datasets) else f"{setting}, unfinished"
    n_seeds = found["size"] if is_random(name) else pd.Series([1])
    yield "-".join(map(str, sorted({n_seeds.min(), n_seeds.max()})))
    yield from paper_and_ours("auc_pr", datasets)
    yield f"{found['max'].mean():.3f}" if is_complete else ""
    yield from paper_and_ours("auc_pr", small)
    counts = position(found, printed_numbers("auc_pr")[detector][found.index]).value_counts()
    sides = ", ".join(str(counts.get(side, 0)) for side in ("below", "inside", "above"))
    yield sides if is_complete else ""
    yield from paper_and_ours("auc_roc", datasets)


def changed_options(runs: Runs) -> list[str]:
    """What changing an option does, over the data sets and seeds that both sides have."""
    heads = ["detector", "changed", "data sets", "seeds", "AUC-PR before", "after"]
    heads += ["better / worse on", "p"]
    return table(heads, _changed_options(runs))


def _changed_options(runs: Runs) -> Iterator[list[str]]:
    for detector, changes in CHANGES.items():
        before = runs.auc_pr(settings_of(detector).get("defaults", detector))
        after = [runs.auc_pr(name_in_results(detector, change)) for change in changes]
        for change, found in zip(changes, after, strict=True):
            option = ", ".join(f"`{key}={value!r}`" for key, value in change.items())
            yield from compare(detector, option, before, found)
        if detector == "DRL":
            option = "on each data set the best of these **by test labels**"
            for seeds, best in best_by_labels([before, *after]).items():
                yield from compare(detector, f"{option} {seeds}", before, best, tested=False)
    slower = {
        scaling: runs.auc_pr(name_in_results("MCM", change))
        for scaling, change in SLOWER_MCM.items()
    }
    with_published_scaling = pd.concat(
        found[found.index.get_level_values("dataset").map(published_scaling) == scaling]
        for scaling, found in slower.items()
    )
    option = "published, but `learning_rate=0.005` and shuffled"
    yield from compare("MCM", option, runs.auc_pr("MCM"), with_published_scaling)


def best_by_labels(settings: list[pd.Series]) -> dict[str, pd.Series]:
    """Runs of the setting that does best on their data set, over all seeds or the other ones."""
    runs = pd.concat(settings, axis=1, keys=range(len(settings))).dropna()
    total = runs.groupby("dataset").transform("sum")
    judged_by = {"of the same seeds": total, "of the other seeds": total - runs}
    return {
        seeds: pd.Series(
            runs.to_numpy()[range(len(runs)), judged.to_numpy().argmax(axis=1)], runs.index
        )
        for seeds, judged in judged_by.items()
    }


def published_scaling(dataset: str) -> str:
    """How MCM's authors scaled the columns."""
    return published_settings("MCM", dataset).get("scaling", "standard")


def compare(
    detector: str, option: str, before: pd.Series, after: pd.Series, *, tested: bool = True
) -> Iterator[list[str]]:
    """A row of the table, if there are runs of both. A choice by labels needs no test."""
    both = pd.DataFrame({"before": before, "after": after}).dropna()
    if len(both):
        counts = [both.index.get_level_values(level).nunique() for level in both.index.names]
        gain = (both["after"] - both["before"]).groupby("dataset").mean()
        yield [
            *(detector, option, *counts, *(f"{mean:.4f}" for mean in both.mean())),
            f"{(gain > 0).sum()} / {(gain < 0).sum()}",
            f"{wilcoxon(gain).pvalue:.2g}" if tested and gain.any() else "",
        ]


def all_datasets(runs: Runs, detector: str) -> list[str]:
    """One detector on every data set."""
    settings = settings_of(detector)
    columns = {}
    for metric, name_of_metric in METRICS.items():
        ranges = [runs.ranges(name, metric) for name in settings.values()]
        datasets = ranges[0].index
        printed = printed_numbers(metric)[detector][datasets]
        columns[f"{name_of_metric}: paper"] = [f"{number:.4f}" for number in printed]
        for setting, found in zip(settings, ranges, strict=True):
            shown = [mean_and_range(found, dataset) for dataset in datasets]
            columns[f"{name_of_metric}: {setting}"] = shown
        columns[f"{name_of_metric}: paper is"] = position(ranges[0], printed)
    return table(["data set", *columns], zip(datasets, *columns.values(), strict=True))


def mean_and_range(ranges: pd.DataFrame, dataset: str) -> str:
    """The mean and the range over the seeds."""
    if dataset not in ranges.index:
        return "not yet"
    ours = ranges.loc[dataset]
    n_failed = int(ours["size"] - ours["count"])
    failed = f", {n_failed} failed" if n_failed else ""
    if ours["min"] == ours["max"]:
        return f"{ours['mean']:.4f}{failed}"
    return f"{ours['mean']:.3f} ({ours['min']:.3f} to {ours['max']:.3f}){failed}"
