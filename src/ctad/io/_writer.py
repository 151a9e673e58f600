"""Table files written in batches; a file appears when it is complete."""

from __future__ import annotations

import errno
import gzip
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.ipc
import pyarrow.parquet as pq

from .._atomic_files import naming, replacing
from .._quoting import quoted, shortened
from ._csv_dialect import CsvDialect
from ._errors import TableError
from ._table_files import STANDARD_STREAM, format_of_suffix, known_suffixes

CSV_PART_ROWS = 16_384
GZIP_LEVEL = 6  # the default of the gzip command; Python's default is five times slower

Write = Callable[[pa.Table], Any]


class TableWriter:
    """A writer of a table file; use it in a `with` block.

    The file appears when the block ends, unless it ends with an error.
    """

    def __init__(self, target: str | Path, format_: str, dialect: CsvDialect) -> None:
        self._target, self._format, self._dialect = target, format_, dialect
        self._resources = ExitStack()
        self._write: Write | None = None

    @property
    def is_text(self) -> bool:
        """Whether it writes CSV."""
        return self._format.startswith("csv")

    def open(self, schema: pa.Schema) -> None:
        """Create the file with these columns; the first `write` does that, too, but needs rows."""
        with self._naming_target():
            self._write = self._resources.enter_context(self._opened(schema))

    def write(self, table: pa.Table) -> None:
        """Add rows."""
        if self._write is None:
            self.open(table.schema)
        assert self._write is not None
        with self._naming_target():
            self._write(table)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if error is None:
            with self._naming_target():
                self._resources.close()
        else:
            with suppress(OSError, pa.ArrowException):  # the first error is the reason
                # Errors of the system that are about the rows must not name the target.
                self._resources.__exit__(_AbandonedError, _AbandonedError(), None)

    @contextmanager
    def _opened(self, schema: pa.Schema) -> Iterator[Write]:
        if self.is_text:
            _refuse_nested(schema, self._target)
        if str(self._target) == STANDARD_STREAM:
            if sys.stdout is None:  # it was closed before the process started
                raise OSError(errno.EBADF, os.strerror(errno.EBADF))
            yield _csv(sys.stdout.buffer, schema, self._dialect)
            sys.stdout.buffer.flush()
            return
        with replacing(self._target) as part:
            match self._format:
                case "parquet":
                    # Floats rarely repeat: dictionaries of them take most of the time, and space.
                    repeating = [f.name for f in schema if not pa.types.is_floating(f.type)]
                    with pq.ParquetWriter(part, schema, use_dictionary=repeating) as parquet:
                        yield parquet.write_table
                case "arrow":
                    with pa.OSFile(str(part), "wb") as file, _arrow_file(file, schema) as write:
                        yield write
                case "arrows":
                    with pa.OSFile(str(part), "wb") as file, pa.ipc.new_stream(file, schema) as s:
                        yield s.write_table
                case "csv.gz":
                    # Without a time stamp, the same rows give the same bytes.
                    with (
                        part.open("wb") as packed,
                        gzip.GzipFile("", "wb", GZIP_LEVEL, packed, mtime=0) as text,
                    ):
                        yield _csv(text, schema, self._dialect)
                case _:
                    with part.open("wb") as text:
                        yield _csv(text, schema, self._dialect)

    @contextmanager
    def _naming_target(self) -> Iterator[None]:
        """Let errors name the file; pyarrow's errors about types become a TableError."""
        target = "standard output" if str(self._target) == STANDARD_STREAM else self._target
        try:
            with naming(target):
                yield
        except pa.ArrowException as error:
            raise TableError(f"{target} cannot be written: {shortened(error)}") from error


class _AbandonedError(Exception):
    """Writing ends because of another error."""


def create_table(
    target: str | Path, dialect: CsvDialect | None = None, *, file_format: str | None = None
) -> TableWriter:
    """Create or replace a table file when all rows are written.

    Parameters
    ----------
    target : str or path
        Its suffix determines the format; "-" is a CSV on standard output.
    dialect : CsvDialect, optional
        The dialect of the CSV file that the rows are from. A CSV gets its delimiter and decimal
        sign, except that `.tsv` means tabs. It is always written in UTF-8.
    file_format : {"csv", "csv.gz", "parquet", "arrow", "arrows"}, optional
        Overrides the suffix.

    Returns
    -------
    TableWriter

    Examples
    --------
    >>> import pyarrow as pa
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     target = Path(folder, "scored.csv")
    ...     with create_table(target) as writer:
    ...         writer.write(pa.table({"id": ["007", "a,b"], "score": [0.1, 1 / 3]}))
    ...     print(target.read_text())
    id,score
    007,0.1
    "a,b",0.3333333333333333
    <BLANKLINE>
    """
    path = Path(target)
    kind = "csv" if str(target) == STANDARD_STREAM else file_format or format_of_suffix(path)
    if kind is None:
        raise TableError(
            f"{target}: the suffix determines the format and must be one of {known_suffixes()}."
        )
    dialect = dialect or CsvDialect()
    if path.name.lower().endswith((".tsv", ".tsv.gz")):
        dialect = CsvDialect(delimiter="\t", decimal=dialect.decimal)
    return TableWriter(target, kind, dialect)


@contextmanager
def _arrow_file(file: pa.NativeFile, schema: pa.Schema) -> Iterator[Write]:
    """An Arrow file has one dictionary per column, which may grow from batch to batch."""
    options = pa.ipc.IpcWriteOptions(compression="lz4", emit_dictionary_deltas=True)
    so_far = schema.empty_table()

    def write(table: pa.Table) -> None:
        nonlocal so_far
        both = pa.concat_tables([so_far, table]).unify_dictionaries()
        so_far = both.slice(0, 0)
        writer.write_table(both)

    with pa.ipc.new_file(file, schema, options=options) as writer:
        yield write


def _refuse_nested(schema: pa.Schema, target: str | Path) -> None:
    for field in schema:
        if pa.types.is_nested(field.type):
            raise TableError(
                f"{target}: column {quoted(field.name)} ({shortened(field.type)}) cannot be "
                "written to a CSV. Write Parquet instead."
            )


def _csv(file: IO[bytes] | gzip.GzipFile, schema: pa.Schema, dialect: CsvDialect) -> Write:
    """Write the header and return the function that writes rows."""
    names = [pa.array([name]) for name in schema.names]
    file.write(_lines([_quoted(name, dialect, len(names)) for name in names], dialect))

    def write(table: pa.Table) -> None:
        for batch in table.to_batches(CSV_PART_ROWS):
            cells = [_cells(column, dialect, table.num_columns) for column in batch.columns]
            file.write(_lines(cells, dialect))

    return write


def _lines(cells: list[pa.Array], dialect: CsvDialect) -> pa.Buffer:
    """Lines of text, joined: the buffer in which Arrow stores an array of them."""
    ends = pc.binary_join_element_wise(cells[-1], "", "\n")
    return pc.binary_join_element_wise(*cells[:-1], ends, dialect.delimiter).buffers()[2]


def _cells(column: pa.Array, dialect: CsvDialect, n_columns: int) -> pa.Array:
    """One column as text; numbers have as many digits as are needed to read them back exactly."""
    text = pc.fill_null(pc.cast(column, pa.string()), "")
    if pa.types.is_primitive(column.type):
        is_number = pa.types.is_floating(column.type) or pa.types.is_decimal(column.type)
        return pc.replace_substring(text, ".", dialect.decimal) if is_number else text
    return _quoted(text, dialect, n_columns)


def _quoted(text: pa.Array, dialect: CsvDialect, n_columns: int) -> pa.Array:
    """Text with quotes around values that need them."""
    special = f'[{re.escape(dialect.delimiter)}"\r\n]'
    # In a single column, an empty value would be a blank line, which many programs skip.
    needed = pc.match_substring_regex(text, special if n_columns > 1 else f"{special}|^$")
    if not pc.any(needed).as_py():
        return text
    escaped = pc.replace_substring(text, '"', '""')
    return pc.if_else(needed, pc.binary_join_element_wise('"', escaped, '"', ""), text)
