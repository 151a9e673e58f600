"""The data sets of the paper and their public sources. The table is registry.csv."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.resources import files
from pathlib import PurePosixPath

from ..errors import InputError
from ._dataset import Dataset

HOST = "https://raw.githubusercontent.com"


@dataclass(frozen=True)
class KnownDataset:
    """A data set of the paper.

    Attributes
    ----------
    name : str
    samples, dims, anomalies : int
        Number of rows, columns and anomalies.
    repository, commit, path : str
        The public file: a repository on GitHub, a commit and a path in it.
    source_sha256 : str or None
        SHA-256 of this file. None: unknown, so only the shape is checked.
    values_sha256 : str or None
        SHA-256 of the values, for any file format; see `Dataset.sha256`.
    transformation : str
        How the values were transformed, by the source or before.
    """

    name: str
    samples: int
    dims: int
    anomalies: int
    repository: str
    commit: str
    path: str
    source_sha256: str | None
    values_sha256: str | None
    transformation: str

    @property
    def url(self) -> str:
        """The address of the file."""
        return f"{HOST}/{self.repository}/{self.commit}/{self.path}"

    @property
    def suffix(self) -> str:
        """The suffix of the file: ".npz" or ".mat"."""
        return PurePosixPath(self.path).suffix

    def difference(self, dataset: Dataset) -> str | None:
        """How a data set differs from this one, in words; None if they are the same."""
        registered = (self.samples, self.dims, self.anomalies)
        found = (*dataset.X.shape, dataset.n_anomalies)
        if found != registered:
            return (
                "it has {:,} rows, {:,} columns and {:,} anomalies, the registered one {:,}, {:,} "
                "and {:,}"
            ).format(*found, *registered)
        if self.values_sha256 not in (None, dataset.sha256):
            return (
                f"the SHA-256 of its values is {dataset.sha256}, that of the registered one "
                f"{self.values_sha256}"
            )
        return None


def _read_registry() -> dict[str, KnownDataset]:
    with (files(__package__) / "registry.csv").open(encoding="utf-8") as file:
        return {
            row["name"]: KnownDataset(
                row["name"],
                int(row["samples"]),
                int(row["dims"]),
                int(row["anomalies"]),
                row["repository"],
                row["commit"],
                row["path"],
                row["source_sha256"] or None,
                row["values_sha256"] or None,
                row["transformation"],
            )
            for row in csv.DictReader(file)
        }


KNOWN_DATASETS = _read_registry()


def known_dataset(name: str) -> KnownDataset:
    """The entry of a data set of the paper.

    Parameters
    ----------
    name : str
        In upper or lower case. `KNOWN_DATASETS` has all names.

    Returns
    -------
    KnownDataset

    Examples
    --------
    >>> from ctad.datasets import known_dataset
    >>> wine = known_dataset("Wine")
    >>> wine.samples, wine.dims, wine.anomalies
    (129, 13, 10)
    >>> wine.repository, wine.path
    ('Minqi824/ADBench', 'adbench/datasets/Classical/45_wine.npz')
    """
    known = KNOWN_DATASETS.get(name.lower())
    if known is None:
        near = get_close_matches(name.lower(), KNOWN_DATASETS)
        names = ", ".join(KNOWN_DATASETS)
        hint = f"Did you mean {' or '.join(near)}?" if near else f"Its data sets are {names}."
        raise InputError(f"the paper has no data set {name!r}. {hint}")
    return known
