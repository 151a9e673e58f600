"""Objects as they are stored, without a file around them."""

from typing import Any

import numpy as np

from ctad.persistence._arrays import array_from_bytes
from ctad.persistence._descriptions import DESCRIPTIONS
from ctad.persistence._descriptions._network_weights import Weights
from ctad.persistence._kinds import Object
from ctad.persistence._reader import Reader
from ctad.persistence._writer import Writer

ANYWHERE = Object(types=tuple(DESCRIPTIONS))


def store(item: Any) -> tuple[dict[str, Any], dict[str, bytes]]:
    """An object as JSON, and the entries of its arrays."""
    writer = Writer()
    return ANYWHERE.write(item, writer), writer._entries


def restore(stored: dict[str, Any], entries: dict[str, bytes]) -> Any:
    """The object that was stored."""
    reader = Reader("model.ctad", {"model": stored, "versions": {}}, entries)
    with np.errstate(all="ignore"):
        return reader.model(ANYWHERE)


def places(kind: Any, stored: Any, entries: dict[str, bytes]):
    """Every value of a stored object: its path in the JSON, its kind, and the value."""
    from ctad.persistence import _kinds as kinds

    def walk(kind, stored, path):
        yield path, kind, stored
        if isinstance(kind, kinds.Optional | kinds.MayBeMissing):
            if stored is not None:
                yield from walk(kind.kind, stored, path)
        elif isinstance(kind, kinds.OneOf):
            for each in kind.kinds:
                yield from walk(each, stored, path)
        elif isinstance(kind, kinds.ListOf) and isinstance(stored, list):
            for number, item in enumerate(stored):
                yield from walk(kind.kind, item, (*path, number))
        elif isinstance(kind, kinds.Record) and isinstance(stored, dict):
            for name, each in kind.fields.items():
                if name in stored:
                    yield from walk(each, stored[name], (*path, name))
        elif isinstance(kind, Weights) and isinstance(stored, dict):
            for name, item in stored.items():
                values = array_from_bytes(entries[item["array"]])
                low = 0 if name.endswith(("_var", "_tracked")) else None
                yield from walk(
                    kinds.Array(values.dtype.name, values.shape, low), item, (*path, name)
                )
        elif isinstance(kind, kinds.Object) and isinstance(stored, dict) and "parameters" in stored:
            description = DESCRIPTIONS[stored["type"]]
            for part in ("parameters", "fitted"):
                for name, each in getattr(description, part).items():
                    if stored[part] is not None and name in stored[part]:
                        yield from walk(each, stored[part][name], (*path, part, name))
        else:
            for inner, each in kind.parts(stored):
                value = stored
                for key in inner:
                    value = value[key]
                yield from walk(each, value, (*path, *inner))

    yield from walk(kind, stored, ())
