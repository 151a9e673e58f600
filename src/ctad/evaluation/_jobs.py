"""Jobs of a benchmark: each is one split of a data set, done by one process."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path

from ..datasets import Dataset, find_datasets, load_dataset, read_dataset
from ._calibrations import Calibration
from ._cells import Cell, Outcome, failed, outcomes
from ._contestants import Contestant
from ._detector_scores import detector_scores
from ._errors import must_retry
from ._plan import Plan
from ._protocols import Protocol
from ._results import Results
from ._terms import Terms


@dataclass(frozen=True)
class Source:
    """Where data sets come from: the arguments of `load_dataset`.

    Attributes
    ----------
    data_dir : pathlib.Path or None
        A folder of data sets, or the file of a single one.
    label : str
        The column of labels in tables.
    anomalous : str or None
        The label of anomalies.
    download : bool
        Whether to download data sets that are not in the folder.
    """

    data_dir: Path | None = None
    label: str = "y"
    anomalous: str | None = None
    download: bool = True

    def names(self) -> tuple[str, ...]:
        """The names of the data sets in the folder or file."""
        if self.data_dir is None:
            return ()
        return (
            (self.load("").name,)
            if self.data_dir.is_file()
            else tuple(find_datasets(self.data_dir))
        )

    def load(self, name: str) -> Dataset:
        """Load the data set of this name."""
        if self.data_dir is not None and self.data_dir.is_file():
            return read_dataset(self.data_dir, label=self.label, anomalous=self.anomalous)
        return load_dataset(
            name,
            self.data_dir,
            label=self.label,
            anomalous=self.anomalous,
            download=self.download,
        )


Found = list[tuple[Cell, Outcome]]


@dataclass(frozen=True)
class Job:
    """Detectors with their calibrations on one split of a data set."""

    dataset: str
    protocol: Protocol
    seed: int
    contestants: tuple[tuple[Contestant, tuple[Calibration, ...]], ...]

    def __str__(self) -> str:
        return f"{self.dataset}, {self.protocol.name}, seed {self.seed}"

    def __len__(self) -> int:
        return sum(len(calibrations) for _, calibrations in self.contestants)

    def perform(self, source: Source, folder: Path) -> Found:
        """Measure; the folder keeps the detectors' scores."""
        dataset, protocol = source.load(self.dataset), self.protocol
        split = protocol.split(dataset, self.seed)
        terms = Terms(split, self.seed)
        results: list[Outcome] = []
        for contestant, calibrations in self.contestants:
            base = partial(detector_scores, contestant, dataset, protocol, self.seed, split, folder)
            results += outcomes(base, calibrations, protocol, terms, split.anomalous)
        return list(zip(self._cells(), results, strict=True))

    def fail(self, error: BaseException) -> Found:
        """The results if the job as a whole failed."""
        return [(cell, failed(error)) for cell in self._cells()]

    def _cells(self) -> list[Cell]:
        return [
            cell_of(self.dataset, self.protocol, self.seed, contestant, calibration)
            for contestant, calibrations in self.contestants
            for calibration in calibrations
        ]


def cell_of(
    dataset: str, protocol: Protocol, seed: int, contestant: Contestant, calibration: Calibration
) -> Cell:
    """The key of a result."""
    return Cell(dataset, contestant.name, calibration.name, protocol.name, seed)


def missing_jobs(
    plan: Plan, results: Results, rows: dict[str, int], *, retry_failed: bool
) -> list[Job]:
    """The jobs of a plan that have no results yet.

    Quick detectors share a job for a split, and its terms; each slow one has its own. Quick jobs
    come first, then all jobs of a seed before the next seed, and small data sets first.
    """
    done = {
        cell
        for cell, outcome in results.cells.rows().items()
        if not must_retry(outcome.error, retry_failed)
    }
    jobs: list[tuple[tuple[int, int, int], Job]] = []
    names = [entry.contestant.name for entry in plan.entries]
    for dataset, current in product(plan.datasets, plan.rounds()):
        protocol, seed, size = current.protocol, current.seed, rows[dataset]
        quick = []
        for contestant, calibrations in current.contestants:
            missing = tuple(
                calibration
                for calibration in calibrations
                if cell_of(dataset, protocol, seed, contestant, calibration) not in done
            )
            if missing and plan.slow_apart and contestant.is_slow:
                order = (1 + names.index(contestant.name), seed, size)
                jobs.append((order, Job(dataset, protocol, seed, ((contestant, missing),))))
            elif missing:
                quick.append((contestant, missing))
        if quick:
            jobs.append(((0, seed, size), Job(dataset, protocol, seed, tuple(quick))))
    return [job for _, job in sorted(jobs, key=lambda pair: pair[0])]
