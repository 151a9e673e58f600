"""What all readers of table files have in common: batches, read ahead, in little memory."""

from __future__ import annotations

import zlib
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Self

import pyarrow as pa

from .._progress import report_progress
from .._quoting import quoted, shortened
from ._column_types import convert_text
from ._csv_dialect import CsvDialect
from ._csv_stream import line_of_row
from ._errors import TableError
from ._read_options import ReadOptions
from ._table_files import TableFile

BATCH_ROWS = 131_072
BATCH_CELLS = 1 << 22

_FORMAT_NAMES = {
    "csv": "CSV",
    "csv.gz": "compressed CSV",
    "parquet": "Parquet",
    "arrow": "Arrow or Feather",
    "arrows": "an Arrow stream",
}
_UNREADABLE = (pa.ArrowException, OSError, EOFError, UnicodeError, zlib.error)


@dataclass(frozen=True, eq=False)
class Batch:
    """Some rows of a table file.

    Attributes
    ----------
    rows : pyarrow.Table
    file : TableFile
    dialect : CsvDialect or None
        The dialect of a CSV file, whose columns are all text; None for files with types.
    first_row : int
        The number of rows before these in the file.
    """

    rows: pa.Table
    file: TableFile
    dialect: CsvDialect | None
    first_row: int

    def with_types(self, types: pa.Schema) -> pa.Table:
        """The rows, with the text of a CSV converted to these types."""
        if self.dialect is None:
            return self.rows
        return convert_text(self.rows, types, self.dialect, row_name=self.row_name)

    def row_name(self, row: int) -> str:
        """The file and the line of a row of the batch; its number if the file has no lines."""
        number = self.first_row + row
        if self.dialect is not None and self.file.path.is_file():
            line = line_of_row(self.file, self.dialect, number)
            if line is not None:
                return f"{self.file}, line {line}"
        return f"{self.file}, row {number + 1}"


class TableReader(ABC):
    """The rows of a table file in batches; use it in a `with` block.

    Iterating gives pyarrow tables; `batches` also reads ahead and reports progress.

    Attributes
    ----------
    file : TableFile
    schema : pyarrow.Schema
        All columns of a CSV are text, so that no character of it is lost.
    dialect : CsvDialect or None
        None for files that are not CSV.
    total : int or None
        The size of the table in `unit`; None if it is unknown.
    done : int
        How much of it was read.
    unit : {"rows", "bytes"}
    """

    file: TableFile
    schema: pa.Schema
    dialect: CsvDialect | None = None
    total: int | None
    unit: str
    _ahead: ThreadPoolExecutor | None = None

    def __init__(self, file: TableFile, options: ReadOptions) -> None:
        names = self.schema.names
        if twice := [name for name, count in Counter(names).items() if count > 1]:
            self.close()
            raise TableError(f"{file}: two columns are called {quoted(twice[0])}. Rename one.")
        self.file = file
        self._batch_rows = options.batch_rows or max(
            1, min(BATCH_ROWS, BATCH_CELLS // max(1, len(names)))
        )

    def __iter__(self) -> Iterator[pa.Table]:
        with naming_file(self.file):
            batches = self._record_batches()
            if self.dialect is None:  # text is checked while it is parsed
                batches = (_checked(batch, self.schema) for batch in batches)
            yield from _equal_tables(batches, self.schema, self._batch_rows)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def batches(self, doing: str | None = None) -> Iterator[Batch]:
        """Read batches, each while the caller works on the one before, and report progress.

        Parameters
        ----------
        doing : str, optional
            The current step in the progress; by default "Reading" and the name of the file.

        Yields
        ------
        Batch
        """
        doing = doing or f"Reading {self.file}"
        rows = 0
        report_progress(doing, 0, self.total, rows)
        for table in self._read_ahead():
            yield Batch(table, self.file, self.dialect, rows)
            rows += table.num_rows
            # `self.done` counts the batch read ahead, too.
            report_progress(doing, rows if self.unit == "rows" else self.done, self.total, rows)

    def close(self) -> None:
        """Close the file."""
        self._stop()
        if self._ahead is not None:
            self._ahead.shutdown()
        self._close()

    @property
    @abstractmethod
    def done(self) -> int:
        """Rows or bytes read so far."""

    @abstractmethod
    def _record_batches(self) -> Iterable[pa.RecordBatch]:
        """Batches of any size."""

    def _stop(self) -> None:  # noqa: B027 - most files need nothing
        """End reading soon, also in a thread that waits for a pipe."""

    @abstractmethod
    def _close(self) -> None:
        """Close the file, which no thread reads any more."""

    def _read_ahead(self) -> Iterator[pa.Table]:
        tables = iter(self)
        self._ahead = ThreadPoolExecutor(max_workers=1)
        upcoming = self._ahead.submit(next, tables, None)
        while (table := upcoming.result()) is not None:
            upcoming = self._ahead.submit(next, tables, None)
            yield table


@contextmanager
def naming_file(file: TableFile) -> Iterator[None]:
    """Turn errors of libraries about a damaged file into a TableError that names it."""
    try:
        yield
    except _UNREADABLE as error:
        raise TableError(
            f"{file} cannot be read as {_FORMAT_NAMES[file.format]}: {shortened(error)}"
        ) from error


def _checked(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """A batch whose every value was checked, with the types of `schema`.

    pyarrow takes offsets, indices and lengths from a file as they are. With damaged ones it would
    read other memory than that of the batch.
    """
    batch.validate(full=True)
    for field, column in zip(schema, batch.columns, strict=True):
        if column.null_count and not field.nullable:
            raise pa.ArrowInvalid(
                f"column {quoted(field.name)} has missing values, but its type allows none"
            )
    return batch if batch.schema.equals(schema) else batch.cast(schema)


def _equal_tables(
    batches: Iterable[pa.RecordBatch], schema: pa.Schema, n_rows: int
) -> Iterator[pa.Table]:
    """Cut and join batches of any size to tables of `n_rows`; the last may have fewer."""
    parts: list[pa.RecordBatch] = []
    room = n_rows
    for batch in batches:
        start = 0
        while start < batch.num_rows:
            part = batch.slice(start, room)
            parts.append(part)
            start += part.num_rows
            room -= part.num_rows
            if not room:
                yield pa.Table.from_batches(parts, schema)
                parts, room = [], n_rows
    if parts:
        yield pa.Table.from_batches(parts, schema)
