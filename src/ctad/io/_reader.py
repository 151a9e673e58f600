"""Tables read in batches, in little memory whatever their size."""

from __future__ import annotations

import io
import sys
import zlib
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Self

import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset
import pyarrow.ipc
import pyarrow.parquet as pq

from .._warnings import warn_user
from ._csv_dialect import GUESSED_ENCODING, Dialect
from ._csv_text import CsvText, first_uneven_row, line_of_row
from ._errors import TableError
from ._table_files import TableFile

BATCH_ROWS = 131_072
BATCH_CELLS = 1 << 22
CSV_BLOCK_BYTES = 1 << 22  # no row may be longer
PARQUET_BUFFER_BYTES = 1 << 20

_KINDS = {
    "csv": "CSV",
    "csv.gz": "compressed CSV",
    "parquet": "Parquet",
    "arrow": "Arrow or Feather",
    "arrows": "an Arrow stream",
}
_UNREADABLE = (pa.ArrowException, OSError, EOFError, UnicodeError, zlib.error)


@dataclass(frozen=True)
class Place:
    """Where in a file a batch begins, to name a row of it.

    Attributes
    ----------
    file : TableFile
    dialect : Dialect or None
        Of a CSV file.
    first_row : int
        The number of rows ahead of the batch.
    """

    file: TableFile
    dialect: Dialect | None
    first_row: int

    def of_row(self, row: int) -> str:
        """The file and the line, or the row if it has no lines, of a row of the batch."""
        number = self.first_row + row
        if self.dialect is not None and self.file.path.is_file():
            line = line_of_row(self.file, self.dialect, number)
            if line is not None:
                return f"{self.file}, line {line}"
        return f"{self.file}, row {number + 1}"


class TableReader(ABC):
    """The batches of a table, one after the other; use it in a `with` block.

    Attributes
    ----------
    file : TableFile
    schema : pyarrow.Schema
        All columns of a CSV are text, so that nothing of it is lost.
    dialect : Dialect or None
        Of a CSV.
    total : int or None
        Rows, or bytes of the file, that there are; None if that cannot be known.
    done : int
        How many of them were read.
    unit : {"rows", "bytes"}
    """

    file: TableFile
    schema: pa.Schema
    dialect: Dialect | None = None
    total: int | None
    unit: str

    def __init__(self, file: TableFile, batch_rows: int | None) -> None:
        names = self.schema.names
        if twice := [name for name, count in Counter(names).items() if count > 1]:
            self.close()
            raise TableError(f"{file}: two columns are called {twice[0]!r}. Rename one.")
        self.file = file
        self._batch_rows = batch_rows or max(1, min(BATCH_ROWS, BATCH_CELLS // max(1, len(names))))

    def __iter__(self) -> Iterator[pa.Table]:
        with _blaming(self.file):
            yield from _even(self._batches(), self.schema, self._batch_rows)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    @abstractmethod
    def done(self) -> int:
        """Rows or bytes read so far."""

    @property
    def is_piped(self) -> bool:
        """Whether the rows come from another process, which may keep one waiting."""
        return False

    @abstractmethod
    def close(self) -> None:
        """Close the file."""

    @abstractmethod
    def _batches(self) -> Iterable[pa.RecordBatch]:
        """Batches of any size."""


def open_table(
    file: TableFile,
    batch_rows: int | None = None,
    *,
    encoding: str | None = None,
    delimiter: str | None = None,
) -> TableReader:
    """Open a table to read it in batches.

    Parameters
    ----------
    file : TableFile
    batch_rows : int, optional
        Rows per batch at most. None: 131,072, fewer if there are more than 32 columns.
    encoding, delimiter : str, optional
        Of a CSV; None finds out.

    Returns
    -------
    TableReader
        Iterating it gives pyarrow tables.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from ctad.io import find_tables, open_table
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "new.csv").write_text("name;size\\nLee;1,50\\nKim;007\\n")
    ...     [file] = find_tables(folder)
    ...     with open_table(file) as reader:
    ...         [batch.to_pylist() for batch in reader], reader.dialect.decimal
    ([[{'name': 'Lee', 'size': '1,50'}, {'name': 'Kim', 'size': '007'}]], ',')
    """
    if delimiter is not None and (len(delimiter) != 1 or delimiter in "\"'\r\n"):
        raise TableError(
            f"the delimiter must be one character, no quote and no line end, not {delimiter!r}."
        )
    if encoding is not None:
        try:
            io.TextIOWrapper(io.BytesIO(), encoding)
        except LookupError:
            raise TableError(f"there is no encoding {encoding!r}.") from None
    with _blaming(file):
        match file.format:
            case "parquet":
                return _ParquetReader(file, batch_rows)
            case "arrow":
                return _ArrowFileReader(file, batch_rows)
            case "arrows":
                return _ArrowStreamReader(file, batch_rows)
            case _:
                return _CsvReader(file, batch_rows, encoding, delimiter)


class _ParquetReader(TableReader):
    unit = "rows"

    def __init__(self, file: TableFile, batch_rows: int | None) -> None:
        # Buffered, a column is read as it is decoded. Otherwise all of a row group's are held.
        self._parquet = pq.ParquetFile(
            file.path, pre_buffer=False, buffer_size=PARQUET_BUFFER_BYTES
        )
        self.schema = _workable(self._parquet.schema_arrow)
        self.total = self._parquet.metadata.num_rows
        self._done = 0
        super().__init__(file, batch_rows)

    @property
    def done(self) -> int:
        return self._done

    def close(self) -> None:
        self._parquet.close()

    def _batches(self) -> Iterator[pa.RecordBatch]:
        for batch in self._parquet.iter_batches(self._batch_rows):
            self._done += batch.num_rows
            yield batch.cast(self.schema)


class _ArrowFileReader(TableReader):
    unit = "rows"

    def __init__(self, file: TableFile, batch_rows: int | None) -> None:
        # A batch of such a file may be all of it: mapped, only what is looked at is read.
        self._source = pa.memory_map(str(file.path))
        self._arrow = pa.ipc.open_file(self._source)
        self.schema = _workable(self._arrow.schema)
        self.total = pyarrow.dataset.dataset(str(file.path), format="ipc").count_rows()
        self._done = 0
        super().__init__(file, batch_rows)

    @property
    def done(self) -> int:
        return self._done

    def close(self) -> None:
        self._source.close()

    def _batches(self) -> Iterator[pa.RecordBatch]:
        for number in range(self._arrow.num_record_batches):
            batch = self._arrow.get_batch(number).cast(self.schema)
            self._done += batch.num_rows
            yield batch


class _ArrowStreamReader(TableReader):
    unit = "bytes"

    def __init__(self, file: TableFile, batch_rows: int | None) -> None:
        self._source = pa.OSFile(str(file.path))
        self._arrow = pa.ipc.open_stream(self._source)
        self.schema = _workable(self._arrow.schema)
        self.total = self._size = self._source.size()
        super().__init__(file, batch_rows)

    @property
    def done(self) -> int:
        return int(self._size if self._source.closed else self._source.tell())

    def close(self) -> None:
        self._source.close()

    def _batches(self) -> Iterator[pa.RecordBatch]:
        yield from (batch.cast(self.schema) for batch in self._arrow)


class _CsvReader(TableReader):
    unit = "bytes"
    _arrow: pyarrow.csv.CSVStreamingReader | None = None

    def __init__(
        self,
        file: TableFile,
        batch_rows: int | None,
        encoding: str | None,
        delimiter: str | None,
    ) -> None:
        opened = sys.stdin.buffer if file.is_standard_input else file.path.open("rb")
        self._text = CsvText(file, encoding, delimiter, opened)
        self.dialect = self._text.dialect
        if encoding is None and self.dialect.encoding == GUESSED_ENCODING:
            warn_user(
                f"{file} is neither UTF-8 nor UTF-16: it is read as Windows-1252. If that is "
                "wrong, say its encoding."
            )
        self.total = self._text.total
        self.schema = pa.schema([(name, pa.string()) for name in self._text.names])
        super().__init__(file, batch_rows)

    @property
    def done(self) -> int:
        return self._text.done

    @property
    def is_piped(self) -> bool:
        return self._text.is_piped

    def close(self) -> None:
        # pyarrow reads ahead in a thread of its own, which must not outlive the file, nor Python.
        self._text.stop()
        if self._arrow is not None and not self.is_piped:
            with suppress(pa.ArrowException, OSError, ValueError):
                for _ in self._arrow:
                    pass
        self._text.close()

    def _batches(self) -> Iterator[pa.RecordBatch]:
        last_value = ""
        try:
            for batch in self._arrow_batches():
                if batch.num_rows:
                    last_value = batch.column(batch.num_columns - 1)[-1].as_py()
                yield batch
        except pa.ArrowInvalid as error:
            raise self._explained(error) from error
        if self._text.ends_within_quotes(last_value):
            raise TableError(
                f"{self.file}: a quote ({self._text.dialect.quote}) is opened and never closed; "
                f"the last value begins with {last_value[:40]!r}."
            )

    def _arrow_batches(self) -> pyarrow.csv.CSVStreamingReader:
        dialect = self._text.dialect
        self._arrow = pyarrow.csv.open_csv(
            io.BufferedReader(self._text, CSV_BLOCK_BYTES),
            pyarrow.csv.ReadOptions(
                block_size=CSV_BLOCK_BYTES,
                column_names=self._text.names,
                skip_rows_after_names=1,
            ),
            pyarrow.csv.ParseOptions(
                delimiter=dialect.delimiter, quote_char=dialect.quote, newlines_in_values=True
            ),
            pyarrow.csv.ConvertOptions(
                column_types=self.schema, null_values=[], strings_can_be_null=False
            ),
        )
        return self._arrow

    def _explained(self, error: pa.ArrowInvalid) -> TableError:
        """What is wrong with the file, in the user's terms."""
        dialect, reason = self._text.dialect, str(error)
        if "UTF8" in reason:
            return TableError(
                f"{self.file} is not all {dialect.encoding}: say which encoding it has."
            )
        if "straddling" in reason:
            return TableError(
                f"{self.file} has a row of more than {CSV_BLOCK_BYTES >> 20} MB: is a quote "
                f"({dialect.quote}) never closed?"
            )
        if self.file.path.is_file() and (uneven := first_uneven_row(self.file, dialect)):
            line, fields, expected = uneven
            return TableError(
                f"{self.file}, line {line}: the number of fields is {fields}, that of the "
                f"header {expected} (delimiter {dialect.delimiter!r})."
            )
        return TableError(f"{self.file}: {reason}")


def _workable(schema: pa.Schema) -> pa.Schema:
    """With text as polars writes it turned into text that pyarrow can work with."""
    for position, field in enumerate(schema):
        kind = field.type
        if pa.types.is_dictionary(kind) and pa.types.is_string_view(kind.value_type):
            workable = pa.dictionary(kind.index_type, pa.string(), kind.ordered)
        elif pa.types.is_string_view(kind):
            workable = pa.large_string()
        elif pa.types.is_binary_view(kind):
            workable = pa.large_binary()
        else:
            continue
        schema = schema.set(position, field.with_type(workable))
    return schema


def _even(batches: Iterable[pa.RecordBatch], schema: pa.Schema, n_rows: int) -> Iterator[pa.Table]:
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


@contextmanager
def _blaming(file: TableFile) -> Iterator[None]:
    """Name the file in what goes wrong with it."""
    try:
        yield
    except _UNREADABLE as error:
        raise TableError(f"{file} cannot be read as {_KINDS[file.format]}: {error}") from error
