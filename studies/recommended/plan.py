"""What is measured: detectors, splits, seeds and calibrations."""

from collections.abc import Iterable
from dataclasses import replace

from ctad.evaluation import (
    NO_CALIBRATION,
    RANDOM_SPLIT,
    Calibration,
    Contestant,
    Entry,
    Plan,
    Protocol,
    add_by_training,
)

from ..paper.protocol import FIRST_HALF
from ..paper.published_settings import with_published_settings
from . import retrained
from .candidates import BASELINE, RECOMMENDED, candidates

CLASSICAL = ("OCSVM", "PCA", "IForest", "ECOD", "KNN")
DETECTORS = (*CLASSICAL, "MCM", "DRL")
SEEDS = (0, 1, 2)
# The baseline was measured in this way elsewhere.
FIRST_HALF_STANDARDISED = replace(
    FIRST_HALF,
    name="first half, standardised",
    description="the first half of the normal rows for training, features standardised by them",
    standardised=True,
    add=add_by_training,
)
# Calibrations are chosen and judged on both splits.
SPLITS = (FIRST_HALF, RANDOM_SPLIT)


def plans(datasets: Iterable[str]) -> list[Plan]:
    """A plan per split, because networks have published settings on the first half only."""
    names = tuple(datasets)
    tried = {one.name: one for group in candidates().values() for one in group}
    standardised = [
        _entry(FIRST_HALF_STANDARDISED, Contestant(detector), tried[BASELINE], tried[RECOMMENDED])
        for detector in CLASSICAL
    ]
    return [
        Plan(names, tuple(entries), slow_apart=False)
        for entries in (*(_entries(split, tried.values()) for split in SPLITS), standardised)
    ]


def contestant(detector: str, split: Protocol) -> Contestant:
    """A detector as it is measured on a split."""
    return with_published_settings(detector) if split is FIRST_HALF else Contestant(detector)


def _entries(split: Protocol, tried: Iterable[Calibration]) -> list[Entry]:
    """Every detector with every calibration, and the ideas that train detectors several times."""
    entries = [_entry(split, contestant(detector, split), *tried) for detector in DETECTORS]
    return entries + [_entry(split, one) for one in retrained.contestants(CLASSICAL)]


def _entry(split: Protocol, contestant: Contestant, *calibrations: Calibration) -> Entry:
    return Entry(split, contestant, (NO_CALIBRATION, *calibrations), SEEDS)
