"""Read a model file."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import numpy.typing as npt

from .._library_versions import library_versions
from .._warnings import warn_user
from ..errors import InputError
from ._arrays import array_from_bytes
from ._container import PathLike, read_container, refusing

LIBRARIES_OF_OBJECTS = {"sklearn": "scikit-learn", "pyod": "pyod"}


class Reader:
    """A checked model file, from which a class rebuilds itself.

    Parameters
    ----------
    path : path-like
    trusted : iterable of str
        Full names of types, beyond those ctad knows, that objects may have.
    """

    def __init__(self, path: PathLike, trusted: Iterable[str] = ()) -> None:
        self.path = os.fspath(path)
        self.trusted = frozenset(trusted)
        self.packages: set[str] = set()  # whose types objects have
        self.manifest, self._entries = read_container(path)
        self.n_bytes = sum(map(len, self._entries.values()))

    def refusing(self) -> AbstractContextManager[None]:
        """Any error inside means that the file is bad."""
        return refusing(self.path)

    def array(self, name: Any) -> npt.NDArray[Any]:
        """The array that `Writer.array` added."""
        return array_from_bytes(self.entry(name, "arrays/"))

    def floats(self, name: Any, shape: tuple[int | None, ...]) -> npt.NDArray[np.float64]:
        """An array of finite numbers of this shape; None stands for any length but zero."""
        values = self.array(name)
        fits = values.ndim == len(shape) and all(
            length == wanted or (wanted is None and length > 0)
            for length, wanted in zip(values.shape, shape, strict=True)
        )
        if values.dtype != np.float64 or not fits or not np.isfinite(values).all():
            raise InputError(f"{name} does not hold finite numbers of shape {shape}")
        return values

    def object(self, name: Any, n_columns: int | None = None) -> Any:
        """The object that `Writer.object` added, built after its types are checked.

        `n_columns` is the width of the rows it will get, if that is known.
        """
        from ._objects import unpack

        return unpack(self.entry(name, "objects/"), self, n_columns)

    def entry(self, name: Any, folder: str) -> bytes:
        """The content of an entry."""
        if not (isinstance(name, str) and name.startswith(folder)):
            raise InputError(f"{name!r} is no entry of {folder}")
        return self._entries[name]

    def warn_of_other_versions(self) -> None:
        """Warn if what objects are made of has another version here than where it was written."""
        here, there = library_versions(), self.manifest["versions"]
        changed = [
            f"{name} {there.get(name)} (here {here[name]})"
            for package, name in LIBRARIES_OF_OBJECTS.items()
            if package in self.packages and there.get(name) != here[name]
        ]
        if changed:
            warn_user(
                f"{self.path} was written with {' and '.join(changed)}: scores may differ. Where "
                "they matter, install the same versions or train anew."
            )
