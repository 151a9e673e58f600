"""Networks with one setting for all data sets, and with one option changed: `make fidelity`.

The runs with published settings are those of `make paper`, in results/. These are added to
results/ beside this file: stopped and started again, only what is missing is run. The page made of
both is docs/fidelity.md.
"""

import argparse
import os
from pathlib import Path
from typing import Any

from ctad._progress import progress_bar
from ctad.datasets import find_datasets, load_dataset
from ctad.detectors import make
from ctad.evaluation import NONE, Contestant, Entry, Plan, Source, run

RESULTS = Path(__file__).parent / "results"
PUBLISHED = RESULTS.parents[1] / "results"
SEEDS = (0, 1, 2, 3, 4)

# One setting for all data sets: the defaults. Those of the others are the published ones. The slow
# ones have fewer seeds.
FIXED = {"DRL": 5, "GOAD": 5, "NeuTraLAD": 5, "MCM": 3, "ICL": 3}
# What MCM's learning rate is blamed for, by the scaling of its columns.
SLOWER_MCM: dict[str, dict[str, Any]] = {
    "standard": {"learning_rate": 0.005},
    "none": {"learning_rate": 0.005, "scaling": "none"},
}
# What else was tried, one option changed each: with fewer seeds, and on the smallest data sets only
# where training is slow.
VARIANTS: dict[str, tuple[dict[str, Any], ...]] = {
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
    "ICL": ({"batch_size": 3000, "max_steps": None},),  # as its authors have it
}
VARIANT_SEEDS = 3
SMALLER = 22
SMALLEST = {"DRL": None, "MCM": SMALLER, "DTE": SMALLER, "NeuTraLAD": SMALLER, "ICL": 10}


def named(detector: str, change: dict[str, Any] | None = None) -> str:
    """What the results call a detector with the fixed setting, or with an option changed."""
    return f"{detector} fixed" + "".join(
        f", {name}={value!r}" for name, value in (change or {}).items()
    )


def plans(
    datasets: tuple[str, ...], detectors: tuple[str, ...], seeds: tuple[int, ...]
) -> list[Plan]:
    """What to run, given the data sets, the smallest first."""

    def first(n: int) -> tuple[int, ...]:
        return tuple(seed for seed in SEEDS[:n] if seed in seeds)

    fixed = [
        Entry("published", Contestant(named(name), make(name)), (NONE,), first(n))
        for name, n in FIXED.items()
        if name in detectors
    ]
    changed = {
        name: tuple(
            Entry(
                "published",
                Contestant(named(name, change), make(name, **change)),
                (NONE,),
                first(VARIANT_SEEDS),
            )
            for change in changes
        )
        for name, changes in VARIANTS.items()
        if name in detectors
    }
    return [
        Plan(datasets, tuple(fixed)),
        *(Plan(datasets[: SMALLEST[name]], entries) for name, entries in changed.items()),
    ]


def main() -> None:
    """Run what is missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=os.environ.get("CTAD_DATA_DIR"))
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--detector", nargs="+", default=tuple({**FIXED, **VARIANTS}))
    parser.add_argument("--seeds", nargs="+", type=int, default=SEEDS)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    if arguments.data is None:
        parser.error("say where the data sets are: --data FOLDER or CTAD_DATA_DIR")
    rows = {
        name: len(load_dataset(name, arguments.data).y) for name in find_datasets(arguments.data)
    }
    smallest_first = tuple(sorted(rows, key=rows.__getitem__))
    for plan in plans(smallest_first, tuple(arguments.detector), tuple(arguments.seeds)):
        with progress_bar(True):
            run(plan, arguments.results, Source(arguments.data), n_jobs=arguments.jobs)


if __name__ == "__main__":
    main()
