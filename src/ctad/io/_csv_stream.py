"""The text of a CSV file: decompressed and converted to UTF-8."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import sys
from collections.abc import Iterator
from contextlib import closing, suppress
from itertools import chain, islice
from pathlib import Path
from typing import IO, cast

from ._csv_dialect import SAMPLE_CHARACTERS, CsvDialect, detect_dialect, detect_encoding
from ._errors import TableError
from ._pipe import PipeReader
from ._read_options import ReadOptions
from ._table_files import FORMAT_OF_START, GZIP_START, TableFile

PIECE_BYTES = 1 << 20
ZIP_START = b"PK\x03\x04"
NOT_TEXT = tuple(start for start in FORMAT_OF_START if start != GZIP_START)


class CsvStream:
    """The text of a CSV file as pieces of UTF-8, beginning with the header.

    A byte order mark and blank lines before the header are removed, and the last piece ends with a
    line end.

    Attributes
    ----------
    dialect : CsvDialect
    column_names : list of str
    total : int or None
        Bytes in the file; None for a pipe.
    """

    def __init__(self, file: TableFile, options: ReadOptions) -> None:
        self._source, self._pipe = _opened(file)
        self.total = None if self._pipe else file.path.stat().st_size
        self._n_read = 0
        self._is_stopped = False
        try:
            self._begin(file, options)
        except BaseException:
            self.close()
            raise

    def _begin(self, file: TableFile, options: ReadOptions) -> None:
        content = _unpacked(self._source)
        head = content.read(PIECE_BYTES)
        if head.startswith(NOT_TEXT):
            raise TableError(
                f"{file} is Parquet or Arrow, but only CSV can be piped in. Pass the path of the "
                "file instead."
            )
        if head.startswith(ZIP_START):
            raise TableError(
                f"{file} is a zip archive (an Excel file or a model file, for example), not a "
                "table: CSV, Parquet or Arrow is needed."
            )
        encoding = options.encoding
        if encoding is None:
            encoding = detect_encoding(head, lambda: () if self._pipe else _pieces(file.path))
        self._utf8 = _utf8(chain([head], iter(lambda: content.read(PIECE_BYTES), b"")), encoding)
        self._start = self._first_piece(file)
        text = self._start.decode("utf-8", "replace")[: SAMPLE_CHARACTERS + 1]
        self.dialect, self.column_names = detect_dialect(text, encoding, options.delimiter)

    def _first_piece(self, file: TableFile) -> bytes:
        for piece in self._utf8:
            start = piece.removeprefix(codecs.BOM_UTF8).lstrip(b"\r\n")
            if start:
                return start
        raise TableError(f"{file} is empty: a CSV file begins with a line of column names.")

    def __iter__(self) -> Iterator[bytes]:
        for piece in chain([self._start], self._utf8):
            if self._is_stopped:
                return
            self._n_read += len(piece)
            yield piece

    def stop(self) -> None:
        """End the text here, also for a thread that waits for more of a pipe."""
        self._is_stopped = True
        if self._pipe:
            self._pipe.stop()

    def close(self) -> None:
        """Close the file; standard input stays open."""
        self.stop()
        self._source.close()

    @property
    def done(self) -> int:
        """Bytes read: of the compressed file if it is one, of the text if it is a pipe."""
        if self.total is None:
            return self._n_read
        return self.total if self._source.closed else self._source.tell()


def line_of_row(file: TableFile, dialect: CsvDialect, row: int) -> int | None:
    """The line on which a row begins; the first row after the header is row 0."""
    lines = (line for line, n_fields in _rows(file, dialect) if n_fields)
    return next(islice(lines, row + 1, None), None)


def first_uneven_row(file: TableFile, dialect: CsvDialect) -> tuple[int, int, int] | None:
    """Line, number of fields and expected number of fields of the first row that differs from the
    header."""
    rows = ((line, n_fields) for line, n_fields in _rows(file, dialect) if n_fields)
    _, expected = next(rows)
    return next(((line, n, expected) for line, n in rows if n != expected), None)


def _opened(file: TableFile) -> tuple[io.BufferedReader, PipeReader | None]:
    """Open a file; the second item is its pipe, which can be stopped, or None."""
    if file.is_standard_input:
        if sys.stdin is None:
            raise TableError("standard input is closed: pass the path of a file, or pipe rows in.")
        pipe = PipeReader(getattr(sys.stdin.buffer, "raw", sys.stdin.buffer), close=False)
        return io.BufferedReader(pipe), pipe
    opened = file.path.open("rb", buffering=0)
    if opened.seekable():
        return io.BufferedReader(opened), None
    pipe = PipeReader(opened, close=True)
    return io.BufferedReader(pipe), pipe


def _rows(file: TableFile, dialect: CsvDialect) -> Iterator[tuple[int, int]]:
    """The first line and the number of fields of each row; a blank line has none."""
    with file.path.open("rb") as packed:
        content = cast(io.BufferedReader, _unpacked(packed))
        text = io.TextIOWrapper(content, dialect.encoding, errors="replace", newline="")
        rows = csv.reader(text, delimiter=dialect.delimiter, quotechar=dialect.quote)
        line = 1
        with suppress(csv.Error):  # a field too long for this module
            for row in rows:
                yield line, len(row)
                line = rows.line_num + 1


def _unpacked(file: io.BufferedReader) -> IO[bytes]:
    if file.peek(2).startswith(GZIP_START):
        return cast(IO[bytes], gzip.GzipFile(fileobj=file))
    return file


def _pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb") as packed, closing(_unpacked(packed)) as file:
        yield from iter(lambda: file.read(PIECE_BYTES), b"")


def _utf8(pieces: Iterator[bytes], encoding: str) -> Iterator[bytes]:
    """Pieces of UTF-8; a line end comes last."""
    if codecs.lookup(encoding).name == "utf-8":  # pyarrow checks it
        yield from pieces
        yield b"\n"
    else:
        decoder = codecs.getincrementaldecoder(encoding)()
        for piece in pieces:
            if text := decoder.decode(piece):
                yield text.encode()
        yield decoder.decode(b"", final=True).encode() + b"\n"
