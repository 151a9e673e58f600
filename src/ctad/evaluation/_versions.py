"""The software that made a result."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from hashlib import sha256

from .. import __version__
from .._library_versions import library_versions


@dataclass(frozen=True)
class Environment:
    """An identifier of the software in use, which results store instead of the versions."""

    id: str


@dataclass(frozen=True)
class Versions:
    """The versions, on one line."""

    versions: str


@cache
def versions_line() -> str:
    """Versions of Python, ctad and the libraries that results depend on."""
    versions = {"ctad": __version__, **library_versions()}
    return ", ".join(f"{name} {version}" for name, version in versions.items() if version)


def environment() -> Environment:
    """The software in use now."""
    return Environment(sha256(versions_line().encode()).hexdigest()[:8])
