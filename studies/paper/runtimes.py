"""Milliseconds per row: the detector, the transport, and the transport by POT in a loop."""

import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import ot
from threadpoolctl import threadpool_limits
from tqdm import tqdm

from ctad import CTAD
from ctad.datasets import Dataset
from ctad.evaluation import Contestant, Source, Store

from .protocol import FIRST_HALF
from .published_settings import with_published_settings

TIMED = tuple(
    (dataset, detector)
    for dataset in ("cardio", "mnist")
    for detector in ("IForest", "OCSVM", "ECOD")
)
REPEATS = 3
ROWS_FOR_A_LOOP = 1000  # solved one by one, a sample of the rows is enough


@dataclass(frozen=True)
class Timed:
    """A data set and a detector."""

    dataset: str
    detector: str


@dataclass(frozen=True)
class Runtime:
    """Milliseconds per test row, the best of three, in one process on one thread."""

    detector_ms: float
    transport_ms: float
    pot_ms: float


def runtime_store(folder: Path) -> Store[Timed, Runtime]:
    """The run times in a folder of results."""
    return Store(folder, "runtimes", Timed, Runtime)


def measure_runtimes(
    folder: Path, source: Source, datasets: Iterable[str], detectors: Iterable[str]
) -> None:
    """Measure the run times that the folder does not have yet."""
    store = runtime_store(folder)
    wanted = [Timed(*pair) for pair in TIMED if pair[0] in datasets and pair[1] in detectors]
    done = store.rows()
    missing = [timed for timed in wanted if timed not in done]
    with store.writing() as add:
        for timed in tqdm(missing, "Run times", disable=None, leave=False):
            dataset = source.load(timed.dataset)
            add([(timed, runtime(dataset, with_published_settings(timed.detector)))])


def runtime(dataset: Dataset, contestant: Contestant) -> Runtime:
    """Time all three on the same test rows. The transport has K = 5 and M = 20, as the paper's."""
    split = FIRST_HALF.split(dataset, seed=0)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        detector = contestant.build(dataset, 0).fit(split.train)
        calibrator = CTAD(random_state=0).fit(split.train)
        some = split.test[np.random.default_rng(0).permutation(len(split.test))[:ROWS_FOR_A_LOOP]]
        return Runtime(
            _milliseconds_per_row(detector.decision_function, split.test),
            _milliseconds_per_row(calibrator.delta, split.test),
            _milliseconds_per_row(lambda rows: transport_by_pot(calibrator, rows), some),
        )


def transport_by_pot(calibrator: CTAD, rows: np.ndarray) -> np.ndarray:
    """The term as the paper computes it: a linear program for each row, by POT."""
    references, centroids = calibrator.references_, calibrator.centroids_
    m, k = len(references), len(centroids)
    masses = np.full(m + 1, 1 / (m + 1)), np.full(k, 1 / k)
    values = [
        ot.emd2(*masses, ot.dist(np.vstack([references, row]), centroids, metric="euclidean"))
        for row in rows
    ]
    return np.array(values)


def _milliseconds_per_row(function: Callable[[np.ndarray], object], rows: np.ndarray) -> float:
    function(rows[:1])  # compiles, if anything has to be compiled
    seconds = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        function(rows)
        seconds.append(time.perf_counter() - started)
    return 1000 * min(seconds) / len(rows)
