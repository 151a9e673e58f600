"""The study behind the preset "recommended": `make recommended`.

Hours the first time, for it needs the detectors' scores of `make paper`; resumable. Results are
added to recommended/ beside this file; docs/recommended.md is made of them.
"""

import argparse
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from retrained import contestants
from variants import CHOSEN, RIVAL, variants

from ctad import RelaxedCTAD
from ctad._progress import progress, progress_bar
from ctad.datasets import find_datasets
from ctad.evaluation import NONE, PROTOCOLS, Contestant, Entry, Plan, Results, Source, run
from ctad.evaluation._quiet import alone_and_quiet
from ctad.evaluation._scores import detector_scores

RESULTS = Path(__file__).parent / "recommended"
SCORES = RESULTS.parents[1] / "results" / "scores"
DETECTORS = ("OCSVM", "PCA", "IForest", "ECOD", "KNN", "MCM", "DRL")
SEEDS = (0, 1, 2)
CLASSICAL = DETECTORS[:5]
# How the rival was measured: the published split, of standardised columns.
STANDARDISED = PROTOCOLS["published"]._replace(
    name="published, standardised", standardised=True, add=PROTOCOLS["honest"].add
)
PROTOCOLS[STANDARDISED.name] = STANDARDISED
JUDGED = ("published", "honest")
AGREEING = ("dataset", "detector", "protocol")  # what agreement.csv has a row for each of


def plan(datasets, detectors=DETECTORS, protocols=JUDGED, seeds=SEEDS) -> Plan:
    """Every detector with every variant; the rival's own measure; ideas that take more training."""
    tried = {one.name: one for group in variants().values() for one in group}
    few = tuple(tried[name] for name in (RIVAL, CHOSEN))
    entries = [
        Entry(protocol, Contestant(detector), (NONE, *tried.values()), tuple(seeds))
        for protocol in protocols
        for detector in detectors
    ]
    entries += [
        Entry(STANDARDISED.name, Contestant(detector), (NONE, *few), tuple(seeds))
        for detector in CLASSICAL
        if detector in detectors
    ]
    entries += [
        Entry(protocol, contestant, (NONE,), tuple(seeds))
        for protocol in protocols
        for contestant in contestants(name for name in CLASSICAL if name in detectors)
    ]
    return Plan(tuple(datasets), tuple(entries), slow_apart=False)


def agreements(
    results: Results, known: pd.DataFrame, source: Source, scores: Path
) -> Iterator[dict]:
    """How alike score and term of the preset rank training rows, where it is not known yet."""
    done = set(known[list(AGREEING)].itertuples(index=False, name=None))
    missing = [
        cell
        for cell in results.cells.rows()
        if cell.calibration == NONE.name and cell.protocol in JUDGED and cell.seed == 0
        if cell.detector in DETECTORS
        if tuple(getattr(cell, name) for name in AGREEING) not in done
    ]
    for number, cell in enumerate(missing):
        progress("Comparing training rows", number, len(missing))
        dataset, protocol = source.load(cell.dataset), PROTOCOLS[cell.protocol]
        split = protocol.split(dataset, 0)
        base = detector_scores(Contestant(cell.detector), dataset, protocol, 0, split, scores)
        train = base.scores.train
        agreement = np.nan
        if np.isfinite(train).any():
            calibrator = RelaxedCTAD(random_state=0).fit(split.train, scores=train)
            agreement = round(calibrator.agreement_, 4)
        yield {name: getattr(cell, name) for name in AGREEING} | {"agreement": agreement}


def main() -> None:
    """Run what is missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=os.environ.get("CTAD_DATA_DIR"))
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--scores", type=Path, default=SCORES)
    parser.add_argument("--detector", nargs="+", default=DETECTORS)
    parser.add_argument("--protocol", nargs="+", default=JUDGED)
    parser.add_argument("--seeds", nargs="+", type=int, default=SEEDS)
    parser.add_argument("--dataset", nargs="+")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    if arguments.data is None:
        parser.error("say where the data sets are: --data FOLDER or CTAD_DATA_DIR")
    source = Source(arguments.data)
    names = arguments.dataset or find_datasets(arguments.data)
    planned = plan(names, arguments.detector, arguments.protocol, arguments.seeds)
    with progress_bar(True):
        results = run(
            planned, arguments.results, source, n_jobs=arguments.jobs, scores=arguments.scores
        )
        with alone_and_quiet():
            file = arguments.results / "agreement.csv"
            known = pd.read_csv(file) if file.exists() else pd.DataFrame(columns=AGREEING)
            found = list(agreements(results, known, source, arguments.scores))
    if found:
        pd.concat([known, pd.DataFrame(found)]).to_csv(file, index=False)


if __name__ == "__main__":
    main()
