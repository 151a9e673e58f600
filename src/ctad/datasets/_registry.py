"""The data sets of the paper, and where they come from."""

from __future__ import annotations

import csv
from difflib import get_close_matches
from importlib.resources import files
from pathlib import PurePosixPath
from typing import NamedTuple

from ..errors import InputError
from ._dataset import Dataset

HOST = "https://raw.githubusercontent.com"


class KnownDataset(NamedTuple):
    """A data set of the paper.

    Attributes
    ----------
    name : str
    samples, dims, anomalies : int
        Rows, columns, and how many of the rows are anomalies.
    repository, commit, path : str
        The public file: a repository on GitHub and a file in it.
    source_sha256 : str or None
        Of this file. None: not known, its shape is all that can be checked.
    values_sha256 : str or None
        Of the values, whatever the file; see `Dataset.sha256`.
    transformation : str
        What was done to the values, here and before.
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
        """Where the file can be had."""
        return f"{HOST}/{self.repository}/{self.commit}/{self.path}"

    @property
    def suffix(self) -> str:
        """Of the file: ".npz" or ".mat"."""
        return PurePosixPath(self.path).suffix

    def difference(self, dataset: Dataset) -> str | None:
        """How a data set differs from this one, in words; None if it does not."""
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


def is_registered(dataset: Dataset) -> bool:
    """Whether a data set is the paper's of its name, and not another of the same name.

    Examples
    --------
    >>> import numpy as np
    >>> from ctad.datasets import Dataset, is_registered
    >>> is_registered(Dataset("wine", np.array([[0.0], [1.0]]), np.array([False, True])))
    False
    """
    known = KNOWN_DATASETS.get(dataset.name.lower())
    return known is not None and known.difference(dataset) is None


def _registered() -> dict[str, KnownDataset]:
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


KNOWN_DATASETS = _registered()


def known_dataset(name: str) -> KnownDataset:
    """What is known of the data set of this name.

    Parameters
    ----------
    name : str
        In upper or lower case. `KNOWN_DATASETS` has all.

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
        hint = f"Did you mean {' or '.join(near)}?" if near else f"It has {_all_names()}."
        raise InputError(f"the paper has no data set {name!r}. {hint}")
    return known


def _all_names() -> str:
    return ", ".join(KNOWN_DATASETS)
