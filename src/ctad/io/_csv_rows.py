"""CSV text cut into blocks of whole rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ._csv_dialect import CsvDialect

# Enough for 100,000 columns of 160 characters. Text without a row end for longer than that is not
# data: a quote is never closed, or the file is not a CSV. It must not fill the memory.
MAX_ROW_BYTES = 1 << 24


class LongRowError(ValueError):
    """A row is longer than `MAX_ROW_BYTES`."""


class OpenQuoteError(ValueError):
    """The text ends within quotes; the argument is the row."""


def blocks_of_rows(
    pieces: Iterable[bytes], dialect: CsvDialect, max_row_bytes: int = MAX_ROW_BYTES
) -> Iterator[bytes]:
    """Join and cut pieces of text so that no row is in two blocks; line ends may be in quotes.

    Parameters
    ----------
    pieces : iterable of bytes
        UTF-8; the last piece ends with a line end.
    dialect : CsvDialect
    max_row_bytes : int, default=MAX_ROW_BYTES

    Yields
    ------
    bytes
        At least one row, or blank lines. No line end is in two blocks.

    Examples
    --------
    >>> list(blocks_of_rows([b'a,b\\n1,"x', b'\\ny"\\n2,', b"z\\n"], CsvDialect()))
    [b'a,b\\n', b'1,"x\\ny"\\n', b'2,z\\n']
    """
    quote = dialect.quote.encode()
    whole_rows = _whole_rows(dialect)

    def end_of_rows(text: bytes) -> int:
        if quote not in text:
            return max(text.rfind(b"\n"), text.rfind(b"\r")) + 1
        match = whole_rows.match(text)
        assert match is not None  # it may be empty
        return match.end()

    rest = b""
    for piece in pieces:
        text = rest + piece
        end = end_of_rows(text.removesuffix(b"\r"))  # the next piece may begin with its "\n"
        if end:
            yield text[:end]
        rest = text[end:]
        if len(rest) > max_row_bytes:
            raise LongRowError
    if rest and end_of_rows(rest) < len(rest):
        raise OpenQuoteError(rest)
    if rest:
        yield rest


def joined(blocks: Iterable[bytes], min_bytes: int) -> Iterator[bytes]:
    """Join blocks until each has at least so many bytes; the last one may have fewer.

    >>> list(joined([b"1", b"22", b"3", b"4"], 3))
    [b'122', b'34']
    """
    parts: list[bytes] = []
    for block in blocks:
        parts.append(block)
        if sum(map(len, parts)) >= min_bytes:
            yield b"".join(parts)
            parts = []
    if parts:
        yield b"".join(parts)


def _whole_rows(dialect: CsvDialect) -> re.Pattern[bytes]:
    """A pattern of as many rows as possible. A quote is special at the start of a field only."""
    delimiter, quote = re.escape(dialect.delimiter), re.escape(dialect.quote)
    before_field = rf"[{delimiter}\r\n]"
    content = rf"[^{quote}]*+(?:{quote}{quote}[^{quote}]*+)*+"
    quoted = rf"(?:\A|(?<={before_field})){quote}{content}{quote}"
    not_special = rf"(?!\A)(?<!{before_field}){quote}"
    unquoted = rf"[^{quote}\r\n]*+"
    row = rf"{unquoted}(?:(?:{quoted}|{not_special}){unquoted})*+[\r\n]"
    return re.compile(rf"(?:{row})*+".encode())
