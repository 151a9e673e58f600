"""How much score and term agree on training rows, and what that says about the gain."""

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.stats import spearmanr
from threadpoolctl import threadpool_limits
from tqdm.auto import tqdm

from ctad import RelaxedCTAD
from ctad.evaluation import Contestant, Protocol, Source, Store, detector_scores

from .plan import CLASSICAL


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
    splits: Iterable[tuple[str, Protocol]],
    source: Source,
    folder: Path,
    scores_folder: Path,
    detectors: Iterable[str] = CLASSICAL,
) -> None:
    """Measure the missing cases of these splits of data sets, with the first seed."""
    store = agreement_store(folder)
    known = store.rows()
    missing = [
        (name, protocol)
        for name, protocol in splits
        if any(Case(name, one, protocol.name) not in known for one in detectors)
    ]
    with store.writing() as add, threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, protocol in tqdm(
            missing, "Agreement of score and term", leave=False, disable=None
        ):
            dataset = source.load(name)
            split = protocol.split(dataset, 0)
            terms = RelaxedCTAD(random_state=0).fit(split.train).training_delta_
            for one in detectors:
                found = detector_scores(Contestant(one), dataset, protocol, 0, split, scores_folder)
                value = _agreement(found.scores.train, terms)
                add([(Case(name, one, protocol.name), Agreement(value))])
    store.compact()


def _agreement(scores: np.ndarray, terms: np.ndarray) -> float | None:
    """As `agreement_` of a calibrator, which is fitted here once for all detectors."""
    if not np.isfinite(scores).any() or (scores == scores[0]).all() or (terms == terms[0]).all():
        return None
    return round(float(spearmanr(scores, terms).statistic), 4)
