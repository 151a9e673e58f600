"""The list of files that were scored into a folder, so that a later run can skip them."""

from __future__ import annotations

import json
from pathlib import Path, PurePosixPath
from typing import Any

from .._atomic_files import replacing
from .._untrusted_files import check_inside, has_more_values, read_untrusted
from ._errors import TableError
from ._table_files import TableFile

JOURNAL = ".ctad-scored.json"
MAX_BYTES = 2**26  # more than 100,000 files
MAX_VALUES = 2**21
SIZES = ("input_bytes", "input_mtime_ns", "output_bytes")

Entry = dict[str, Any]


class Journal:
    """The finished files of an output folder, with what each was made from and its size.

    Parameters
    ----------
    folder : pathlib.Path
    made_by : dict
        The model and the options: everything that changes the output for the same input. Its values
        are str or None.
    """

    def __init__(self, folder: Path, made_by: dict[str, str | None]) -> None:
        self._folder, self._made_by = folder, made_by
        self._path = folder / JOURNAL
        self._entries: dict[str, Entry] = {}
        check_inside(self._path, folder)
        if self._path.exists():
            self._entries = self._read()

    def entry(self, source: TableFile) -> Entry:
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

    def add(self, source: TableFile, entry: Entry) -> None:
        """Record a finished file, with the `entry` it had before it was read."""
        size = (self._folder / source.name).stat().st_size
        self._entries[source.name] = {**entry, "output_bytes": size}
        with replacing(self._path, within=self._folder) as part:
            part.write_text(json.dumps(self._entries, indent=1, sort_keys=True))

    def _read(self) -> dict[str, Entry]:
        """The entries in the file, which may come from somebody else."""
        content = read_untrusted(self._path, self._folder, MAX_BYTES)
        if has_more_values(content, MAX_VALUES):
            raise self._damaged("it has too many values")
        try:
            entries = json.loads(content)
        except (ValueError, RecursionError) as error:
            raise self._damaged("it is not JSON") from error
        if not isinstance(entries, dict):
            raise self._damaged("it has no entries")
        for name, entry in entries.items():
            if not _is_inside(name):
                raise self._damaged(f"{name[:50]!r} is not a file in this folder")
            if not self._is_entry(entry):
                raise self._damaged(f"the entry of {name[:50]!r} has other values")
        return entries

    def _is_entry(self, entry: Any) -> bool:
        return (
            isinstance(entry, dict)
            and entry.keys() == {*self._made_by, *SIZES}
            and all(type(entry[name]) is int and abs(entry[name]) < 2**63 for name in SIZES)
            and all(isinstance(entry[name], str | None) for name in self._made_by)
        )

    def _damaged(self, reason: str) -> TableError:
        return TableError(
            f"{self._path} is damaged ({reason}): delete it, and all files are scored again"
        )


def _is_inside(name: str) -> bool:
    path = PurePosixPath(name)
    return bool(path.parts) and not path.is_absolute() and ".." not in path.parts
