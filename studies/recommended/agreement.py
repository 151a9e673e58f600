"""How much score and term agree on training rows, and what that says about the gain."""

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits
from tqdm.auto import tqdm

from ctad import RelaxedCTAD
from ctad.evaluation import Contestant, Source, Store, detector_scores

from .plan import CLASSICAL, SPLITS, has_enough_anomalies


@dataclass(frozen=True)
class Case:
    """A detector on a data set."""

    dataset: str
    detector: str
    protocol: str


@dataclass(frozen=True)
class Agreement:
    """Spearman's correlation of score and term; None if the score is infinite everywhere."""

    agreement: float | None


def agreement_store(folder: Path) -> Store[Case, Agreement]:
    """The results in a folder."""
    return Store(folder, "agreement", Case, Agreement)


def measure_agreement(
    datasets: Iterable[str],
    source: Source,
    folder: Path,
    scores_folder: Path,
    detectors: Iterable[str] = CLASSICAL,
) -> None:
    """Measure the missing cases, with the first seed."""
    store = agreement_store(folder)
    known = store.rows()
    missing = [
        (Case(dataset, detector, split.name), split)
        for dataset in datasets
        for detector in detectors
        for split in SPLITS
        if split.training_anomalies == 0 or has_enough_anomalies(dataset, split.training_anomalies)
        if Case(dataset, detector, split.name) not in known
    ]
    with store.writing() as add, threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for case, protocol in tqdm(
            missing, "Agreement of score and term", leave=False, disable=None
        ):
            dataset = source.load(case.dataset)
            split = protocol.split(dataset, 0)
            detector = Contestant(case.detector)
            found = detector_scores(detector, dataset, protocol, 0, split, scores_folder)
            scores = found.scores.train
            agreement = None
            if np.isfinite(scores).any():
                calibrator = RelaxedCTAD(random_state=0).fit(split.train, scores=scores)
                if not np.isnan(calibrator.agreement_):
                    agreement = round(calibrator.agreement_, 4)
            add([(case, Agreement(agreement))])
    store.compact()
