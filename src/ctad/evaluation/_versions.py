"""Which software made a result."""

from __future__ import annotations

import platform
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from typing import NamedTuple

from .. import __version__

PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "pyod", "torch")


class Environment(NamedTuple):
    """A short name for the software in use, so that not every result need list it."""

    id: str


class Versions(NamedTuple):
    """What it stands for."""

    versions: str


@cache
def versions() -> str:
    """Versions of Python, ctad and what results depend on, on one line."""
    found = [f"python {platform.python_version()}", f"ctad {__version__}"]
    for package in PACKAGES:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    return ", ".join(found)


def environment() -> Environment:
    """The software in use now."""
    return Environment(sha256(versions().encode()).hexdigest()[:8])
