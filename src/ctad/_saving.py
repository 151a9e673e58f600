"""The `save` method of all classes that a model file can hold."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from os import PathLike


class SaveMixin:
    """Adds `save` to a class that `ctad.persistence` can write.

    Persistence is above these classes in the layers, so it is imported by name when it is needed.
    """

    def save(self, path: str | PathLike[str], *, trusted: Iterable[str] = ()) -> None:
        """Write the fitted object to one file that `ctad.load` reads.

        Parameters
        ----------
        path : path-like
            Usually ends in .ctad. An existing file is replaced in one step, or kept if saving
            fails.
        trusted : iterable of str, default=()
            Full names of types that ctad cannot describe, such as "my_package.MyDetector", to store
            all the same. Whoever loads the file must list them, too: such a file can run code.
        """
        import_module("ctad.persistence").save(self, path, trusted=trusted)
