"""Options for reading table files."""

from __future__ import annotations

import io
from dataclasses import dataclass

from ._errors import TableError


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
        if self.batch_rows is not None and self.batch_rows < 1:
            raise TableError(f"batch_rows must be an integer >= 1, not {self.batch_rows}.")
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
