"""Write a model file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import numpy.typing as npt

from .._library_versions import library_versions
from .._warnings import warn_user
from ._arrays import array_to_bytes
from ._container import FORMAT_VERSION, PathLike, write_container


class Writer:
    """Collects the arrays and objects of a model, then writes the file."""

    def __init__(self) -> None:
        self._entries: dict[str, bytes] = {}
        self._names: dict[tuple[str, bytes], str] = {}  # equal contents are written once
        self._counts: Counter[str] = Counter()
        self._unlisted: set[str] = set()

    def array(self, values: npt.ArrayLike) -> str:
        """Add an array; return its name in the file."""
        return self.entry("arrays/{}.npy", array_to_bytes(values))

    def object(self, value: Any) -> str:
        """Add an object made of types of scikit-learn and PyOD; return its name in the file."""
        from ._objects import pack

        name, unlisted = pack(value, self)
        self._unlisted |= unlisted
        return name

    def entry(self, pattern: str, content: bytes) -> str:
        """Add an entry, named by its number; return its name."""
        key = (pattern, content)
        if key not in self._names:
            self._names[key] = pattern.format(self._counts[pattern])
            self._counts[pattern] += 1
            self._entries[self._names[key]] = content
        return self._names[key]

    def save(
        self,
        path: PathLike,
        description: dict[str, Any],
        *,
        training_rows: int,
        columns: Iterable[Any] | None = None,
    ) -> None:
        """Write the file: `description` has the class, its parameters and its state."""
        from .. import __version__

        manifest = {
            "format_version": FORMAT_VERSION,
            "ctad": __version__,
            "versions": library_versions(),
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            **description,
            "columns": None if columns is None else list(columns),
            "training_rows": training_rows,
        }
        if self._unlisted:
            warn_user(
                "the model contains types that are not on ctad's list: to load it, use "
                f"load(path, trusted={sorted(self._unlisted)}), with their code installed."
            )
        write_container(path, manifest, self._entries)
