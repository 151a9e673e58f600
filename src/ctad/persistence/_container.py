"""The container of a model file: a zip of stored entries, all of them listed in a manifest."""

from __future__ import annotations

import hashlib
import json
import os
import re
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO
from zipfile import ZIP_STORED, ZipFile, ZipInfo

from .._atomic_files import replacing
from ..errors import InputError

FORMAT_VERSION = 1
MANIFEST = "manifest.json"

# Entries are stored, not compressed, one after the other and nothing between them. So what is read
# from a file is never larger than the file itself, and a zip bomb is not possible.
MAX_ENTRIES = 200_000
MAX_JSON_BYTES = 2**28
MAX_MANIFEST_DEPTH = 50
ENTRY_NAME = re.compile(
    r"manifest\.json|(objects/[0-9]+\.json|arrays/[0-9]+\.npy|weights/[0-9]+\.safetensors)"
)
LOCAL_HEADER = struct.Struct("<4s5H3L2H")
END_OF_ZIP = 22  # bytes, without a comment

# The keys of a manifest and the types of their values.
MANIFEST_TYPES: dict[str, Any] = {
    "format_version": int,
    "ctad": str,
    "versions": dict,
    "created": str,
    "class": str,
    "parameters": dict,
    "state": dict,
    "columns": list | None,
    "training_rows": int,
    "entries": dict,
}

PathLike = str | os.PathLike[str]


class ModelFileError(InputError):
    """A file that is damaged, altered, of a newer format, or not a model file."""


@contextmanager
def model_file_errors(path: PathLike) -> Iterator[None]:
    """Raise any error that a bad file causes in zipfile, numpy or skops as ModelFileError."""
    try:
        yield
    except ModelFileError:
        raise
    except ImportError as error:
        raise ModelFileError(
            f"{os.fspath(path)} contains a model that needs {error.name}, which is not installed "
            f"here ({error}): install it and load the file again."
        ) from error
    except Exception as error:
        raise ModelFileError(
            f"{os.fspath(path)} is damaged or was altered ({error}): copy it again from its "
            "source, or save the model again."
        ) from error


def write_container(path: PathLike, manifest: dict[str, Any], entries: dict[str, bytes]) -> None:
    """Write the entries and the manifest, which lists the size and checksum of every entry."""
    listed = {
        name: {"sha256": hashlib.sha256(content).hexdigest(), "size": len(content)}
        for name, content in entries.items()
    }
    text = json.dumps({**manifest, "entries": listed}, indent=1, allow_nan=False)
    with replacing(path) as part, ZipFile(part, "w", ZIP_STORED) as archive:
        archive.writestr(ZipInfo(MANIFEST), text.encode())
        for name, content in entries.items():
            archive.writestr(ZipInfo(name), content)


def read_container(path: PathLike) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Check all of a file; return its manifest and its entries."""
    with Path(path).open("rb") as file, model_file_errors(path):
        _check_ends(file, path)
        with ZipFile(file) as archive:
            _check_layout(file, archive)
            manifest = json_from(archive.read(MANIFEST))
            _check_manifest(manifest, path)
            entries = {info.filename: archive.read(info) for info in archive.infolist()[1:]}
        _check_contents(manifest["entries"], entries)
    return manifest, entries


def read_manifest(path: PathLike) -> dict[str, Any]:
    """Read the description of a model from its file; check all of the file, build nothing.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    dict
        Format version, versions of ctad and of other libraries, time of saving, class, parameters,
        state, columns, number of training rows, and the size and checksum of every entry.

    Raises
    ------
    ModelFileError
        If the file is damaged, altered, of a newer format, or not a model file.

    Examples
    --------
    >>> import tempfile
    >>> from ctad import CTAD
    >>> from ctad.persistence import read_manifest
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     CTAD(n_centroids=2).fit([[0.0], [1.0]] * 20).save(f"{folder}/model.ctad")
    ...     manifest = read_manifest(f"{folder}/model.ctad")
    >>> manifest["class"], manifest["training_rows"], manifest["parameters"]["n_centroids"]
    ('CTAD', 40, 2)
    """
    return read_container(path)[0]


def json_from(content: bytes) -> Any:
    """Parse strict JSON."""
    if len(content) > MAX_JSON_BYTES:
        raise InputError(f"{len(content)} bytes of JSON are too many")
    return json.loads(content, parse_constant=_refuse_constant)


def _refuse_constant(name: str) -> None:
    raise InputError(f"{name} is not JSON")


def _check_ends(file: BinaryIO, path: PathLike) -> None:
    """The file must begin with an entry and end with the end of the zip."""
    start = file.read(4)
    if start != b"PK\x03\x04":
        kind = " (it may be a pickle, which can run any code)" if start[:1] == b"\x80" else ""
        raise ModelFileError(
            f"{os.fspath(path)} is not a ctad model file{kind}, so nothing was loaded. Pass a "
            "file that save() wrote."
        )
    if file.seek(0, os.SEEK_END) < END_OF_ZIP:
        raise InputError("it is truncated")
    file.seek(-END_OF_ZIP, os.SEEK_END)
    end = file.read()
    if not (end.startswith(b"PK\x05\x06") and end.endswith(b"\0\0")):
        raise InputError("it is truncated, or has extra bytes at its end")


def _check_layout(file: BinaryIO, archive: ZipFile) -> None:
    """Entries have known names, are not compressed, and follow each other without gaps."""
    infos = archive.infolist()
    names = [info.filename for info in infos]
    if len(names) > MAX_ENTRIES:
        raise InputError(f"more than {MAX_ENTRIES} entries")
    if names[:1] != [MANIFEST] or len(set(names)) < len(names):
        raise InputError("it has no manifest, or two entries with the same name")
    offset = 0
    for info in infos:
        if not ENTRY_NAME.fullmatch(info.filename) or info.filename != info.orig_filename:
            raise InputError(f"it has an unexpected entry {info.orig_filename!r}")
        if info.compress_type != ZIP_STORED or info.flag_bits:
            raise InputError(f"entry {info.filename} is compressed or encrypted")
        file.seek(info.header_offset)
        header = LOCAL_HEADER.unpack(file.read(LOCAL_HEADER.size))
        if info.header_offset != offset or info.file_size != info.compress_size:
            raise InputError(f"entry {info.filename} is at the wrong place")
        offset += LOCAL_HEADER.size + sum(header[-2:]) + info.compress_size
    if offset != archive.start_dir:
        raise InputError("it has extra bytes between its entries")


def _check_manifest(manifest: Any, path: PathLike) -> None:
    version = manifest["format_version"]
    if type(version) is int and version > FORMAT_VERSION:
        raise ModelFileError(
            f"{os.fspath(path)} was written by a newer version of ctad ({manifest.get('ctad')!r}): "
            "update ctad to read it."
        )
    for key, kind in MANIFEST_TYPES.items():
        _check_type(manifest[key], kind, key)
    if version != FORMAT_VERSION or manifest["training_rows"] < 1:
        raise InputError(f"format version {version}, {manifest['training_rows']} training rows")
    if _depth(manifest) > MAX_MANIFEST_DEPTH:
        raise InputError("its manifest is nested too deeply")
    for name, library_version in manifest["versions"].items():
        _check_type(library_version, str | None, f"version of {name}")
    for column in manifest["columns"] or ():
        for key in ("name", "kind", "dtype"):
            _check_type(column[key], str, f"{key} of a column")
    state = manifest["state"]
    if "detector" in state:
        _check_type(state["detector"]["name"], str, "name of the detector")
        _check_type(state["calibrator"]["class"], str, "class of the calibrator")
        _check_type(state["calibrator"]["parameters"], dict, "parameters of the calibrator")
    _check_type(state.get("rows_held_out", 0), int, "number of rows held out")


def _check_type(value: Any, kind: Any, name: str) -> None:
    if not isinstance(value, kind) or isinstance(value, bool):
        raise TypeError(f"{name} in its manifest is {value!r}")


def _depth(value: Any) -> int:
    """How deeply lists and dictionaries are nested."""
    depth, level = 0, [value]
    while level:
        depth += 1
        nested = [item for item in level if isinstance(item, list | dict)]
        level = [v for item in nested for v in (item.values() if isinstance(item, dict) else item)]
    return depth


def _check_contents(listed: dict[str, Any], entries: dict[str, bytes]) -> None:
    if listed.keys() != entries.keys():
        raise InputError("its entries are not those that its manifest lists")
    for name, content in entries.items():
        expected = {"sha256": hashlib.sha256(content).hexdigest(), "size": len(content)}
        if listed[name] != expected:
            raise InputError(f"the checksum of entry {name} is wrong")
