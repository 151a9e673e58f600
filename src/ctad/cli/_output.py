"""Where results may be written to."""

from __future__ import annotations

from pathlib import Path

from .._atomic_files import check_replaceable
from ..errors import InputError


def check_output(output: str, *inputs: str) -> None:
    """Raise if a file cannot be written, or if one that is read would be lost by it."""
    from ..io import find_tables

    check_replaceable(output)
    if not Path(output).exists():
        return
    for where in inputs:
        files = [Path(where)] if Path(where).is_file() else [f.path for f in find_tables(where)]
        if any(file.exists() and file.samefile(output) for file in files):
            raise InputError(
                f"{output} is read and would be replaced by something else: choose another name"
            )
