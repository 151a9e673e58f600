"""Write a model file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from inspect import signature
from typing import Any

import numpy.typing as npt

from .._library_versions import library_versions
from ._arrays import array_to_bytes
from ._container import FORMAT_VERSION
from ._description import Description
from ._descriptions import description_of
from ._kinds import NOWHERE, NotDescribedError, Object, write_fields
from ._trusted_objects import check_all_trusted, full_name, pack_trusted


class Writer:
    """Collects the arrays of a model, and gives the contents of its file.

    Parameters
    ----------
    trusted : iterable of str
        Full names of types without a description that may be stored all the same.
    """

    def __init__(self, trusted: Iterable[str] = ()) -> None:
        self._trusted = frozenset(trusted)
        self._packed: dict[str, set[str]] = {}  # objects without a description, and their types
        self._entries: dict[str, bytes] = {}
        self._counts: Counter[str] = Counter()
        self.place = NOWHERE  # the kind of the place where the object stands that is written now

    def array(self, values: npt.NDArray[Any]) -> str:
        """Add an array; return its name in the file."""
        return self.entry("arrays/{}.npy", array_to_bytes(values))

    def object(self, item: Any, kind: Object) -> dict[str, Any]:
        """An object as JSON."""
        description = description_of(item)
        if description is None:
            name = full_name(item)
            content, types = pack_trusted(item)
            self._packed.setdefault(name, set()).update(types)
            return {"type": name, "trusted": self.entry("trusted/{}.skops", content)}
        if not kind.allows(description):
            raise NotDescribedError(f"{description.class_name} cannot be stored here")
        name, outer = description.class_name, self.place
        self.place = kind
        try:
            parameters = _parameters(item, description)
            fitted = description.fitted_values(item)
            if kind.fitted is not None and kind.fitted != (fitted is not None):
                raise NotDescribedError("not fitted" if kind.fitted else "fitted")
            return {
                "type": description.type,
                "parameters": write_fields(description.optional_parameters, parameters, self),
                "fitted": None
                if fitted is None
                else write_fields(description.fitted, fitted, self),
            }
        except NotDescribedError as error:
            raise error.inside(name) from None
        finally:
            self.place = outer

    def entry(self, pattern: str, content: bytes) -> str:
        """Add an entry, named by its number; return its name."""
        name = pattern.format(self._counts[pattern])
        self._counts[pattern] += 1
        self._entries[name] = content
        return name

    def contents(self, model: dict[str, Any]) -> tuple[dict[str, Any], dict[str, bytes]]:
        """Manifest and entries of the file of a model. Raises if an object needs more trust."""
        from .. import __version__

        check_all_trusted(self._packed, self._trusted)
        manifest = {
            "format_version": FORMAT_VERSION,
            "ctad": __version__,
            "versions": library_versions(),
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            "trusted": sorted(set().union(*self._packed.values())),
            "model": model,
        }
        return manifest, self._entries


def _parameters(item: Any, description: Description) -> dict[str, Any]:
    """The parameters of an object, without those of newer libraries that have their default."""
    values = description.given(item)
    defaults = signature(type(item)).parameters
    return {
        name: value
        for name, value in values.items()
        if name in description.parameters or value is not defaults[name].default
    }
