"""Model files: one zip with a JSON manifest, arrays without pickle, and checked objects.

Nothing here runs code from a file. `Reader` checks the container, sizes and checksums before
anything is built, and foreign objects (scikit-learn's and PyOD's, by skops) against a list of
types by name.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from ._container import ModelFileError, read_manifest, refusing

if TYPE_CHECKING:
    from ._load import load
    from ._save import save

__all__ = ["ModelFileError", "load", "read_manifest", "refusing", "save"]

# Imported when first used: a manifest can be read without scikit-learn.
_MODULE_OF = {"load": "_load", "save": "_save"}


def __getattr__(name: str) -> object:
    if name in _MODULE_OF:
        return getattr(import_module(f".{_MODULE_OF[name]}", __name__), name)
    raise AttributeError(f"module 'ctad.persistence' has no attribute {name!r}")
