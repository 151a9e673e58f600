"""The 34 data sets of the paper by name, and labelled tables in folders."""

from ._dataset import Dataset
from ._download import DownloadError, cached_file
from ._files import find_datasets, read_dataset
from ._loading import load_dataset
from ._registry import KNOWN_DATASETS, KnownDataset, known_dataset

__all__ = [
    "KNOWN_DATASETS",
    "Dataset",
    "DownloadError",
    "KnownDataset",
    "cached_file",
    "find_datasets",
    "known_dataset",
    "load_dataset",
    "read_dataset",
]
