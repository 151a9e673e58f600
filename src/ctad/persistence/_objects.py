"""Objects of scikit-learn and PyOD in a model file: written by skops, checked before it reads.

skops describes an object as a tree of nodes. Here that tree is stored as an entry of its own,
its arrays beside all others, and without the numbers by which nodes refer to each other: a tree
is then no larger than its text, and what was one object in two places becomes two equal ones.
"""

from __future__ import annotations

import io
import json
import sys
import warnings
from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any
from zipfile import ZIP_STORED, ZipFile

from ..errors import InputError
from ._allowed_types import ALLOWED, EXTENDABLE, KEY_TYPES
from ._arrays import array_from_bytes
from ._compiled_objects import check_compiled, is_metric
from ._container import ModelFileError, json_from
from ._networks import load_networks, split_networks
from ._object_checks import check_parts, check_savable

if TYPE_CHECKING:
    from ._reader import Reader
    from ._writer import Writer

Node = dict[str, Any]

# How nodes are described, of skops 0.13 to 0.16 at least. With another protocol the checks here
# might look at the wrong place: in the first, functions had a second name.
PROTOCOL = 2

MAX_GROWTH = 16  # arrays of a model that are equal are one entry of its file


def pack(value: Any, writer: Writer) -> tuple[str, set[str]]:
    """Add an object to a file; returns its entry and the types that ctad does not know."""
    import skops.io

    name = type(value).__name__
    check_savable(value)
    without_networks = split_networks(value, writer)
    try:
        archive = ZipFile(io.BytesIO(skops.io.dumps(without_networks)))
    except Exception as error:
        raise TypeError(
            f"{name} cannot be saved: it keeps something that has no safe form in a file ({error})."
        ) from error
    schema = json.loads(archive.read("schema.json"))
    if schema["protocol"] != PROTOCOL:
        raise RuntimeError("this skops writes in a way ctad does not know yet: install skops 0.16")
    unlisted = set()
    for node in _nodes(schema):
        del node["__id__"]
        if "file" in node:
            node["file"] = writer.entry("arrays/{}.npy", archive.read(node["file"]))
        loader, type_name = node["__loader__"], _type_name(node)
        if type_name not in ALLOWED.get(loader, ()):
            if loader not in EXTENDABLE or is_metric(type_name) or not _can_be_found(node):
                raise TypeError(
                    f"{name} cannot be saved: it keeps {type_name} ({loader}), which has no safe "
                    "form in a file."
                )
            unlisted.add(type_name)
    content = json.dumps(schema, separators=(",", ":")).encode()
    return writer.entry("objects/{}.json", content), unlisted


def unpack(content: bytes, reader: Reader, n_columns: int | None) -> Any:
    """Build an object once all its types are known to be allowed."""
    import skops.io
    from sklearn.exceptions import InconsistentVersionWarning

    schema = json_from(content)
    files = _checked_files(schema, reader)
    buffer = io.BytesIO()
    with ZipFile(buffer, "w", ZIP_STORED) as archive:
        archive.writestr("schema.json", content)
        for name, file in files.items():
            archive.writestr(name, file)
    names = sorted({_type_name(node) for node in _nodes(schema)})
    reader.packages.update(name.partition(".")[0] for name in names)
    with warnings.catch_warnings():
        # The manifest tells the versions, also of other libraries.
        warnings.simplefilter("ignore", InconsistentVersionWarning)
        value = skops.io.loads(buffer.getvalue(), trusted=names)
    load_networks(value, reader)
    check_parts(value, n_columns)
    return value


def _checked_files(schema: Any, reader: Reader) -> dict[str, bytes]:
    """Check all nodes; returns the arrays they use."""
    protocol = schema["protocol"]
    if type(protocol) is not int or protocol != PROTOCOL:
        raise InputError(f"protocol {protocol!r} of skops")
    unknown = set()
    files = {}
    n_bytes = 0
    for node in _nodes(schema):
        loader, type_name = node["__loader__"], _type_name(node)
        known = type_name in ALLOWED.get(loader, ())
        if "__id__" in node or not (known or loader in EXTENDABLE):
            raise InputError(f"it has {type_name} ({loader}) as no model file has")
        if not known and type_name not in reader.trusted:
            unknown.add(type_name)
        elif loader == "NdArrayNode" and node["type"] == "numpy":
            files[node["file"]] = reader.entry(node["file"], "arrays/")
            n_bytes += len(files[node["file"]])
        elif loader == "DictNode":
            _check_keys(node)
    if unknown:
        raise ModelFileError(
            f"{reader.path} has types that ctad does not know. Nothing of it was built. If you "
            "know where the file comes from and trust their code, say "
            f"load(path, trusted={sorted(unknown)})."
        )
    # Each node gets an array of its own, also of the same entry.
    if n_bytes > MAX_GROWTH * reader.n_bytes:
        raise InputError("it would be much larger in memory")
    for type_name in {_type_name(node) for node in _nodes(schema)} & reader.trusted:
        _require_there(type_name, reader)
    arrays = {name: array_from_bytes(file) for name, file in files.items()}
    for node in _nodes(schema):
        check_compiled(_type_name(node), node, arrays.__getitem__)
    return files


def _check_keys(node: Node) -> None:
    """Keys are made by calling their types: only numbers and texts may be."""
    key_types = node["key_types"]["content"]
    if node["key_types"]["__loader__"] != "ListNode" or len(key_types) != len(node["content"]):
        raise InputError("a dictionary with keys missing")
    for key_type in key_types:
        if key_type["__loader__"] != "TypeNode" or _type_name(key_type) not in KEY_TYPES:
            raise InputError("a dictionary with keys of another kind")


def _nodes(schema: Any) -> Iterator[Node]:
    """All nodes of skops' description, wherever they are."""
    stack = [schema]
    while stack:
        item = stack.pop()
        if isinstance(item, dict):
            if "__loader__" in item:
                yield item
            stack.extend(item.values())
        elif isinstance(item, list):
            stack.extend(item)


def _type_name(node: Node) -> str:
    if not all(isinstance(node[key], str) for key in ("__loader__", "__module__", "__class__")):
        raise TypeError("a part without a type")
    return f"{node['__module__']}.{node['__class__']}"


def _require_there(type_name: str, reader: Reader) -> None:
    """A type that the user trusts must be there, too."""
    module, _, name = type_name.rpartition(".")
    if not hasattr(import_module(module), name):
        raise ModelFileError(
            f"{reader.path} needs {name}, which is not in module {module} here: define it first."
        )


def _can_be_found(node: Node) -> bool:
    """Whether its name leads to it: that of a lambda or a local class does not."""
    return hasattr(sys.modules.get(node["__module__"]), node["__class__"])
