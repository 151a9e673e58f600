"""Errors in table files."""

from ..errors import InputError


class TableError(InputError):
    """A table file that cannot be read or written; the message names the file."""
