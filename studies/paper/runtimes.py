"""Seconds per row: the detector, the transport, and the transport as a solver's loop."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .._types import Floats
from ..calibration import CTAD
from ..datasets import Dataset
from ..wrapper import scoring_method
from ._errors import describe
from ._protocols import PROTOCOLS
from ._quiet import alone_and_quiet
from ._scores import Contestant

REPEATS = 3
ROWS_FOR_A_LOOP = 1000  # solved one by one, a sample of the rows is enough


class Timed(NamedTuple):
    """What was timed."""

    dataset: str
    detector: str


class Runtime(NamedTuple):
    """Milliseconds per test row, the best of three, in one process on one thread."""

    detector_ms: float | None
    transport_ms: float | None
    pot_ms: float | None
    error: str | None = None


def runtime(dataset: Dataset, contestant: Contestant) -> Runtime:
    """Time all three on the same test rows, one after the other.

    The transport is the paper's: K = 5 centroids, M = 20 references.
    """
    try:
        return _timed(dataset, contestant)
    except Exception as error:
        return Runtime(None, None, None, describe(error))


def _timed(dataset: Dataset, contestant: Contestant) -> Runtime:
    protocol = PROTOCOLS["published"]
    split = protocol.split(dataset, seed=0)
    with alone_and_quiet():
        detector = contestant.build(protocol, dataset, 0).fit(split.train)
        score = getattr(detector, scoring_method(detector, contestant.polarity).method)
        calibrator = CTAD(random_state=0).fit(split.train)
        some = split.test[np.random.default_rng(0).permutation(len(split.test))[:ROWS_FOR_A_LOOP]]
        return Runtime(
            _milliseconds_per_row(score, split.test),
            _milliseconds_per_row(calibrator.delta, split.test),
            _milliseconds_per_row(lambda rows: transport_by_pot(calibrator, rows), some),
        )


def transport_by_pot(calibrator: CTAD, rows: Floats) -> Floats:
    """The same values as the paper computes them: a linear program for each row, by POT."""
    import ot

    references, centroids = calibrator.references_, calibrator.centroids_
    m, k = len(references), len(centroids)
    masses = np.full(m + 1, 1 / (m + 1)), np.full(k, 1 / k)
    values = [
        ot.emd2(*masses, ot.dist(np.vstack([references, row]), centroids, metric="euclidean"))
        for row in rows
    ]
    return np.array(values)


def _milliseconds_per_row(function: Callable[[Floats], object], rows: Floats) -> float:
    function(rows[:1])  # not what happens only once
    seconds = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        function(rows)
        seconds.append(time.perf_counter() - started)
    return 1000 * min(seconds) / len(rows)
