"""Objects of scikit-learn and PyOD in a model file: written by skops, checked before skops reads.

skops describes an object as a tree of nodes. The tree is an entry of the file, and its arrays are
entries like all others. The numbers by which nodes refer to each other are removed: so an object is
never larger than its description, and an object in two places becomes two equal objects.
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

# The version of skops' descriptions, the same from skops 0.13 to 0.16 at least. In another version
# the checks here might miss something: in version 1, functions had a second name.
PROTOCOL = 2

# Equal arrays of a model are one entry of its file, so they may need more memory than the file.
MAX_GROWTH = 16


def pack(value: Any, writer: Writer) -> tuple[str, set[str]]:
    """Add an object to a file; return its entry and its types that are not on ctad's list."""
    import skops.io

    name = type(value).__name__
    check_savable(value)
    without_networks = split_networks(value, writer)
    try:
        archive = ZipFile(io.BytesIO(skops.io.dumps(without_networks)))
    except Exception as error:
        raise InputError(
            f"{name} cannot be saved: it contains something that a model file cannot hold "
            f"({error})."
        ) from error
    schema = json.loads(archive.read("schema.json"))
    if schema["protocol"] != PROTOCOL:
        raise RuntimeError("ctad does not support this version of skops: install skops 0.16")
    unlisted = set()
    for node in _nodes(schema):
        del node["__id__"]
        if "file" in node:
            node["file"] = writer.entry("arrays/{}.npy", archive.read(node["file"]))
        loader, type_name = node["__loader__"], _type_name(node)
        if type_name not in ALLOWED.get(loader, ()):
            if loader not in EXTENDABLE or is_metric(type_name) or not _can_be_found(node):
                raise InputError(
                    f"{name} cannot be saved: it contains {type_name} ({loader}), which a "
                    "model file cannot hold."
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
        # `Reader` compares the versions, also those of other libraries.
        warnings.simplefilter("ignore", InconsistentVersionWarning)
        value = skops.io.loads(buffer.getvalue(), trusted=names)
    load_networks(value, reader)
    check_parts(value, n_columns)
    return value


def _checked_files(schema: Any, reader: Reader) -> dict[str, bytes]:
    """Check all nodes; return the arrays that they use."""
    protocol = schema["protocol"]
    if type(protocol) is not int or protocol != PROTOCOL:
        raise InputError(f"the protocol of skops is {protocol!r}")
    unknown = set()
    files = {}
    n_bytes = 0
    for node in _nodes(schema):
        loader, type_name = node["__loader__"], _type_name(node)
        known = type_name in ALLOWED.get(loader, ())
        if "__id__" in node or not (known or loader in EXTENDABLE):
            raise InputError(f"it contains {type_name} ({loader}), which is not allowed")
        if not known and type_name not in reader.trusted:
            unknown.add(type_name)
        elif loader == "NdArrayNode" and node["type"] == "numpy":
            files[node["file"]] = reader.entry(node["file"], "arrays/")
            n_bytes += len(files[node["file"]])
        elif loader == "DictNode":
            _check_keys(node)
    if unknown:
        raise ModelFileError(
            f"{reader.path} contains types that are not on ctad's list, so nothing was built. If "
            "you know where the file comes from and trust their code, use "
            f"load(path, trusted={sorted(unknown)})."
        )
    # Each node gets an array of its own, also from the same entry.
    if n_bytes > MAX_GROWTH * reader.n_bytes:
        raise InputError("it would be much larger in memory")
    for type_name in {_type_name(node) for node in _nodes(schema)} & reader.trusted:
        _require_importable(type_name, reader)
    arrays = {name: array_from_bytes(file) for name, file in files.items()}
    for node in _nodes(schema):
        check_compiled(_type_name(node), node, arrays.__getitem__)
    return files


def _check_keys(node: Node) -> None:
    """Keys are built by calling their types, so only numbers and strings are allowed."""
    key_types = node["key_types"]["content"]
    if node["key_types"]["__loader__"] != "ListNode" or len(key_types) != len(node["content"]):
        raise InputError("a dictionary with missing keys")
    for key_type in key_types:
        if key_type["__loader__"] != "TypeNode" or _type_name(key_type) not in KEY_TYPES:
            raise InputError("a dictionary with keys that are not numbers or strings")


def _nodes(schema: Any) -> Iterator[Node]:
    """All nodes of skops' description, at any depth."""
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
        raise TypeError("a node without a type")
    return f"{node['__module__']}.{node['__class__']}"


def _require_importable(type_name: str, reader: Reader) -> None:
    """Raise if a type that the user trusts does not exist here."""
    module, _, name = type_name.rpartition(".")
    if not hasattr(import_module(module), name):
        raise ModelFileError(
            f"{reader.path} needs {name}, which module {module} does not define here."
        )


def _can_be_found(node: Node) -> bool:
    """Whether it can be imported by its name; a lambda or a local class cannot."""
    return hasattr(sys.modules.get(node["__module__"]), node["__class__"])
