"""The runs: networks with default settings, and with one option changed.

Runs with published settings are those of `studies.paper`.
"""

from collections.abc import Iterable
from typing import Any

from ctad.detectors import make
from ctad.evaluation import NO_CALIBRATION, Contestant, Entry, Plan

from ..paper.protocol import FIRST_HALF

SEEDS = (0, 1, 2, 3, 4)

# Networks whose published settings are not the defaults. The slow ones have fewer seeds.
SEEDS_OF_DEFAULTS = {"DRL": 5, "GOAD": 5, "NeuTraLAD": 5, "MCM": 1, "ICL": 2}
# A tenth of MCM's learning rate, by the scaling of the columns.
SLOWER_MCM: dict[str, dict[str, Any]] = {
    "standard": {"learning_rate": 0.005},
    "none": {"learning_rate": 0.005, "scaling": "none"},
}
# Changes of the defaults.
CHANGES: dict[str, tuple[dict[str, Any], ...]] = {
    "DRL": (
        {"shuffle": False},
        {"learning_rate": 0.01},
        {"patience": 1000},  # the weights of the epoch with the smallest loss
        {"scaling": "none"},
        *({"epochs": epochs} for epochs in (1, 5, 20, 50)),
        *({"epochs": epochs, "scaling": "none"} for epochs in (1, 5, 20, 50)),
    ),
    "MCM": tuple(SLOWER_MCM.values()),
    "DTE": ({"scaling": "none"},),
    "NeuTraLAD": ({"scaling": "standard"},),
    "ICL": ({"batch_size": 3000, "max_steps": None},),  # as its authors do
}
SEEDS_OF_CHANGES = 3
N_SMALL = 22
# Slow networks are changed on the smallest data sets only.
N_DATASETS_OF_CHANGES = {
    "DRL": None,
    "MCM": N_SMALL,
    "DTE": N_SMALL,
    "NeuTraLAD": N_SMALL,
    "ICL": 10,
}
DETECTORS = tuple({**SEEDS_OF_DEFAULTS, **CHANGES})


def name_in_results(detector: str, change: dict[str, Any] | None = None) -> str:
    """The name in results of a detector with default settings, or with some of them changed."""
    changes = "".join(f", {name}={value!r}" for name, value in (change or {}).items())
    return f"{detector} defaults{changes}"


def plans(
    datasets: Iterable[str],
    detectors: Iterable[str] = DETECTORS,
    seeds: Iterable[int] = SEEDS,
) -> list[Plan]:
    """All runs on the data sets, which are ordered by size."""
    datasets, detectors, seeds = tuple(datasets), set(detectors), set(seeds)

    def entry(detector: str, change: dict[str, Any], n_seeds: int) -> Entry:
        contestant = Contestant(name_in_results(detector, change), make(detector, **change))
        wanted = tuple(seed for seed in SEEDS[:n_seeds] if seed in seeds)
        return Entry(FIRST_HALF, contestant, (NO_CALIBRATION,), wanted)

    defaults = tuple(
        entry(detector, {}, n_seeds)
        for detector, n_seeds in SEEDS_OF_DEFAULTS.items()
        if detector in detectors
    )
    changed = [
        Plan(
            datasets[: N_DATASETS_OF_CHANGES[detector]],
            tuple(entry(detector, change, SEEDS_OF_CHANGES) for change in changes),
        )
        for detector, changes in compared_settings().items()
        if detector in detectors
    ]
    return [Plan(datasets, defaults), *changed]


def compared_settings() -> dict[str, tuple[dict[str, Any], ...]]:
    """The changes, and the defaults they are compared with, which need the same seeds."""
    return {
        detector: (*([{}] if detector in SEEDS_OF_DEFAULTS else []), *changes)
        for detector, changes in CHANGES.items()
    }
