"""The folder of results."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from ..datasets import Dataset
from ..errors import InputError
from ._cells import Cell, Outcome
from ._gaps import Gap, Term
from ._runtimes import Runtime, Timed
from ._store import Store
from ._versions import Environment, Versions


class DatasetName(NamedTuple):
    """What results call a data set."""

    name: str


class DatasetFacts(NamedTuple):
    """What it was."""

    rows: int
    columns: int
    anomalies: int
    sha256: str


class Results:
    """All that was measured, one file for each kind.

    Parameters
    ----------
    folder : pathlib.Path

    Attributes
    ----------
    cells : Store
        Metrics of each detector and calibration.
    gaps : Store
        Mean terms of normal and of anomalous rows.
    runtimes : Store
        Times per row.
    datasets, environments : Store
        What the names in the others stand for.
    scores : pathlib.Path
        Folder of the detectors' scores, so that more calibrations need no training.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.cells = Store(folder / "cells.csv", Cell, Outcome)
        self.gaps = Store(folder / "gaps.csv", Term, Gap)
        self.runtimes = Store(folder / "runtimes.csv", Timed, Runtime)
        self.datasets = Store(folder / "datasets.csv", DatasetName, DatasetFacts)
        self.environments = Store(folder / "environments.csv", Environment, Versions)
        self.scores = folder / "scores"

    def note(self, dataset: Dataset) -> None:
        """Note what a data set is; refuse another of the same name."""
        if "\n" in dataset.name or "\r" in dataset.name:
            raise InputError(f"{dataset.name!r} has a line break in its name: rename the file")
        name = DatasetName(dataset.name)
        facts = DatasetFacts(
            len(dataset.y), dataset.X.shape[1], dataset.n_anomalies, dataset.sha256
        )
        known = self.datasets.rows().get(name)
        if known is None:
            with self.datasets.writing() as write:
                write([(name, facts)])
        elif known != facts:
            raise InputError(
                f"the results in {self.folder} are of another data set called {dataset.name!r}, "
                f"with {known.rows} rows of {known.columns} columns: choose another folder"
            )
