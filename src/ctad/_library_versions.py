"""The software that models and results depend on."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba", "pyod", "skops", "torch")


def library_versions() -> dict[str, str | None]:
    """Versions of Python and of the libraries; None if one is not installed."""
    return {"python": platform.python_version(), **{name: _version(name) for name in LIBRARIES}}


def _version(library: str) -> str | None:
    try:
        return version(library)
    except PackageNotFoundError:
        return None
