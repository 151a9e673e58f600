"""CSV text cut into blocks of whole rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ._csv_dialect import CsvDialect


class LongRowError(ValueError):
    """A row is longer than a block may be."""


class OpenQuoteError(ValueError):
    """The text ends within quotes; the argument is the row."""


def blocks_of_rows(
    pieces: Iterable[bytes], dialect: CsvDialect, max_row_bytes: int
) -> Iterator[bytes]:
    """Join and cut pieces of text so that no row is in two blocks; line ends may be in quotes.

    Parameters
    ----------
    pieces : iterable of bytes
        UTF-8; the last piece ends with a line end.
    dialect : CsvDialect
    max_row_bytes : int

    Yields
    ------
    bytes
        At least one row, or blank lines.

    Examples
    --------
    >>> list(blocks_of_rows([b'a,b\\n1,"x', b'\\ny"\\n2,', b"z\\n"], CsvDialect(), 100))
    [b'a,b\\n', b'1,"x\\ny"\\n', b'2,z\\n']
    """
    quote = dialect.quote.encode()
    whole_rows = _whole_rows(dialect)
    rest = b""
    for piece in pieces:
        text = rest + piece
        if quote in text:
            match = whole_rows.match(text)
            assert match is not None  # it may be empty
            end = match.end()
        else:
            end = max(text.rfind(b"\n"), text.rfind(b"\r")) + 1
        if end:
            yield text[:end]
        rest = text[end:]
        if len(rest) > max_row_bytes:
            raise LongRowError
    if rest:
        raise OpenQuoteError(rest)


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
