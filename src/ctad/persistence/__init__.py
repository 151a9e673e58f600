"""Model files: one zip with a JSON manifest, arrays without pickle, and checked objects.

No code from a file is run. Container, sizes and checksums are checked before anything is built, and
the types of objects of scikit-learn and PyOD, which skops writes, are looked up in a list.
"""

from typing import TYPE_CHECKING

from ._container import ModelFileError, read_manifest

if TYPE_CHECKING:
    from ._load import load

__all__ = ["ModelFileError", "load", "read_manifest"]


def __getattr__(name: str) -> object:
    if name == "load":  # imported when first used: a manifest can be read without scikit-learn
        from ._load import load

        return load
    raise AttributeError(f"module 'ctad.persistence' has no attribute {name!r}")
