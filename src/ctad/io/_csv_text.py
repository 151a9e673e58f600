"""The text of a CSV file, whatever its encoding, compressed or not."""

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
from typing import IO, Any, cast

from ._csv_dialect import SAMPLE_CHARACTERS, Dialect, sniff_dialect, sniff_encoding
from ._errors import TableError
from ._table_files import FORMAT_OF_START, GZIP_START, TableFile

PIECE_BYTES = 1 << 20
ZIP = b"PK\x03\x04"
NOT_TEXT = tuple(start for start in FORMAT_OF_START if start != GZIP_START)
END_BYTES = 1000  # enough to see beyond blank lines at the end


class CsvText(io.RawIOBase):
    """A CSV file as a stream of UTF-8 bytes that begins with the header.

    It closes the file, unless that is standard input. A byte order mark and blank lines ahead
    are left out, and the text ends with a line end.
    """

    def __init__(
        self, file: TableFile, encoding: str | None, delimiter: str | None, opened: IO[bytes]
    ) -> None:
        self._file = opened
        self.is_piped = file.is_standard_input or not opened.seekable()
        self.total = None if self.is_piped else file.path.stat().st_size
        self._n_read = 0
        self._is_stopped = False
        try:
            self._begin(file, encoding, delimiter)
        except BaseException:
            self.close()
            raise

    def _begin(self, file: TableFile, encoding: str | None, delimiter: str | None) -> None:
        content = _unpacked(self._file)
        head = content.read(PIECE_BYTES)
        if head.startswith(NOT_TEXT):
            raise TableError(f"{file} must be a CSV: what is piped in is Parquet or Arrow.")
        if head.startswith(ZIP):  # Excel's files, model files
            raise TableError(
                f"{file} is packed as a zip, as Excel's files and models are, and no table that "
                "can be read: CSV, Parquet or Arrow is needed."
            )
        if encoding is None:
            encoding = sniff_encoding(head, lambda: () if self.is_piped else _pieces(file.path))
        self._utf8 = _utf8(chain([head], iter(lambda: content.read(PIECE_BYTES), b"")), encoding)
        self._pending = memoryview(self._start(file))
        self._end = bytes(self._pending[-END_BYTES:])
        text = codecs.decode(self._pending, "utf-8", "replace")[: SAMPLE_CHARACTERS + 1]
        self.dialect, self.names = sniff_dialect(text, encoding, delimiter)

    def readable(self) -> bool:
        """Yes."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer with what comes next."""
        if self._is_stopped:
            return 0
        if not self._pending:
            self._pending = memoryview(next(self._utf8, b""))
            self._end = (self._end + bytes(self._pending[-END_BYTES:]))[-END_BYTES:]
        part = self._pending[: len(buffer)]
        buffer[: len(part)] = part
        self._pending = self._pending[len(part) :]
        self._n_read += len(part)
        return len(part)

    def stop(self) -> None:
        """Be at the end, for whoever reads on."""
        self._is_stopped = True

    def close(self) -> None:
        """Close the file; standard input stays open."""
        if not self.closed and self._file is not sys.stdin.buffer:
            self._file.close()
        super().close()

    @property
    def done(self) -> int:
        """Bytes read, of the compressed file if it is one."""
        if self.is_piped:
            return self._n_read
        return cast(int, self.total) if self._file.closed else self._file.tell()

    def ends_within_quotes(self, last_value: str) -> bool:
        """Whether the quote that opens the last value of the file is never closed.

        Then the line end that ends the text is part of the value.
        """
        quoted = self._end.rstrip(b"\r\n").endswith(self.dialect.quote.encode())
        return last_value.endswith("\n") and not quoted

    def _start(self, file: TableFile) -> bytes:
        for piece in self._utf8:
            start = piece.removeprefix(codecs.BOM_UTF8).lstrip(b"\r\n")
            if start:
                return start
        raise TableError(f"{file} is empty: a CSV file begins with a line of column names.")


def line_of_row(file: TableFile, dialect: Dialect, row: int) -> int | None:
    """The line on which a row begins; the first row after the header is row 0."""
    lines = (line for line, fields in _rows(file, dialect) if fields)
    return next(islice(lines, row + 1, None), None)


def first_uneven_row(file: TableFile, dialect: Dialect) -> tuple[int, int, int] | None:
    """Line, fields and expected fields of the first row that differs from the header."""
    rows = ((line, fields) for line, fields in _rows(file, dialect) if fields)
    _, expected = next(rows)
    return next(((line, n, expected) for line, n in rows if n != expected), None)


def _rows(file: TableFile, dialect: Dialect) -> Iterator[tuple[int, int]]:
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


def _unpacked(file: IO[bytes]) -> IO[bytes]:
    if cast(io.BufferedReader, file).peek(2).startswith(GZIP_START):
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
