"""The `save` method of all classes that a model file can hold."""

from __future__ import annotations

from importlib import import_module
from os import PathLike


class SaveMixin:
    """Adds `save` to a class that `ctad.persistence` can write.

    Persistence is above these classes in the layers, so it is imported by name when it is needed.
    """

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted object to one file that `ctad.load` reads, without pickle.

        Parameters
        ----------
        path : path-like
            Usually ends in .ctad. An existing file is replaced in one step, or kept if saving
            fails.
        """
        import_module("ctad.persistence").save(self, path)
