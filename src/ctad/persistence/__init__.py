"""Model files: one zip with a JSON manifest, arrays without pickle, and checked objects.

Container, sizes and checksums are checked before anything is built, and the types of objects of
scikit-learn and PyOD, which skops writes, are looked up in a list. This does not stop an attacker
yet: load only files that you trust.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from ._container import ModelFileError, read_manifest

if TYPE_CHECKING:
    from ._load import load
    from ._save import save

__all__ = ["ModelFileError", "load", "read_manifest", "save"]


def __getattr__(name: str) -> object:
    if name in ("load", "save"):  # imported when used: a manifest can be read without scikit-learn
        return getattr(import_module(f"._{name}", __name__), name)
    raise AttributeError(f"module 'ctad.persistence' has no attribute {name!r}")
