"""What anomalies among the training rows cost: today's default beside simple rivals."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from ctad import RelaxedCTAD
from ctad.calibration import NeighbourDistance
from ctad.datasets import known_dataset
from ctad.evaluation import (
    NO_CALIBRATION,
    RANDOM_SPLIT,
    Calibration,
    Contestant,
    Entry,
    Plan,
    Protocol,
    Results,
)

from ..markdown import table
from .candidates import RECOMMENDED
from .plan import CLASSICAL, SEEDS

FOLDER = "dirty"  # inside the folder of results
SHARES = (0.0, 0.01, 0.05, 0.1)
WEIGHT = RelaxedCTAD().weight


def _neighbours(name: str, n_neighbors: float) -> Calibration:
    rival = NeighbourDistance(n_neighbors, weight=WEIGHT, score_scaling="robust")
    return Calibration(name, rival)


CALIBRATIONS = (
    NO_CALIBRATION,
    Calibration(RECOMMENDED, RelaxedCTAD()),
    _neighbours("5 neighbours", 5),
    _neighbours("2 % of the rows", 0.02),
)


def protocol(share: float) -> Protocol:
    """The random split with this share of anomalies among the training rows."""
    return replace(
        RANDOM_SPLIT,
        name=f"random split, {share:.0%} anomalies",
        description=f"as on the random split, but {share:.0%} of the training rows are anomalies",
        training_anomalies=share,
    )


def has_enough_anomalies(name: str, share: float) -> bool:
    """Whether training gets an anomaly, and at most half of all."""
    known = known_dataset(name)
    n_training = (known.samples - known.anomalies) // 2
    n_replaced = round(share * n_training)
    return share == 0 or 1 <= n_replaced <= known.anomalies / 2


def plans(datasets: Iterable[str]) -> list[Plan]:
    """A plan per share, because fewer data sets have enough anomalies for larger ones."""
    names = tuple(datasets)
    return [
        Plan(
            tuple(name for name in names if has_enough_anomalies(name, share)),
            tuple(
                Entry(protocol(share), Contestant(detector), CALIBRATIONS, SEEDS)
                for detector in CLASSICAL
            ),
        )
        for share in SHARES
    ]


@dataclass(frozen=True, eq=False)
class DirtyGains:
    """Means over seeds.

    Attributes
    ----------
    results : pandas.DataFrame
        AUC-PR and AUC-ROC (`auc_pr`, `auc_roc`) by share, detector, dataset and calibration.
    """

    results: pd.DataFrame

    @classmethod
    def of(cls, folder: Path) -> "DirtyGains":
        """The gains in the folder of the study's results."""
        cells = Results(folder / FOLDER).cells.frame()
        shares = {protocol(share).name: share for share in SHARES}
        keys = ["share", "detector", "dataset", "calibration"]
        groups = cells.assign(share=cells.protocol.map(shares)).groupby(keys)
        return cls(groups[["auc_pr", "auc_roc"]].mean())

    def datasets(self, share: float) -> list[str]:
        """The data sets with enough anomalies for a share."""
        return list(self.results.loc[share].index.unique("dataset"))

    def mean(
        self, metric: str, share: float, calibration: str, datasets: Iterable[str]
    ) -> pd.Series:
        """The mean over data sets, for each detector."""
        values = self.results[metric].loc[share].xs(calibration, level="calibration")
        used = values[values.index.get_level_values("dataset").isin(list(datasets))]
        return used.groupby("detector").mean()


def lines(gains: DirtyGains) -> list[str]:
    """The tables of the page."""
    rivals = [calibration.name for calibration in CALIBRATIONS[1:]]
    all_shares = gains.datasets(SHARES[-1])
    means, by_detector = [], []
    for share in SHARES:
        for datasets in (gains.datasets(share), all_shares)[: 2 if share < SHARES[-1] else 1]:
            cells = [f"{share:.0%}", len(datasets)]
            for metric in ("auc_pr", "auc_roc"):
                alone = gains.mean(metric, share, NO_CALIBRATION.name, datasets)
                gained = [gains.mean(metric, share, one, datasets) - alone for one in rivals]
                cells += [f"{alone.mean():.3f}", *(f"{one.mean():+.3f}" for one in gained)]
            means.append(cells)
        alone = gains.mean("auc_pr", share, NO_CALIBRATION.name, gains.datasets(share))
        gain = gains.mean("auc_pr", share, RECOMMENDED, gains.datasets(share)) - alone
        by_detector.append((f"{share:.0%}", *(f"{gain[one]:+.3f}" for one in CLASSICAL)))
    heads = ["anomalies in training", "data sets"]
    for metric in ("AUC-PR", "AUC-ROC"):
        heads += [metric, "RelaxedCTAD", *rivals[1:]]
    return [
        *table(heads, means),
        *("", "Gain of RelaxedCTAD in AUC-PR by detector:", ""),
        *table(("anomalies in training", *CLASSICAL), by_detector),
    ]
