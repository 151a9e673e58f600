"""Results in a folder, each computed once."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import astuple
from io import FileIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import pyarrow as pa

from .._atomic_files import naming, replacing
from .._file_locks import lock_file
from .._untrusted_files import check_inside, read_untrusted
from ..errors import InputError
from ._result_columns import columns_of
from ._result_files import MAX_BYTES, as_table, read_csv, read_parquet, whole_lines, write_parquet

if TYPE_CHECKING:
    import pandas as pd

Key = TypeVar("Key")
Value = TypeVar("Value")


class Store(Generic[Key, Value]):
    """Keyed results in a folder: `NAME.csv` while they are computed, `NAME.parquet` afterwards.

    Every row is appended to the CSV file as soon as it is known, so a killed process loses
    nothing. `compact` moves all rows into the Parquet file. Reading merges both.

    Parameters
    ----------
    folder : pathlib.Path
    name : str
    key : frozen dataclass
        What a row is the result of.
    value : frozen dataclass
        The result. The fields of both are str, int or float, or one of these and None.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from ctad.evaluation import Store
    >>> @dataclass(frozen=True)
    ... class Run:
    ...     dataset: str
    ...     seed: int
    >>> @dataclass(frozen=True)
    ... class Time:
    ...     seconds: float
    >>> with TemporaryDirectory() as folder:
    ...     times = Store(Path(folder), "times", Run, Time)
    ...     with times.writing() as add:
    ...         add([(Run("wine", 0), Time(0.25))])
    ...     times.compact()
    ...     times.rows()
    {Run(dataset='wine', seed=0): Time(seconds=0.25)}
    """

    def __init__(
        self, folder: Path, name: str, key: Callable[..., Key], value: Callable[..., Value]
    ) -> None:
        self._folder = folder
        self.csv_path = folder / f"{name}.csv"
        self.parquet_path = folder / f"{name}.parquet"
        self._key, self._value = key, value
        self._columns = (*columns_of(key), *columns_of(value))
        self._names = [column.name for column in self._columns]
        self._n_key = len(columns_of(key))

    def exists(self) -> bool:
        """Whether there is a file of results."""
        return self.csv_path.exists() or self.parquet_path.exists()

    def rows(self) -> dict[Key, Value]:
        """All results so far, by key."""
        return {
            self._key(*row[: self._n_key]): self._value(*row[self._n_key :])
            for row in _rows(self._table())
        }

    def frame(self) -> pd.DataFrame:
        """All results so far as a data frame, a column per field."""
        return self._table().to_pandas()

    @contextmanager
    def writing(self) -> Iterator[Callable[[Iterable[tuple[Key, Value]]], None]]:
        """A function that adds rows. They are on disk when it returns.

        Half a row that a killed process left is removed. Only one process may write at a time.
        """
        with self._locked() as file:
            whole = self._whole_lines()
            has_rows = whole.count(b"\n") > 1

            def write(lines: Iterable[Iterable[str]]) -> None:
                size = file.seek(0, os.SEEK_END)
                try:
                    with naming(self.csv_path):
                        _write_all(file, _csv(lines))
                except OSError:
                    file.truncate(size)  # all of the rows, or none
                    raise

            def add(rows: Iterable[tuple[Key, Value]]) -> None:
                nonlocal has_rows
                write(map(self._texts, rows))
                has_rows = True

            file.truncate(len(whole))
            if not whole:
                write([self._names])
            try:
                yield add
            finally:
                if not has_rows:
                    self._remove(file)

    def compact(self) -> None:
        """Move all rows into the Parquet file, sorted by key: equal results give equal files."""
        if not self.csv_path.exists():
            return
        with self._locked() as file:
            self._whole_lines()  # a check: the file is removed below
            order = [(name, "ascending") for name in self._names[: self._n_key]]
            table = self._table().sort_by(order)
            with replacing(self.parquet_path, within=self._folder) as part:
                write_parquet(part, table)
            self._remove(file)

    @contextmanager
    def _locked(self) -> Iterator[FileIO]:
        """Open the CSV file and lock it for this process."""
        if self._folder.exists() and not self._folder.is_dir():
            raise InputError(f"{self._folder} is not a folder: choose another one")
        self._folder.mkdir(parents=True, exist_ok=True)
        check_inside(self.csv_path, self._folder)
        while True:
            with self.csv_path.open("a+b", buffering=0) as file:
                try:
                    lock_file(file.fileno(), wait=False)
                except BlockingIOError as error:
                    raise BlockingIOError(
                        f"another process is adding to {self.csv_path}: wait for it"
                    ) from error
                if self._is_current(file):
                    yield file
                    return
                # Another process removed it between opening and locking: repeat.

    def _is_current(self, file: FileIO) -> bool:
        try:
            return os.path.samestat(os.fstat(file.fileno()), self.csv_path.stat())
        except FileNotFoundError:
            return False

    def _remove(self, file: FileIO) -> None:
        """Remove the CSV file while it is locked."""
        file.truncate(0)
        with suppress(PermissionError):  # Windows cannot remove an open file
            self.csv_path.unlink()

    def _whole_lines(self) -> bytes:
        """The lines of the CSV file; half a line at its end is a row or header of ours, too."""
        content = read_untrusted(self.csv_path, self._folder, MAX_BYTES)
        whole, header = whole_lines(content), _csv([self._names])
        if not (whole.startswith(header) if whole else header.startswith(content)):
            raise InputError(
                f"{self.csv_path} is not a file of such results. Choose another folder."
            )
        return whole

    def _table(self) -> pa.Table:
        """The rows of both files; those of the CSV file are newer."""
        stored = added = as_table(self._columns, [])
        if self.parquet_path.exists():
            stored = read_parquet(self.parquet_path, self._columns)
        if self.csv_path.exists():
            added = read_csv(self.csv_path, self._columns)
        if not added.num_rows:
            return stored
        rows = {row[: self._n_key]: row for table in (stored, added) for row in _rows(table)}
        return as_table(self._columns, [*rows.values()])

    def _texts(self, row: tuple[Any, Any]) -> list[str]:
        key, value = row
        values = (*astuple(key), *astuple(value))
        return [column.text(field) for column, field in zip(self._columns, values, strict=True)]


def _rows(table: pa.Table) -> Iterator[tuple[Any, ...]]:
    return zip(*(column.to_pylist() for column in table.columns), strict=True)


def _csv(lines: Iterable[Iterable[str]]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(lines)
    return text.getvalue().encode("utf-8")


def _write_all(file: FileIO, content: bytes) -> None:
    """Write, and wait until the content is on disk."""
    while content:  # a disk that is nearly full takes a part
        content = content[file.write(content) :]
    os.fsync(file.fileno())
