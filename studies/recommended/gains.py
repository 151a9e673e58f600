"""Gains of the calibrations, and the choice of one without the data set it is judged on."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd
from scipy import stats

from ctad.evaluation import NO_CALIBRATION, Results
from ctad.evaluation.report import Measurements

from .candidates import NOT_CHOSEN, TOO_SLOW, candidates
from .plan import DETECTORS, SPLITS
from .retrained import name_in_results

# Data sets from the same measurements are left out together.
RELATED = (
    ("satellite", "satimage-2"),
    ("cardio", "cardiotocography"),
    ("wbc", "wdbc"),
    ("thyroid", "annthyroid"),
)


@dataclass(frozen=True, eq=False)
class Gains:
    """Means over seeds.

    Attributes
    ----------
    results : pandas.DataFrame
        AUC-PR with and without calibration (`auc_pr`, `base_auc_pr`), and whether the detector
        gave all rows the same score (`constant`), by protocol, detector, dataset and calibration.
    """

    results: pd.DataFrame

    @classmethod
    def of(cls, folder: Path) -> "Gains":
        """The gains in a folder of results."""
        measurements = Measurements(Results(folder))
        cells = measurements.cells
        constant = measurements.has_constant_score(cells.set_index("dataset")).to_numpy()
        keys = ["protocol", "detector", "dataset", "calibration"]
        groups = cells.assign(constant=constant).groupby(keys)
        seeds = groups.size().groupby(keys[:-1])
        if (seeds.min() < seeds.max()).any():
            raise SystemExit("not all calibrations have the same seeds yet: run the study again")
        means = groups[["auc_pr", "base_auc_pr"]].mean()
        return cls(means.assign(constant=groups.constant.any()))

    @cached_property
    def table(self) -> pd.DataFrame:
        """The gain of each calibration (columns) by protocol, detector and dataset."""
        return (self.results.auc_pr - self.results.base_auc_pr).unstack("calibration")

    @property
    def datasets(self) -> list[str]:
        return list(self.table.index.unique("dataset"))

    def of_calibration(self, name: str, protocol: str, detector: str) -> pd.Series:
        """The gain of one calibration on each data set."""
        return self.table.loc[(protocol, detector), name]

    def of_idea(self, idea: str, protocol: str, detector: str) -> pd.Series:
        """The gain of an idea that trains the detector several times, on each data set."""
        # Its scores are calibrated already.
        with_idea = name_in_results(detector, idea)
        return self.plain(protocol, with_idea).auc_pr - self.plain(protocol, detector).auc_pr

    def plain(self, protocol: str, detector: str) -> pd.DataFrame:
        """Results of the detector alone on each data set."""
        rows = self.results.loc[(protocol, detector)]
        return rows.xs(NO_CALIBRATION.name, level="calibration")

    def mean(self, name: str) -> float:
        """The mean gain of a calibration over data sets, then over detectors and both splits."""
        return float(self.means(())[name])

    def means(self, left_out: Iterable[str]) -> pd.Series:
        """The mean gain of each calibration over all data sets but these."""
        judged = self.table.loc[pd.IndexSlice[[split.name for split in SPLITS], [*DETECTORS], :], :]
        used = judged[~judged.index.get_level_values("dataset").isin([*left_out])]
        return used.groupby(["protocol", "detector"]).mean().mean()

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


def choosable() -> list[str]:
    """The names of the calibrations among which one is chosen."""
    return [
        one.name
        for subject, group in candidates().items()
        if subject != NOT_CHOSEN
        for one in group
        if one.name not in TOO_SLOW
    ]


def left_out_groups(datasets: Iterable[str]) -> list[tuple[str, ...]]:
    """The data sets one by one; related ones together."""
    alone = [(name,) for name in datasets if not any(name in group for group in RELATED)]
    return [*alone, *RELATED]


def p_value(gain: pd.Series) -> float:
    """One-tailed paired t-test over data sets."""
    return float(stats.ttest_1samp(gain, 0, alternative="greater").pvalue)
