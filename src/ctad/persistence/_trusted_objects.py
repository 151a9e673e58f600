"""Objects of types without a description: written by skops, for readers who trust the file.

skops restores any attribute of a type that it accepts, so a file with such an object can run code.
It is written and read only if the user lists the types.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping
from typing import Any

from .._quoting import listed
from ..errors import InputError
from ._kinds import NotDescribedError, require, shown


def check_trusted(names: Any) -> None:
    """Raise if a single string is passed instead of a list of names."""
    if isinstance(names, str):
        raise TypeError(f"trusted must be a list of names: trusted=[{names!r}]")


def pack_trusted(item: Any) -> tuple[bytes, set[str]]:
    """An object in the format of skops, and its types."""
    import skops.io

    name = full_name(item)
    try:
        content = skops.io.dumps(item)
        types = {name, *skops.io.get_untrusted_types(data=content)}
    except Exception as error:  # the object may be anything
        raise InputError(
            f"{name} cannot be saved: model files have no description of it, and it contains "
            f"something that trusted= cannot store either ({type(error).__name__}: {error})"
        ) from error
    return content, types


def check_all_trusted(packed: Mapping[str, Collection[str]], trusted: Collection[str]) -> None:
    """Raise unless the types of all packed objects, by the name of the object, are trusted."""
    not_trusted = [name for name, types in packed.items() if not set(types).issubset(trusted)]
    if not_trusted:
        types = sorted(set().union(*packed.values()))
        is_search = any(name.startswith("sklearn.model_selection.") for name in not_trusted)
        hint = " Wrap the best_estimator_ of the search instead." if is_search else ""
        raise InputError(
            f"{listed(not_trusted)} cannot be saved: model files have no description of it.{hint} "
            f"To store it all the same, use save(path, trusted={types}). Whoever loads the file "
            "must then list these types, too, and trust you: such a file can run code."
        )


def unpack_trusted(name: str, content: bytes, trusted: Collection[str]) -> Any:
    """The object that `pack_trusted` wrote; raises for any type that is not trusted."""
    import skops.io
    from sklearn.exceptions import InconsistentVersionWarning

    require(name in trusted, f"{shown(name)} is not in the list of trusted types")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", InconsistentVersionWarning)  # `Reader` warns
            item = skops.io.loads(content, trusted=sorted(trusted))
    except ImportError:
        raise
    except Exception as error:  # their code may raise anything
        reason = str(error).rstrip(". ")
        raise NotDescribedError(f"{name}: {type(error).__name__}: {reason}") from error
    require(full_name(item) == name, f"{full_name(item)} instead of {name}")
    return item


def full_name(item: Any) -> str:
    """Module and class of an object."""
    return f"{type(item).__module__}.{type(item).__qualname__}"
