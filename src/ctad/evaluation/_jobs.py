"""What a process does at a time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import NamedTuple

from ..datasets import Dataset, load_dataset
from ._calibrations import AnyCalibration
from ._cells import Cell, Outcome, failed, outcomes
from ._errors import must_retry
from ._gaps import Gap, Term, gap, no_gap
from ._plan import Plan
from ._protocols import PROTOCOLS
from ._results import Results
from ._scores import Contestant, detector_scores
from ._terms import Terms


class Source(NamedTuple):
    """Where data sets come from: the arguments of `load_dataset`.

    Attributes
    ----------
    data_dir : Path or None
        A folder of data sets.
    label : str
        The column of labels in tables.
    anomalous : str or None
        The label of anomalies.
    download : bool
        Whether to fetch what the folder has not.
    """

    data_dir: Path | None = None
    label: str = "y"
    anomalous: str | None = None
    download: bool = True

    def load(self, name: str) -> Dataset:
        """The data set of this name."""
        return load_dataset(
            name,
            self.data_dir,
            label=self.label,
            anomalous=self.anomalous,
            download=self.download,
        )


class Found(NamedTuple):
    """The results of a job."""

    cells: list[tuple[Cell, Outcome]]
    gaps: list[tuple[Term, Gap]]


@dataclass(frozen=True)
class Job:
    """Detectors and terms on one split of a data set."""

    dataset: str
    protocol: str
    seed: int
    contestants: dict[Contestant, tuple[AnyCalibration, ...]]
    terms: tuple[AnyCalibration, ...]

    def __str__(self) -> str:
        return f"{self.dataset}, {self.protocol}, seed {self.seed}"

    def __len__(self) -> int:
        return sum(map(len, self.contestants.values())) + len(self.terms)

    def cell(self, contestant: Contestant, calibration: AnyCalibration) -> Cell:
        """What results call a detector with a calibration."""
        return Cell(self.dataset, contestant.name, calibration.name, self.protocol, self.seed)

    def term(self, calibration: AnyCalibration) -> Term:
        """What results call a term."""
        return Term(self.dataset, calibration.name, self.protocol, self.seed)

    def perform(self, source: Source, kept: Path) -> Found:
        """Measure."""
        dataset, protocol = source.load(self.dataset), PROTOCOLS[self.protocol]
        split = protocol.split(dataset, self.seed)
        terms = Terms(split, self.seed)
        found = Found([], [])
        for contestant, calibrations in self.contestants.items():
            base = partial(detector_scores, contestant, dataset, protocol, self.seed, split, kept)
            results = outcomes(base, calibrations, protocol, terms, split.anomalous)
            cells = [self.cell(contestant, calibration) for calibration in calibrations]
            found.cells.extend(zip(cells, results, strict=True))
        for calibration in self.terms:
            found.gaps.append((self.term(calibration), gap(terms, split.anomalous, calibration)))
        return found

    def fail(self, error: BaseException) -> Found:
        """The results, if nothing came of it."""
        cells = [
            self.cell(contestant, c) for contestant, cs in self.contestants.items() for c in cs
        ]
        return Found(
            [(cell, failed(error)) for cell in cells],
            [(self.term(calibration), no_gap(error)) for calibration in self.terms],
        )


def missing_jobs(
    plan: Plan, results: Results, rows: dict[str, int], *, retry_failed: bool
) -> list[Job]:
    """What a plan asks for and the results do not have.

    Quick detectors of a split share a job, and the terms with it; each slow one has its own.
    Quick ones come first, then one seed for all before the next, and small data sets first.
    """

    def counts(result: Outcome | Gap) -> bool:
        return not must_retry(result.error, retry_failed)

    done = {
        *(cell for cell, outcome in results.cells.rows().items() if counts(outcome)),
        *(term for term, found in results.gaps.rows().items() if counts(found)),
    }
    jobs: list[tuple[tuple[int, int, int], Job]] = []
    names = [entry.contestant.name for entry in plan.entries]
    for dataset, (protocol, seed) in product(plan.datasets, plan.rounds()):
        job = Job(dataset, protocol, seed, {}, ())
        size = rows[dataset]
        quick = {}
        for contestant, calibrations in plan.contestants(protocol, seed).items():
            left = tuple(c for c in calibrations if job.cell(contestant, c) not in done)
            if left and plan.slow_apart and contestant.is_slow:
                turn = (1 + names.index(contestant.name), seed, size)
                jobs.append((turn, replace(job, contestants={contestant: left})))
            elif left:
                quick[contestant] = left
        terms = tuple(c for c in plan.terms(protocol, seed) if job.term(c) not in done)
        if quick or terms:
            jobs.append(((0, seed, size), replace(job, contestants=quick, terms=terms)))
    return [job for _, job in sorted(jobs, key=lambda pair: pair[0])]
