"""Data sets in files: reading one, and finding those of a folder."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import scipy.io

from .._validation import LARGEST_EXACT_INTEGER
from ..errors import InputError
from ..io import LabelColumn, TableError, find_tables, open_table, with_inferred_types
from ..tables import numeric_columns
from ._dataset import Dataset

# Not .txt: such a file is usually a text about the data.
TABLES = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet", ".feather", ".arrow")
SUFFIXES = (".npz", ".mat", *TABLES)


def read_dataset(
    path: str | os.PathLike[str], *, label: str = "y", anomalous: str | None = None
) -> Dataset:
    """Read a data set from a file.

    Parameters
    ----------
    path : path-like
        .npz or .mat (not 7.3) with an array X and an array of labels; or .csv, .csv.gz, .tsv,
        .tsv.gz, .parquet, .feather or .arrow with a label column. The file name without its
        suffix is the name of the data set.
    label : str, default="y"
        Name of the label array or column: 1 or true = anomaly, 0 or false = normal.
    anomalous : str, optional
        The label that means anomaly, if the labels are not 0 and 1 or false and true.

    Returns
    -------
    Dataset
        X is an array if all columns are numbers without missing values and no column of integers
        may be an identifier; else a table.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from ctad.datasets import read_dataset
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "machines.csv")
    ...     _ = path.write_text("heat,noise,state\\n20,1.5,ok\\n20,0.5,ok\\n90,7.5,broken\\n")
    ...     dataset = read_dataset(path, label="state", anomalous="broken")
    >>> dataset
    Dataset('machines', 2 columns, 3 rows, 1 of them anomalous)
    >>> dataset.X[-1], dataset.y
    (array([90. ,  7.5]), array([False, False,  True]))
    """
    path = Path(path)
    suffix = _suffix_of(path)
    if suffix is None:
        raise TableError(f"{path}: data sets are read from {_formats()} files.")
    if not path.is_file():
        raise FileNotFoundError(f"{path}: there is no such file.")
    return read_as(suffix, path, path.name[: -len(suffix)], label, anomalous)


def read_as(
    suffix: str, path: Path, name: str, label: str = "y", anomalous: str | None = None
) -> Dataset:
    """Read a file in the format of this suffix, which need not be that of its name."""
    if suffix in TABLES:
        X, y = _read_table(path, label, anomalous)
    else:
        read = _read_npz if suffix == ".npz" else _read_mat
        X, labels = read(path, label)
        if labels.dtype.kind not in "biufSU":
            raise TableError(
                f"{path}: {label} must be numbers or text, not of type {labels.dtype}."
            )
        y = LabelColumn(label, anomalous).is_anomaly(pa.table({label: _flat(labels)}), path)
    try:
        return Dataset(name, X, y)
    except InputError as error:
        raise TableError(f"{path}: {error}.") from error


def find_datasets(folder: str | os.PathLike[str]) -> dict[str, Path]:
    """Find the data sets in a folder, without its subfolders.

    Files whose names begin with a dot or an underscore are ignored.

    Parameters
    ----------
    folder : path-like

    Returns
    -------
    dict of str to pathlib.Path
        Files by name of the data set, sorted. If there are none, a FileNotFoundError is raised.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from ctad.datasets import find_datasets
    >>> with TemporaryDirectory() as folder:
    ...     for name in ("wine.npz", "orders.csv.gz", "notes.md"):
    ...         Path(folder, name).touch()
    ...     {name: path.name for name, path in find_datasets(folder).items()}
    {'orders': 'orders.csv.gz', 'wine': 'wine.npz'}
    """
    found = files_by_name(folder)
    if not found:
        raise FileNotFoundError(f"{folder}: no data sets in this folder. {_formats()} are read.")
    return found


def files_by_name(folder: str | os.PathLike[str]) -> dict[str, Path]:
    """Like `find_datasets`, but the folder may have no data sets."""
    if not Path(folder).is_dir():
        raise NotADirectoryError(f"{folder}: there is no such folder.")
    found: dict[str, Path] = {}
    first: dict[str, Path] = {}  # by name in lower case: names are looked up in any case
    for path in sorted(Path(folder).iterdir()):
        suffix = _suffix_of(path)
        if suffix is None or path.name.startswith((".", "_")) or not path.is_file():
            continue
        name = path.name[: -len(suffix)]
        other = first.setdefault(name.lower(), path)
        if other != path:
            raise TableError(
                f"{folder}: {other.name} and {path.name} are data sets of the same name. Rename "
                "or remove one."
            )
        found[name] = path
    return dict(sorted(found.items()))


def _suffix_of(path: Path) -> str | None:
    name = path.name.lower()
    return next((suffix for suffix in SUFFIXES if name.endswith(suffix)), None)


def _formats() -> str:
    return ", ".join(SUFFIXES)


def _read_npz(path: Path, label: str) -> tuple[Any, Any]:
    try:
        # Opened here, because numpy does not close a damaged file. Pickle would run code.
        with path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
            _require_arrays(("X", label), file.files, path)
            return file["X"], file[label]
    except TableError:
        raise
    except Exception as error:  # damaged files cause errors of many types
        raise TableError(f"{path} cannot be read as .npz: {error}") from error


def _read_mat(path: Path, label: str) -> tuple[Any, Any]:
    try:
        file = scipy.io.loadmat(path, appendmat=False)
    except NotImplementedError as error:
        raise TableError(
            f"{path} is a MATLAB file of version 7.3 (HDF5), which is not supported. Convert it in "
            f"MATLAB by save('{path.name}', 'X', '{label}', '-v7'), or read X (transposed) and "
            f"{label} with h5py and write them with numpy.savez."
        ) from error
    except Exception as error:  # damaged files cause errors of many types
        raise TableError(f"{path} cannot be read as .mat: {error}") from error
    _require_arrays(("X", label), [name for name in file if not name.startswith("__")], path)
    return _dense(file["X"]), _dense(file[label])


def _dense(values: Any) -> Any:
    return values.toarray() if hasattr(values, "toarray") else values


def _require_arrays(names: tuple[str, str], found: list[str], path: Path) -> None:
    missing = [name for name in names if name not in found]
    if missing:
        raise TableError(
            f"{path} has no array {missing[0]!r}; it has {', '.join(map(repr, found)) or 'none'}."
        )


def _flat(labels: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """One-dimensional and in native byte order, as Arrow needs it."""
    return labels.ravel().astype(labels.dtype.newbyteorder("="))


def _read_table(path: Path, label: str, anomalous: str | None) -> tuple[Any, npt.NDArray[np.bool_]]:
    [file] = find_tables(path)
    with open_table(file) as reader:
        batches = [batch for table in reader for batch in table.to_batches()]
        table = pa.Table.from_batches(batches, reader.schema)
        y = LabelColumn(label, anomalous).is_anomaly(table, file)
        table = with_inferred_types(table.drop_columns([label]), reader.dialect)
    return _as_array(table), y


def _as_array(table: pa.Table) -> Any:
    """An array if all columns are numbers; else the table itself, for TableEncoder."""
    if not table.num_columns or any(_may_identify(column) for column in table.columns):
        return table  # TableEncoder drops identifiers; an array would keep them
    try:
        return numeric_columns(table, table.column_names, needed_by="an array")
    except InputError:
        return table


def _may_identify(column: pa.ChunkedArray) -> bool:
    """Whether integers are all different, or too large for floating point."""
    if not pa.types.is_integer(column.type) or column.null_count:
        return False
    values = column.to_numpy()
    return len(np.unique(values)) == len(values) or bool(
        np.abs(values.astype(np.float64)).max() > LARGEST_EXACT_INTEGER
    )
