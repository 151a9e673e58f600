"""Files of results. They may come from somebody else, so all that is read is checked."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from .._untrusted_files import read_untrusted
from ..errors import InputError
from ._parquet_footer import is_compressed
from ._result_columns import Column

MAX_BYTES = 2**27  # of a file, and of its values in memory
MAX_ROWS = 10**6  # each becomes objects of Python
MAX_BATCH_BYTES = 2**30
MAX_BATCH_ROWS = 2**16


def read_csv(path: Path, columns: Sequence[Column]) -> pa.Table:
    """The rows of a CSV file, without half a line at its end."""
    with _naming(path):
        content = whole_lines(read_untrusted(path, path.parent, MAX_BYTES))
        lines = csv.reader(io.StringIO(content.decode("utf-8"), newline=""))
        header = next(lines, None)
        if header is not None:
            _check_names(path, columns, header)
        rows = []
        for line in lines:
            try:
                rows.append(_values(line, columns))
            except InputError as error:
                raise _bad_line(path, lines.line_num, error) from error
            _check_length(path, len(rows))
        table = as_table(columns, rows)
        if (bad := _first_bad(columns, table)) is not None:
            raise _bad_line(path, bad[0] + 2, bad[1])
        return table


def read_parquet(path: Path, columns: Sequence[Column]) -> pa.Table:
    """The rows of a Parquet file that `write_parquet` wrote."""
    with _naming(path):
        content = read_untrusted(path, path.parent, MAX_BYTES)
        if is_compressed(content):
            raise _damaged(path, "it is compressed")
        _check_names(path, columns, pq.read_schema(pa.BufferReader(content)).names)
        # A text that occurs in many rows is kept once, until its size is known.
        texts = [column.name for column in columns if column.kind is str]
        file = pq.ParquetFile(pa.BufferReader(content), read_dictionary=texts)
        _check_types(path, columns, file)
        schema = _schema(columns)
        n_bytes, file_rows, batches = 0, 0, []
        # Whatever its encoding, a text of an uncompressed file is not longer than the file.
        n_rows = max(1, min(MAX_BATCH_ROWS, MAX_BATCH_BYTES // len(content)))
        for batch in file.iter_batches(n_rows, use_threads=False):
            batch.validate(full=True)
            n_bytes += sum(map(_n_bytes, batch.columns))
            _check_length(path, file_rows := file_rows + len(batch))
            if n_bytes > MAX_BYTES:
                raise _damaged(path, f"more than {MAX_BYTES:,} bytes of values")
            batches.append(batch.cast(schema))
        table = pa.Table.from_batches(batches, schema)
        if (bad := _first_bad(columns, table)) is not None:
            raise _damaged(path, f"row {bad[0] + 1}: {bad[1]}")
        return table


def write_parquet(part: Path, table: pa.Table) -> None:
    """Write a Parquet file; not compressed, so that a small file cannot have large contents."""
    pq.write_table(table, part, compression="none")


def as_table(columns: Sequence[Column], rows: Sequence[Sequence[Any]]) -> pa.Table:
    """Rows as a table."""
    values = zip(*rows, strict=True) if rows else ([] for _ in columns)
    return pa.table([list(column) for column in values], _schema(columns))


def whole_lines(content: bytes) -> bytes:
    """Cut off an unfinished last line. No text contains a line break."""
    return content[: content.rfind(b"\n") + 1]


def _schema(columns: Sequence[Column]) -> pa.Schema:
    return pa.schema([(column.name, column.arrow_type) for column in columns])


def _values(line: list[str], columns: Sequence[Column]) -> list[Any]:
    if len(line) != len(columns):
        raise InputError(f"it has {len(line)} values, not {len(columns)}")
    return [column.value(text) for column, text in zip(columns, line, strict=True)]


def _check_names(path: Path, columns: Sequence[Column], found: list[str]) -> None:
    wanted = [column.name for column in columns]
    if found != wanted:
        raise InputError(
            f"{path} is not a file of such results: its columns are {found!s:.300}, not {wanted}. "
            "Choose another folder."
        )


def _check_length(path: Path, n_rows: int) -> None:
    if n_rows > MAX_ROWS:
        raise _damaged(path, f"more than {MAX_ROWS:,} results")


def _check_types(path: Path, columns: Sequence[Column], file: pq.ParquetFile) -> None:
    for column, found in zip(columns, file.schema_arrow.types, strict=True):
        is_text = column.kind is str
        if found != (pa.dictionary(pa.int32(), pa.string()) if is_text else column.arrow_type):
            raise _damaged(path, f"column {column.name!r} is not of type {column.arrow_type}")


def _n_bytes(values: pa.Array) -> int:
    """The size of a column of a batch after decoding."""
    if not isinstance(values, pa.DictionaryArray):
        return int(values.nbytes)
    lengths = pc.binary_length(values.dictionary).take(values.indices)
    return int(pc.sum(lengths).as_py() or 0) + 4 * len(values)


def _first_bad(columns: Sequence[Column], table: pa.Table) -> tuple[int, str] | None:
    """The number of a row with a value that cannot be there, and what is wrong with it."""
    for column, values in zip(columns, table.combine_chunks().columns, strict=True):
        for chunk in values.chunks:  # one, or none
            if (bad := column.first_bad(chunk)) is not None:
                return bad
    return None


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Turn errors of libraries about the content of a file into one that says what to do."""
    try:
        yield
    except InputError:
        raise
    except OSError as error:
        if error.filename is not None:  # it cannot be opened
            raise
        raise _damaged(path, type(error).__name__) from error
    except Exception as error:  # of Parquet, CSV or Unicode
        raise _damaged(path, type(error).__name__) from error


def _damaged(path: Path, reason: str) -> InputError:
    return InputError(
        f"{path} is damaged ({reason}): delete it, and its results will be measured again"
    )


def _bad_line(path: Path, number: int, reason: object) -> InputError:
    return InputError(
        f"{path}, line {number}, is damaged ({reason}): delete the line, and it will be measured "
        "again"
    )
