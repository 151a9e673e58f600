"""What is measured: detectors, splits, seeds and calibrations."""

from collections.abc import Iterable
from dataclasses import replace

from ctad.datasets import known_dataset
from ctad.evaluation import NO_CALIBRATION, RANDOM_SPLIT, Contestant, Entry, Plan, Protocol

from ..paper.protocol import FIRST_HALF
from ..paper.published_settings import with_published_settings
from .candidates import FIRST_EDITION, RECOMMENDED, UADB, candidates

CLASSICAL = ("OCSVM", "PCA", "IForest", "ECOD", "KNN")
SEEDS = (0, 1, 2)
NETWORKS = {"MCM": SEEDS[:1], "DRL": SEEDS}  # MCM trains for hours
ONE_SEED = (UADB,)  # so do its networks, thirty for each detector on each split
DIRTY_SHARES = (0.01, 0.05, 0.1)


def dirty(share: float) -> Protocol:
    """The random split with this share of anomalies among the training rows."""
    return replace(
        RANDOM_SPLIT,
        name=f"random split, {share:.0%} anomalies",
        description=f"as on the random split, but {share:.0%} of the training rows are anomalies",
        training_anomalies=share,
    )


# Calibrations are chosen and judged on all of them.
CLEAN = (FIRST_HALF, RANDOM_SPLIT)
DIRTY = tuple(dirty(share) for share in DIRTY_SHARES)
SPLITS = (*CLEAN, *DIRTY)


def has_enough_anomalies(name: str, share: float) -> bool:
    """Whether training gets an anomaly, and at most half of all."""
    known = known_dataset(name)
    return are_enough(known.samples, known.anomalies, share)


def are_enough(n_rows: int, n_anomalies: int, share: float) -> bool:
    """The same for a number of rows and of anomalies among them."""
    n_replaced = round(share * ((n_rows - n_anomalies) // 2))
    return share == 0 or 1 <= n_replaced <= n_anomalies / 2


def plans(datasets: Iterable[str]) -> list[Plan]:
    """A plan per split, because fewer data sets have enough anomalies for larger shares."""
    names = tuple(datasets)
    tried = [NO_CALIBRATION, *(one for group in candidates().values() for one in group)]
    by_seeds = {
        SEEDS: tuple(one for one in tried if one.name not in ONE_SEED),
        SEEDS[:1]: tuple(one for one in tried if one.name in ONE_SEED),
    }
    classical = [
        Plan(
            tuple(name for name in names if has_enough_anomalies(name, split.training_anomalies)),
            tuple(
                Entry(split, Contestant(one), calibrations, seeds)
                for one in CLASSICAL
                for seeds, calibrations in by_seeds.items()
            ),
            slow_apart=False,
        )
        for split in SPLITS
    ]
    return [*classical, networks(names)]


def networks(names: tuple[str, ...]) -> Plan:
    """Networks with published settings."""
    tried = {one.name: one for group in candidates().values() for one in group}
    calibrations = (NO_CALIBRATION, tried[RECOMMENDED], tried[FIRST_EDITION])
    return Plan(
        names,
        tuple(
            Entry(FIRST_HALF, with_published_settings(one), calibrations, seeds)
            for one, seeds in NETWORKS.items()
        ),
        slow_apart=False,
    )
