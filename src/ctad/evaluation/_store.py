"""Results in a folder, each computed once."""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import astuple
from pathlib import Path
from types import NoneType
from typing import IO, TYPE_CHECKING, Any, Generic, TypeVar, get_args, get_type_hints

import pyarrow as pa
import pyarrow.parquet as pq

from .._atomic_files import replacing
from .._file_locks import lock_file
from ..errors import InputError

if TYPE_CHECKING:
    import pandas as pd

Key = TypeVar("Key")
Value = TypeVar("Value")

ARROW_TYPES = {str: pa.string(), int: pa.int64(), float: pa.float64()}


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
        self.csv_path = folder / f"{name}.csv"
        self.parquet_path = folder / f"{name}.parquet"
        self._key, self._value = key, value
        self._types = {**_types(key), **_types(value)}
        self._n_key = len(_types(key))

    def exists(self) -> bool:
        """Whether there is a file of results."""
        return self.csv_path.exists() or self.parquet_path.exists()

    def rows(self) -> dict[Key, Value]:
        """All results so far, by key."""
        columns = (column.to_pylist() for column in self._table().columns)
        return {
            self._key(*row[: self._n_key]): self._value(*row[self._n_key :])
            for row in zip(*columns, strict=True)
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
            content = file.read()
            whole = _whole_lines(content)
            file.truncate(len(whole))
            has_rows = whole.count(b"\n") > 1

            def write(lines: Iterable[Iterable[Any]]) -> None:
                text = io.StringIO()
                csv.writer(text, lineterminator="\n").writerows(lines)
                file.write(text.getvalue().encode("utf-8"))
                file.flush()
                os.fsync(file.fileno())

            def add(rows: Iterable[tuple[Key, Value]]) -> None:
                nonlocal has_rows
                has_rows = True
                write(map(_texts, rows))

            if not whole:
                write([self._types])
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
            order = [(name, "ascending") for name in list(self._types)[: self._n_key]]
            with replacing(self.parquet_path) as part:
                pq.write_table(self._table().sort_by(order), part, compression="zstd")
            self._remove(file)

    @contextmanager
    def _locked(self) -> Iterator[IO[bytes]]:
        """Open the CSV file at its beginning and lock it for this process."""
        self.csv_path.parent.mkdir(parents=True, exist_ok=True)
        while True:
            with self.csv_path.open("a+b") as file:
                try:
                    lock_file(file.fileno(), wait=False)
                except BlockingIOError as error:
                    raise BlockingIOError(
                        f"another process is adding to {self.csv_path}: wait for it"
                    ) from error
                if not self._is_current(file):
                    continue  # another process removed it between opening and locking
                file.seek(0)
                yield file
                return

    def _is_current(self, file: IO[bytes]) -> bool:
        try:
            return os.path.samestat(os.fstat(file.fileno()), self.csv_path.stat())
        except FileNotFoundError:
            return False

    def _remove(self, file: IO[bytes]) -> None:
        """Remove the CSV file while it is locked."""
        file.truncate(0)
        with suppress(PermissionError):  # Windows cannot remove an open file
            self.csv_path.unlink()

    def _table(self) -> pa.Table:
        """The rows of both files; those of the CSV file are newer."""
        schema = pa.schema([(name, ARROW_TYPES[kind]) for name, (kind, _) in self._types.items()])
        stored = schema.empty_table()
        if self.parquet_path.exists():
            stored = pq.read_table(self.parquet_path)
            self._check_columns(self.parquet_path, stored.column_names)
            stored = stored.cast(schema)
        added = self._added()
        if not added:
            return stored
        columns = (column.to_pylist() for column in stored.columns)
        rows = {row[: self._n_key]: row for row in (*zip(*columns, strict=True), *added)}
        return pa.table([list(column) for column in zip(*rows.values(), strict=True)], schema)

    def _added(self) -> list[tuple[Any, ...]]:
        """The rows of the CSV file."""
        if not self.csv_path.exists():
            return []
        text = _whole_lines(self.csv_path.read_bytes()).decode("utf-8")
        lines = list(csv.reader(io.StringIO(text)))
        if lines:
            self._check_columns(self.csv_path, lines[0])
        found = []
        for number, line in enumerate(lines[1:], start=2):
            try:
                pairs = zip(self._types.values(), line, strict=True)
                found.append(tuple(_parsed(text, *of) for of, text in pairs))
            except ValueError as error:
                raise InputError(
                    f"{self.csv_path}, line {number}, is damaged ({error}): delete the line, and "
                    "it will be measured again"
                ) from error
        return found

    def _check_columns(self, path: Path, columns: list[str]) -> None:
        if columns != [*self._types]:
            raise InputError(
                f"{path} is not a file of such results: its columns are {columns}, not "
                f"{[*self._types]}. Choose another folder."
            )


def _types(record: Any) -> dict[str, tuple[type, bool]]:
    """The type of each field of a dataclass, and whether it may be None."""
    return {name: _type(hint) for name, hint in get_type_hints(record).items()}


def _type(hint: Any) -> tuple[type, bool]:
    kinds = get_args(hint) or (hint,)
    [kind] = (kind for kind in kinds if kind is not NoneType)
    return kind, NoneType in kinds


def _whole_lines(content: bytes) -> bytes:
    """Cut off an unfinished last line. No field contains a line break."""
    return content[: content.rfind(b"\n") + 1]


def _texts(row: tuple[Any, Any]) -> list[str]:
    key, value = row
    return [_text(field) for field in (*astuple(key), *astuple(value))]


def _text(field: Any) -> str:
    if field is None:
        return ""
    if isinstance(field, float):
        return f"{field:.6g}"
    return re.sub(r"\s*[\r\n]+\s*", " ", str(field))  # on one line


def _parsed(text: str, kind: type, may_be_none: bool) -> Any:
    return None if may_be_none and not text else kind(text)
