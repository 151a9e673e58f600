"""Checks of the path that a command writes to."""

from __future__ import annotations

from pathlib import Path

from .._atomic_files import check_replaceable
from ..errors import InputError


def check_output_path(output: str, *inputs: str) -> None:
    """Raise if the file cannot be written, or if it is one of the files that are read."""
    from ..io import find_tables

    check_replaceable(output)
    if not Path(output).exists():
        return
    for where in inputs:
        files = [Path(where)] if Path(where).is_file() else [f.path for f in find_tables(where)]
        if any(file.exists() and file.samefile(output) for file in files):
            raise InputError(
                f"{output} is an input file and would be overwritten: choose another name"
            )
