"""Options for reading table files."""

from __future__ import annotations

import io
from dataclasses import dataclass
from numbers import Integral

from ._errors import TableError

MAX_BATCH_ROWS = 2**31 - 1  # of 8 bytes each, these are 16 GB per column


@dataclass(frozen=True)
class ReadOptions:
    """How to read table files.

    Attributes
    ----------
    batch_rows : int or None
        Maximum number of rows per batch. None: 131,072, or fewer for more than 32 columns.
    encoding, delimiter : str or None
        Encoding and delimiter of CSV files. None: detect them.

    Examples
    --------
    >>> from ctad.io import ReadOptions
    >>> ReadOptions(delimiter=";").encoding is None
    True
    """

    batch_rows: int | None = None
    encoding: str | None = None
    delimiter: str | None = None

    def __post_init__(self) -> None:
        if self.batch_rows is not None and not (
            isinstance(self.batch_rows, Integral) and 1 <= self.batch_rows <= MAX_BATCH_ROWS
        ):
            raise TableError(f"batch_rows must be an integer from 1 to {MAX_BATCH_ROWS}.")
        if self.delimiter is not None and not _is_delimiter(self.delimiter):
            raise TableError(
                "the delimiter must be one ASCII character that is not a quote or a line end, not "
                f"{self.delimiter!r}."
            )
        if self.encoding is not None:
            try:
                io.TextIOWrapper(io.BytesIO(), self.encoding)
            except LookupError:
                raise TableError(f"there is no encoding {self.encoding!r}.") from None


DEFAULT_OPTIONS = ReadOptions()


def _is_delimiter(text: str) -> bool:
    return len(text) == 1 and text.isascii() and text not in "\"'\r\n\0"
