"""Read a model file."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import numpy.typing as npt

from .._library_versions import library_versions
from .._types import Floats
from .._warnings import warn_user
from ..errors import InputError
from ._arrays import array_from_bytes
from ._container import PathLike, model_file_errors, read_container

LIBRARIES_OF_OBJECTS = {"sklearn": "scikit-learn", "pyod": "pyod"}


class Reader:
    """The contents of a model file, checked.

    Parameters
    ----------
    path : path-like
    trusted : iterable of str
        Full names of types that objects may have, beyond those on ctad's list.
    """

    def __init__(self, path: PathLike, trusted: Iterable[str] = ()) -> None:
        self.path = os.fspath(path)
        self.trusted = frozenset(trusted)
        self.packages: set[str] = set()  # those that define the types of objects read so far
        self.manifest, self._entries = read_container(path)
        self.n_bytes = sum(map(len, self._entries.values()))

    def errors(self) -> AbstractContextManager[None]:
        """Raise any error inside the context as ModelFileError."""
        return model_file_errors(self.path)

    def array(self, name: Any) -> npt.NDArray[Any]:
        """The array that `Writer.array` added."""
        return array_from_bytes(self.entry(name, "arrays/"))

    def floats(self, name: Any, shape: tuple[int | None, ...]) -> Floats:
        """An array of finite numbers of this shape; None stands for any length but zero."""
        values = self.array(name)
        fits = values.ndim == len(shape) and all(
            length == wanted or (wanted is None and length > 0)
            for length, wanted in zip(values.shape, shape, strict=True)
        )
        if values.dtype != np.float64 or not fits or not np.isfinite(values).all():
            raise InputError(f"{name} does not contain finite numbers of shape {shape}")
        return values

    def object(self, name: Any, n_columns: int | None = None) -> Any:
        """The object that `Writer.object` added, built after its types are checked.

        `n_columns` is the number of columns of the rows that it gets, if known.
        """
        from ._objects import unpack

        return unpack(self.entry(name, "objects/"), self, n_columns)

    def entry(self, name: Any, folder: str) -> bytes:
        """The content of an entry."""
        if not (isinstance(name, str) and name.startswith(folder)):
            raise InputError(f"{name!r} is not an entry of {folder}")
        return self._entries[name]

    def warn_of_other_versions(self) -> None:
        """Warn if scikit-learn or PyOD, if objects use them, have other versions here."""
        here, there = library_versions(), self.manifest["versions"]
        changed = [
            f"{name} {there.get(name)} (here {here[name]})"
            for package, name in LIBRARIES_OF_OBJECTS.items()
            if package in self.packages and there.get(name) != here[name]
        ]
        if changed:
            warn_user(
                f"{self.path} was written with {' and '.join(changed)}: scores may differ. Install "
                "the same versions or retrain the model if that matters."
            )
