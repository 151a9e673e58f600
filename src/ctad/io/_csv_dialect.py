"""How a CSV file is written: encoding, delimiter, quotes, decimal sign."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice

SAMPLE_CHARACTERS = 1 << 18
SAMPLE_ROWS = 1000
SAMPLE_LINES = 3  # also if these are more characters, as in a table with very many columns
FALLBACK_ENCODING = "cp1252"  # for text that is neither UTF-8 nor UTF-16
DELIMITERS = ("\t", ";", "|", ",")
QUOTES = ('"', "'")

# A byte order mark of UTF-32 begins with one of UTF-16, so it comes first.
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_FIRST_LINES = re.compile(rf"(?:[^\r\n]*+(?:\r\n?|\n)){{0,{SAMPLE_LINES}}}")
_WITH_COMMA = re.compile(r"\s*-?\d+,\d+\s*")
_WITH_POINT = re.compile(r"\s*-?\d+\.\d+\s*")


@dataclass(frozen=True)
class CsvDialect:
    """How a CSV file is written.

    Attributes
    ----------
    encoding : str
        Its name in Python.
    delimiter : str
    quote : str
    decimal : {".", ","}
    """

    encoding: str = "utf-8"
    delimiter: str = ","
    quote: str = '"'
    decimal: str = "."


def detect_encoding(head: bytes, pieces: Callable[[], Iterable[bytes]]) -> str:
    """The encoding of a file, given its beginning and, if that is UTF-8, all of it.

    Text that is not Unicode is read as Windows-1252. Detection by letter frequencies
    (charset-normalizer) was wrong for five of nine small German, French, Spanish, Polish
    and Russian tables, this fallback for three.
    """
    for mark, encoding in _BYTE_ORDER_MARKS:
        if head.startswith(mark):
            return encoding
    zeros = [head[start:1000:2].count(0) for start in (0, 1)]
    # UTF-16 has two bytes per character, and the higher one is mostly zero.
    if sum(zeros) > 0.2 * len(head[:1000]):
        return "utf-16-be" if zeros[0] > zeros[1] else "utf-16-le"
    if _is_utf8([head]) and _is_utf8(pieces()):
        return "utf-8"
    return FALLBACK_ENCODING


def detect_dialect(text: str, encoding: str, delimiter: str | None) -> CsvDialect:
    """The dialect of a CSV file that begins with `text`."""
    candidates = DELIMITERS if delimiter is None else (delimiter,)
    first_lines = _FIRST_LINES.match(text)
    assert first_lines is not None  # it may be empty
    size = max(SAMPLE_CHARACTERS, first_lines.end())
    sample, is_cut = text[:size], len(text) > size
    double, single = (
        max((_Parse(sample, is_cut, d, quote) for d in candidates), key=_Parse.rank)
        for quote in QUOTES
    )
    best = double
    if '"' not in text and (
        single.rank() > double.rank() or (single.rank() == double.rank() and double.is_wrapped())
    ):
        best = single
    chosen = best.delimiter if best.has_columns() or delimiter is not None else ","
    cells = [cell for row in best.rows[1:] for cell in row]
    has_comma = chosen != "," and any(map(_WITH_COMMA.fullmatch, cells))
    decimal = "," if has_comma and not any(map(_WITH_POINT.fullmatch, cells)) else "."
    return CsvDialect(encoding, chosen, best.quote, decimal)


class _Parse:
    """The first rows, parsed with one delimiter and one quote character."""

    def __init__(self, text: str, is_cut: bool, delimiter: str, quote: str) -> None:
        self.delimiter, self.quote = delimiter, quote
        lines = io.StringIO(text, newline="")
        reader = csv.reader(lines, delimiter=delimiter, quotechar=quote)
        rows: list[list[str]] = []
        with suppress(csv.Error):  # a field too long for this module
            rows.extend(row for row in islice(reader, SAMPLE_ROWS) if row)
        self.rows = (rows[:-1] if is_cut and len(rows) > 1 else rows) or [[]]

    def has_columns(self) -> bool:
        """Whether the delimiter occurs in the header."""
        return len(self.rows[0]) > 1

    def rank(self) -> tuple[float, bool, int]:
        """The share of rows with as many fields as the header, then whether the delimiter is not a
        comma (which may also be a decimal sign or part of a name), then the number of fields."""
        n_columns, *n_fields = map(len, self.rows)
        if not self.has_columns():
            return 0.0, False, 0
        share = sum(n == n_columns for n in n_fields) / len(n_fields) if n_fields else 1.0
        return share, self.delimiter != ",", n_columns

    def is_wrapped(self) -> bool:
        """Whether fields are in single quotes."""
        cells = (cell for row in self.rows for cell in row)
        return any(len(cell) > 1 and cell[0] == cell[-1] == "'" for cell in cells)


def _is_utf8(pieces: Iterable[bytes]) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for piece in pieces:
            if decoder.getstate()[0] or not piece.isascii():
                decoder.decode(piece)
    except UnicodeDecodeError:
        return False
    return True
