"""The folder of results."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from ..datasets import Dataset
from ..errors import InputError
from ._cells import Cell, Outcome
from ._result_columns import RANGE, columns_of
from ._store import Store
from ._versions import Environment, Versions

COUNT = {RANGE: (0, 2**53)}


@dataclass(frozen=True)
class DatasetName:
    """The name of a data set in results."""

    name: str


@dataclass(frozen=True)
class DatasetFacts:
    """The size and the content of a data set."""

    rows: int = field(metadata=COUNT)
    columns: int = field(metadata=COUNT)
    anomalies: int = field(metadata=COUNT)
    sha256: str


class Results:
    """The results of a benchmark in a folder.

    Parameters
    ----------
    folder : pathlib.Path

    Attributes
    ----------
    cells : Store
        Metrics of each detector and calibration: `Cell` to `Outcome`.
    datasets, environments : Store
        The data sets and the library versions behind the names in `cells`.
    scores : pathlib.Path
        Folder of the detectors' scores, so that more calibrations need no training.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.cells = Store(folder, "cells", Cell, Outcome)
        self.datasets = Store(folder, "datasets", DatasetName, DatasetFacts)
        self.environments = Store(folder, "environments", Environment, Versions)
        self.scores = folder / "scores"

    def compact(self) -> None:
        """Move the rows of all CSV files into Parquet files, which are smaller."""
        for store in (self.cells, self.datasets, self.environments):
            store.compact()

    def note(self, dataset: Dataset) -> None:
        """Record what a data set is; refuse a different one of the same name."""
        name = DatasetName(dataset.name)
        [column] = columns_of(DatasetName)
        if column.text(dataset.name) != dataset.name:
            raise InputError(
                f"{dataset.name!r} has a line break, or another character that is not text, in its "
                "name: rename the file"
            )
        facts = DatasetFacts(
            len(dataset.y), dataset.X.shape[1], dataset.n_anomalies, dataset.sha256
        )
        known = self.datasets.rows().get(name)
        if known is None:
            with self.datasets.writing() as add:
                add([(name, facts)])
        elif known != facts:
            raise InputError(
                f"the results in {self.folder} are of another data set called {dataset.name!r}, "
                f"with {known.rows} rows of {known.columns} columns: choose another folder"
            )
