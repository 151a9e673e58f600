"""The list of files that were scored into a folder, so that a later run can skip them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .._atomic_files import replacing
from ._table_files import TableFile

JOURNAL = ".ctad-scored.json"


class Journal:
    """The finished files of an output folder, with what each was made from and its size.

    Parameters
    ----------
    folder : pathlib.Path
    made_by : dict
        The model and the options: everything that changes the output for the same input.
    """

    def __init__(self, folder: Path, made_by: dict[str, Any]) -> None:
        self._folder, self._made_by = folder, made_by
        self._path = folder / JOURNAL
        self._entries: dict[str, Any] = {}
        if self._path.exists():
            try:
                self._entries = dict(json.loads(self._path.read_bytes()))
            except (TypeError, ValueError):  # not written by us: no file counts as finished
                self._entries = {}

    def entry(self, source: TableFile) -> dict[str, Any]:
        """What the output of a file depends on."""
        status = source.path.stat()
        return {
            **self._made_by,
            "input_bytes": status.st_size,
            "input_mtime_ns": status.st_mtime_ns,
        }

    def is_finished(self, source: TableFile) -> bool:
        """Whether the output of a file exists and was made from the file as it is now."""
        target = self._folder / source.name
        if not target.is_file():
            return False
        return bool(
            self._entries.get(source.name)
            == {**self.entry(source), "output_bytes": target.stat().st_size}
        )

    def add(self, source: TableFile, entry: dict[str, Any]) -> None:
        """Record a finished file, with the `entry` it had before it was read."""
        size = (self._folder / source.name).stat().st_size
        self._entries[source.name] = {**entry, "output_bytes": size}
        with replacing(self._path) as part:
            part.write_text(json.dumps(self._entries, indent=1, sort_keys=True))
