"""Where data sets are: in the user's folder, downloaded, or to be downloaded."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..datasets import (
    KNOWN_DATASETS,
    Dataset,
    KnownDataset,
    cached_file,
    known_dataset,
    read_dataset,
)
from ._formatting import percent


@dataclass(frozen=True)
class DatasetEntry:
    """A data set, and where it is.

    Attributes
    ----------
    name : str
    known : KnownDataset or None
        None if it is the user's own.
    where : str
        In words.
    path : pathlib.Path or None
        None if it is not here.
    shape : tuple of int or None
        Rows, columns, anomalies; None if it cannot be read.
    sha256 : str or None
        Checksum of the values.
    difference : str or None
        How the data set differs from the registered one, in words.
    """

    name: str
    known: KnownDataset | None
    where: str
    path: Path | None = None
    shape: tuple[int, int, int] | None = None
    sha256: str | None = None
    difference: str | None = None

    @property
    def shape_as_text(self) -> tuple[str, str, str]:
        """The shape as it is shown; blank if it is unknown."""
        if self.shape is None:
            return "", "", ""
        n_rows, n_columns, n_anomalies = self.shape
        share = percent(n_anomalies / n_rows, decimals=1)
        return f"{n_rows:,}", f"{n_columns:,}", f"{n_anomalies:,} ({share})"

    def as_json(self) -> dict[str, Any]:
        """All attributes, as JSON has them."""
        n_rows, n_columns, n_anomalies = self.shape or (None, None, None)
        known = self.known
        return {
            "name": self.name,
            "rows": n_rows,
            "columns": n_columns,
            "anomalies": n_anomalies,
            "where": self.where,
            "path": None if self.path is None else str(self.path),
            "sha256": self.sha256,
            "difference": self.difference,
            "registered": None if known is None else {**asdict(known), "url": known.url},
        }


@dataclass(frozen=True)
class DatasetSearch:
    """Where to look for data sets.

    Attributes
    ----------
    files : dict of str to pathlib.Path
        The user's files by the name of the data set in lower case.
    label : str
        The label column in these files.
    anomalous : str or None
        The label that means anomaly.
    download : bool
        Whether to download the others.
    """

    files: dict[str, Path]
    label: str
    anomalous: str | None
    download: bool

    def find(self, name: str) -> DatasetEntry:
        """Find a data set by its name in lower case."""
        if name in self.files:
            path = self.files[name]
            dataset = read_dataset(path, label=self.label, anomalous=self.anomalous)
            return _present(dataset, KNOWN_DATASETS.get(name), path, f"in {path.parent}")
        known = known_dataset(name)
        downloaded = cached_file(known, download=self.download)
        if downloaded is None:
            return absent_entry(name, "to be downloaded")
        return _present(read_dataset(downloaded), known, downloaded, "downloaded")


def absent_entry(name: str, where: str) -> DatasetEntry:
    """A data set of the paper that is not here."""
    known = known_dataset(name)
    shape = known.samples, known.dims, known.anomalies
    return DatasetEntry(name, known, where + _caveat(known), shape=shape)


def _present(dataset: Dataset, known: KnownDataset | None, path: Path, where: str) -> DatasetEntry:
    n_rows, n_columns = dataset.X.shape
    difference = None if known is None else known.difference(dataset)
    if known is None:
        where += ", your own"
    elif difference is not None:
        where += ", differs from the registered one"
    return DatasetEntry(
        dataset.name if known is None else known.name,
        known,
        where + _caveat(known),
        path,
        (n_rows, n_columns, dataset.n_anomalies),
        dataset.sha256,
        difference,
    )


def _caveat(known: KnownDataset | None) -> str:
    return ", checked by shape only" if known is not None and known.values_sha256 is None else ""
