"""The study behind the preset "recommended": `make recommended`.

Hours the first time, for it needs the detectors' scores of `make paper`; resumable. Results are
added to recommended/ beside this file; docs/recommended.md is made of them.
"""

import argparse
import os
from pathlib import Path

from variants import variants

from ctad._progress import progress_bar
from ctad.benchmark import NONE, Contestant, Entry, Plan, Source, run
from ctad.datasets import find_datasets

RESULTS = Path(__file__).parent / "recommended"
SCORES = RESULTS.parents[1] / "results" / "scores"
DETECTORS = ("OCSVM", "PCA", "IForest", "ECOD", "KNN", "MCM", "DRL")
PROTOCOLS = ("published", "honest")
SEEDS = (0, 1, 2)


def plan(datasets, detectors=DETECTORS, protocols=PROTOCOLS, seeds=SEEDS) -> Plan:
    """Every detector with every variant."""
    calibrations = (NONE, *(one for group in variants().values() for one in group))
    return Plan(
        tuple(datasets),
        tuple(
            Entry(protocol, Contestant(detector), calibrations, tuple(seeds))
            for protocol in protocols
            for detector in detectors
        ),
        slow_apart=False,
    )


def main() -> None:
    """Run what is missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=os.environ.get("CTAD_DATA_DIR"))
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--scores", type=Path, default=SCORES)
    parser.add_argument("--detector", nargs="+", default=DETECTORS)
    parser.add_argument("--protocol", nargs="+", default=PROTOCOLS)
    parser.add_argument("--seeds", nargs="+", type=int, default=SEEDS)
    parser.add_argument("--dataset", nargs="+")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    if arguments.data is None:
        parser.error("say where the data sets are: --data FOLDER or CTAD_DATA_DIR")
    names = arguments.dataset or find_datasets(arguments.data)
    with progress_bar(True):
        run(
            plan(names, arguments.detector, arguments.protocol, arguments.seeds),
            arguments.results,
            Source(arguments.data),
            n_jobs=arguments.jobs,
            scores=arguments.scores,
        )


if __name__ == "__main__":
    main()
