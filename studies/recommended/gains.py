"""Gains of the calibrations, and the choice of one without the data set it is judged on."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd
from scipy import stats

from ctad.evaluation import NO_CALIBRATION, Results

from .candidates import NEEDS_BATCH, NOT_CHOSEN, TOO_SLOW, candidates
from .plan import CLASSICAL, ONE_SEED, SPLITS

# Data sets from the same measurements are left out together.
RELATED = (
    ("satellite", "satimage-2"),
    ("cardio", "cardiotocography"),
    ("wbc", "wdbc"),
    ("thyroid", "annthyroid"),
)
METRICS = ("auc_pr", "auc_roc")
WITH_AND_WITHOUT = [*METRICS, *(f"base_{one}" for one in METRICS)]
KEYS = ["protocol", "detector", "dataset", "calibration"]


@dataclass(frozen=True, eq=False)
class Gains:
    """Means over seeds.

    Attributes
    ----------
    results : pandas.DataFrame
        AUC-PR and AUC-ROC (`auc_pr`, `auc_roc`), and those of the detector alone with the same
        seeds (`base_auc_pr`, `base_auc_roc`), by protocol, detector, dataset and calibration.
    """

    results: pd.DataFrame

    @classmethod
    def of(cls, folder: Path) -> "Gains":
        """The gains in a folder of results."""
        groups = with_all_seeds(folder).groupby(KEYS)
        return cls(groups[WITH_AND_WITHOUT].mean())

    def gain(self, metric: str = "auc_pr") -> pd.DataFrame:
        """The gain of each calibration (columns) by protocol, detector and dataset."""
        gain = self.results[metric] - self.results[f"base_{metric}"]
        return gain.unstack("calibration")

    def mean_gain(self, calibration: str, protocol: str, metric: str = "auc_pr") -> float:
        """The gain of one calibration: the mean over data sets, then over classical detectors."""
        gain = self.gain(metric)[calibration].loc[protocol].groupby("detector").mean()
        return float(gain.loc[list(CLASSICAL)].mean())

    @cached_property
    def table(self) -> pd.DataFrame:
        """The gain in AUC-PR of each calibration by protocol, classical detector and dataset."""
        return self.gain().loc[pd.IndexSlice[:, list(CLASSICAL), :], :].sort_index()

    @property
    def datasets(self) -> list[str]:
        return list(self.table.index.unique("dataset"))

    def of_calibration(self, name: str, protocol: str, detector: str) -> pd.Series:
        """The gain of one calibration on each data set."""
        return self.gain().loc[(protocol, detector), name].dropna()

    def alone(self, protocol: str, metric: str = "auc_pr") -> pd.Series:
        """The classical detectors alone: the mean over data sets of each."""
        return self.of_name(NO_CALIBRATION.name, protocol, metric)

    def of_name(self, calibration: str, protocol: str, metric: str = "auc_pr") -> pd.Series:
        """A metric with a calibration: the mean over data sets for each classical detector."""
        values = self.results[metric].xs(calibration, level="calibration").loc[protocol]
        return values.groupby("detector").mean().loc[list(CLASSICAL)]

    def means(self, left_out: Iterable[str] = ()) -> pd.Series:
        """The mean gain of each calibration over all data sets but these: over data sets, then
        detectors, then protocols."""
        used = self.table[~self.table.index.get_level_values("dataset").isin([*left_out])]
        each = used.groupby(["protocol", "detector"]).mean().groupby("protocol").mean()
        return each.loc[[split.name for split in SPLITS]].mean()

    def choice_without(self, left_out: Iterable[str]) -> str:
        """The calibration with the largest mean gain over all data sets but these."""
        return str(self.means(left_out)[choosable()].idxmax())

    @cached_property
    def choices(self) -> dict[str, str]:
        """The calibration that is chosen for each data set, without it."""
        return {
            dataset: choice
            for group in left_out_groups(self.datasets)
            for choice in [self.choice_without(group)]
            for dataset in group
        }

    def of_choices(self, protocol: str, detector: str) -> pd.Series:
        """The gain on each data set of the calibration that was chosen without it."""
        table = self.table.loc[(protocol, detector)]
        return pd.Series({name: table.loc[name, self.choices[name]] for name in table.index})


def with_all_seeds(folder: Path) -> pd.DataFrame:
    """The results in a folder, if all calibrations that are compared have the same seeds."""
    cells = Results(folder).cells.frame()
    compared = cells[~cells["calibration"].isin(ONE_SEED)]
    seeds = compared.groupby(KEYS).size().groupby(KEYS[:-1])
    if (seeds.min() < seeds.max()).any():
        raise SystemExit("not all calibrations have the same seeds yet: run the study again")
    return cells


def choosable() -> list[str]:
    """The names of the calibrations among which one is chosen."""
    return [
        one.name
        for subject, group in candidates().items()
        if subject != NOT_CHOSEN
        for one in group
        if one.name not in (*TOO_SLOW, *NEEDS_BATCH)
    ]


def left_out_groups(datasets: Iterable[str]) -> list[tuple[str, ...]]:
    """The data sets one by one; related ones together."""
    alone = [(name,) for name in datasets if not any(name in group for group in RELATED)]
    return [*alone, *RELATED]


def p_value(gain: pd.Series) -> float:
    """One-tailed paired t-test over data sets."""
    return float(stats.ttest_1samp(gain, 0, alternative="greater").pvalue)
