"""The text of a CSV file: decompressed, converted to UTF-8 and cut into blocks of rows."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import sys
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from itertools import chain, islice, takewhile
from pathlib import Path
from typing import IO, cast

from .._quoting import quoted
from ._csv_dialect import SAMPLE_LINES, CsvDialect, detect_dialect, detect_encoding
from ._csv_rows import MAX_ROW_BYTES, LongRowError, OpenQuoteError, blocks_of_rows
from ._errors import TableError
from ._pipe import PipeReader
from ._read_options import ReadOptions
from ._table_files import FORMAT_OF_START, GZIP_START, TableFile

PIECE_BYTES = 1 << 20
LINE_ENDS = 2 * SAMPLE_LINES  # characters; a line may end with two of them
ZIP_START = b"PK\x03\x04"
NOT_TEXT = tuple(start for start in FORMAT_OF_START if start != GZIP_START)


class CsvStream:
    """The text of a CSV file as UTF-8, in blocks of whole rows, beginning with the header.

    A byte order mark and blank lines before the header are removed.

    Attributes
    ----------
    dialect : CsvDialect
    column_names : list of str
    total : int or None
        Bytes in the file; None for a pipe.
    """

    def __init__(self, file: TableFile, options: ReadOptions) -> None:
        self._file = file
        self._source, self._pipe = _opened(file)
        self.total = None if self._pipe else file.path.stat().st_size
        self._n_read = 0
        self._is_stopped = False
        try:
            self._begin(options)
        except BaseException:
            self.close()
            raise

    def _begin(self, options: ReadOptions) -> None:
        file, content = self._file, _unpacked(self._source)
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
        pieces = _utf8(chain([head], iter(lambda: content.read(PIECE_BYTES), b"")), encoding)
        start = self._first_lines(pieces)
        self.dialect = detect_dialect(start.decode("utf-8", "replace"), encoding, options.delimiter)
        blocks = blocks_of_rows(self._until_stopped(chain([start], pieces)), self.dialect)
        with self._explaining_rows():
            header = next(blocks)
        self._blocks = chain([header], blocks)
        self.column_names = self._names(header)

    def _first_lines(self, pieces: Iterator[bytes]) -> bytes:
        """The text from the header on, enough of it to detect the dialect."""
        start = b""
        for piece in pieces:
            start = start + piece if start else piece.removeprefix(codecs.BOM_UTF8).lstrip(b"\r\n")
            if len(start) > MAX_ROW_BYTES or start.count(b"\n") + start.count(b"\r") >= LINE_ENDS:
                break
        if not start:
            raise TableError(
                f"{self._file} is empty: a CSV file begins with a line of column names."
            )
        return start

    def _names(self, header: bytes) -> list[str]:
        if b"\0" in header.splitlines()[0]:
            raise TableError(
                f"{self._file} is not a CSV file of text: its first line has NUL characters."
            )
        lines = io.StringIO(header.decode("utf-8", "replace"), newline="")
        rows = csv.reader(lines, delimiter=self.dialect.delimiter, quotechar=self.dialect.quote)
        try:
            return next(rows)
        except csv.Error as error:
            raise TableError(
                f"{self._file}: its first line cannot be read as column names: {error}. Is it a "
                "CSV file of text?"
            ) from error

    def _until_stopped(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        return takewhile(lambda _: not self._is_stopped, pieces)

    def __iter__(self) -> Iterator[bytes]:
        with self._explaining_rows():
            for block in self._blocks:
                self._n_read += len(block)
                yield block

    @contextmanager
    def _explaining_rows(self) -> Iterator[None]:
        """Turn errors about the ends of rows into a TableError that names the file."""
        quote = self.dialect.quote
        try:
            yield
        except LongRowError as error:
            raise TableError(
                f"{self._file} has a row of more than {MAX_ROW_BYTES >> 20} MB, which is too long. "
                f"Is it a CSV file of text? Is a quote ({quote}) never closed?"
            ) from error
        except OpenQuoteError as error:
            begin = quoted(error.args[0][:40].decode(errors="replace"))
            raise TableError(
                f"{self._file}: a quote ({quote}) is opened and never closed; the last row begins "
                f"with {begin}."
            ) from error

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
    lines = (line for line, _ in _rows(file, dialect))
    return next(islice(lines, row + 1, None), None)


def first_uneven_row(file: TableFile, dialect: CsvDialect) -> tuple[int, int, int] | None:
    """Line, number of fields and expected number of fields of the first row that differs from the
    header."""
    rows = _rows(file, dialect)
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
    """The first line and the number of fields of each row.

    A blank line is a row in a table with one column, and nothing in a table with several.
    """
    with file.path.open("rb") as packed:
        content = cast(io.BufferedReader, _unpacked(packed))
        text = io.TextIOWrapper(content, dialect.encoding, errors="replace", newline="")
        lines = takewhile(_is_whole_line, iter(lambda: text.readline(MAX_ROW_BYTES), ""))
        rows = csv.reader(lines, delimiter=dialect.delimiter, quotechar=dialect.quote)
        line, n_columns = 1, 0
        with suppress(csv.Error):  # a field too long for this module
            for row in rows:
                if row or n_columns == 1:
                    yield line, max(1, len(row))
                n_columns = n_columns or len(row)
                line = rows.line_num + 1


def _is_whole_line(line: str) -> bool:
    return len(line) < MAX_ROW_BYTES or line.endswith(("\n", "\r"))


def _unpacked(file: io.BufferedReader) -> IO[bytes]:
    if file.peek(2).startswith(GZIP_START):
        return cast(IO[bytes], gzip.GzipFile(fileobj=file))
    return file


def _pieces(path: Path) -> Iterator[bytes]:
    """All pieces of a file, up to a row that is too long."""
    row_bytes = 0
    with path.open("rb") as packed, closing(_unpacked(packed)) as file:
        for piece in iter(lambda: file.read(PIECE_BYTES), b""):
            yield piece
            has_line_end = b"\n" in piece or b"\r" in piece
            row_bytes = 0 if has_line_end else row_bytes + len(piece)
            if row_bytes > MAX_ROW_BYTES:
                return


def _utf8(pieces: Iterator[bytes], encoding: str) -> Iterator[bytes]:
    """Pieces of UTF-8; the last one ends with a line end."""
    if codecs.lookup(encoding).name != "utf-8":  # pyarrow checks UTF-8
        pieces = _recoded(pieces, encoding)
    piece = b""
    for piece in filter(None, pieces):
        yield piece
    if not piece.endswith((b"\n", b"\r")):
        yield b"\n"


def _recoded(pieces: Iterator[bytes], encoding: str) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(encoding)()
    for piece in pieces:
        yield decoder.decode(piece).encode()
    yield decoder.decode(b"", final=True).encode()
