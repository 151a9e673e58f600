"""The `save` method of everything that a model file can hold."""

from __future__ import annotations

from importlib import import_module
from os import PathLike


class SaveMixin:
    """Objects that `ctad.persistence` can write.

    Persistence knows the classes it stores, so it stands above them. It is looked up by name when
    it is needed, which keeps the classes independent of it.
    """

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted object to one file that `ctad.load` reads, without pickle.

        Parameters
        ----------
        path : path-like
            Replaced in one step, or left as it is if saving fails. Usually ends in .ctad.
        """
        import_module("ctad.persistence").save(self, path)
