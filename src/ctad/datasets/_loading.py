"""Data sets by name: from a folder, from the cache, or downloaded."""

from __future__ import annotations

import os
from pathlib import Path

from .._progress import progress_bar
from .._warnings import warn_user
from ..errors import InputError
from ._dataset import Dataset
from ._download import BY_HAND, cached_file
from ._files import files_by_name, read_dataset
from ._registry import KNOWN_DATASETS, KnownDataset, known_dataset


def load_dataset(
    name: str,
    data_dir: str | os.PathLike[str] | None = None,
    *,
    label: str = "y",
    anomalous: str | None = None,
    download: bool = True,
) -> Dataset:
    """Load a data set from a folder, or a data set of the paper.

    Data sets of the paper that are not in the folder are downloaded once, with a progress bar on a
    terminal, and kept in the user's cache folder (or in CTAD_CACHE_DIR).

    Parameters
    ----------
    name : str
        The name of a file without its suffix, or of a data set of the paper, in upper or lower
        case.
    data_dir : path-like, optional
        A folder with .npz, .mat, .csv, .parquet or other files: see `read_dataset`. None:
        CTAD_DATA_DIR, if it is set.
    label, anomalous : str, default="y", None
        The labels in the files of the folder: see `read_dataset`.
    download : bool, default=True
        Whether to download a missing data set of the paper. False: raise a FileNotFoundError.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import numpy as np
    >>> from ctad.datasets import load_dataset
    >>> with TemporaryDirectory() as folder:
    ...     np.savez(Path(folder, "mine.npz"), X=[[0, 1], [1, 0], [9, 9]], y=[0, 0, 1])
    ...     load_dataset("mine", folder)
    Dataset('mine', 2 columns, 3 rows, 1 of them anomalous)
    """
    folder = data_dir or os.environ.get("CTAD_DATA_DIR") or None
    files = {} if folder is None else files_by_name(folder)
    path = next((p for found, p in files.items() if found.lower() == name.lower()), None)
    if path is not None:
        known = KNOWN_DATASETS.get(name.lower())
        dataset = read_dataset(path, label=label, anomalous=anomalous)
    else:
        known = _known_dataset(name, folder, files)
        path = _cached_file(known, download)
        dataset = read_dataset(path)
    difference = None if known is None else known.difference(dataset)
    if difference is not None:
        warn_user(f"{name} in {path} is not the registered data set: {difference}.")
    return dataset


def _known_dataset(
    name: str, folder: str | os.PathLike[str] | None, files: dict[str, Path]
) -> KnownDataset:
    try:
        return known_dataset(name)
    except InputError as error:
        listed = f" {folder} has {', '.join(files) or 'none'}." if folder else ""
        raise InputError(f"{error}{listed}") from None


def _cached_file(known: KnownDataset, download: bool) -> Path:
    with progress_bar(download):
        path = cached_file(known, download=download)
    if path is None:
        raise FileNotFoundError(
            f"{known.name} is not downloaded yet. Run `ctad datasets {known.name} --download`, or "
            f"{BY_HAND}."
        )
    return path
