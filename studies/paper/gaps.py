"""How much larger the calibration term of anomalies is than that of normal rows."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from tqdm import tqdm

from ctad.evaluation import Calibration, Protocol, Source, Split, Store

from .calibrations import VARIANTS


@dataclass(frozen=True)
class Term:
    """A calibration term on a split of a data set."""

    dataset: str
    calibration: str
    protocol: str
    seed: int


@dataclass(frozen=True)
class Gap:
    """The mean of a term over normal and over anomalous test rows."""

    normal: float
    anomalous: float


def gap_store(folder: Path) -> Store[Term, Gap]:
    """The gaps in a folder of results."""
    return Store(folder, "gaps", Term, Gap)


def measure_gaps(
    folder: Path,
    source: Source,
    datasets: Iterable[str],
    protocols: Iterable[Protocol],
    seeds: Iterable[int],
) -> None:
    """Measure the gaps that the folder does not have yet."""
    store = gap_store(folder)
    done = store.rows()
    rounds = list(product(datasets, protocols, seeds))
    with store.writing() as add:
        for dataset, protocol, seed in tqdm(rounds, "Gaps of the term", disable=None, leave=False):
            missing = {
                Term(dataset, calibration.name, protocol.name, seed): calibration
                for calibration in VARIANTS.values()
            }
            missing = {term: c for term, c in missing.items() if term not in done}
            if missing:
                split = protocol.split(source.load(dataset), seed)
                add([(term, gap(c, split, seed)) for term, c in missing.items()])


def gap(calibration: Calibration, split: Split, seed: int) -> Gap:
    """The gap of one term."""
    term = calibration.for_seed(seed).fit(split.train).delta(split.test)
    return Gap(float(term[~split.anomalous].mean()), float(term[split.anomalous].mean()))
