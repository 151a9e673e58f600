"""Model files: data with a closed schema.

A file is a zip with a JSON manifest and arrays (`_container`, `_arrays`). Each type that can be
stored has one description (`_descriptions`): a table of its parameters and attributes, each with
its kind (`_kinds`). `_writer` writes what the tables say, and `_reader` accepts nothing else.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from ._container import ModelFileError, read_manifest

if TYPE_CHECKING:
    from ._load import load
    from ._save import save
    from ._schema import file_schema

__all__ = ["ModelFileError", "file_schema", "load", "read_manifest", "save"]

# Imported when used: a manifest can be read without scikit-learn.
_MODULES = {"file_schema": "_schema", "load": "_load", "save": "_save"}


def __getattr__(name: str) -> object:
    if name in _MODULES:
        return getattr(import_module(f".{_MODULES[name]}", __name__), name)
    raise AttributeError(f"module 'ctad.persistence' has no attribute {name!r}")
