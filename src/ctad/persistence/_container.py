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

# Entries are stored, not compressed, one after the other and nothing between them: what is read
# from a file can never be larger than the file itself, so there are no zip bombs to guess at.
MAX_ENTRIES = 200_000
MAX_JSON = 2**28
ENTRY_NAME = re.compile(
    r"manifest\.json|(objects/[0-9]+\.json|arrays/[0-9]+\.npy|weights/[0-9]+\.safetensors)"
)
LOCAL_HEADER = struct.Struct("<4s5H3L2H")
END_OF_ZIP = 22  # bytes, without a comment

# What the manifest says, and of which type.
MANIFEST_KEYS: dict[str, Any] = {
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
    """A file that is not a whole, unaltered model file this version can read."""


@contextmanager
def refusing(path: PathLike) -> Iterator[None]:
    """Turn whatever a bad file does to zipfile, numpy or skops into one clear error."""
    try:
        yield
    except ModelFileError:
        raise
    except ImportError as error:
        raise ModelFileError(
            f"{os.fspath(path)} holds a model that needs {error.name}, which is not installed "
            f"here ({error}): install it and load the file again."
        ) from error
    except Exception as error:
        raise ModelFileError(
            f"{os.fspath(path)} is damaged or was altered ({error}): get it again from where it "
            "was made, or save the model anew."
        ) from error


def write_container(path: PathLike, manifest: dict[str, Any], entries: dict[str, bytes]) -> None:
    """Write manifest and entries; the manifest gets the size and checksum of every entry."""
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
    """The manifest and the entries of a file, once all of it is checked."""
    with Path(path).open("rb") as file, refusing(path):
        _check_ends(file, path)
        with ZipFile(file) as archive:
            _check_layout(file, archive)
            manifest = json_from(archive.read(MANIFEST))
            _check_manifest(manifest, path)
            entries = {info.filename: archive.read(info) for info in archive.infolist()[1:]}
        _check_contents(manifest["entries"], entries)
    return manifest, entries


def read_manifest(path: PathLike) -> dict[str, Any]:
    """What a model file says of itself; checks all of the file and builds nothing.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    dict
        Format version, versions of ctad and of other libraries, time, class, parameters, state,
        columns, number of training rows, and the size and checksum of every entry.

    Raises
    ------
    ModelFileError
        If the file is not a whole, unaltered model file.

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
    if len(content) > MAX_JSON:
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
            f"{os.fspath(path)} is not a ctad model file{kind}: nothing of it was loaded. "
            "Pass a file written by save()."
        )
    if file.seek(0, os.SEEK_END) < END_OF_ZIP:
        raise InputError("it is cut off")
    file.seek(-END_OF_ZIP, os.SEEK_END)
    end = file.read()
    if not (end.startswith(b"PK\x05\x06") and end.endswith(b"\0\0")):
        raise InputError("it is cut off, or something was added to it")


def _check_layout(file: BinaryIO, archive: ZipFile) -> None:
    """Entries have known names, are stored as they are, and follow each other without gaps."""
    infos = archive.infolist()
    names = [info.filename for info in infos]
    if len(names) > MAX_ENTRIES:
        raise InputError(f"more than {MAX_ENTRIES} entries")
    if names[:1] != [MANIFEST] or len(set(names)) < len(names):
        raise InputError("it has no manifest, or two entries of one name")
    offset = 0
    for info in infos:
        if not ENTRY_NAME.fullmatch(info.filename) or info.filename != info.orig_filename:
            raise InputError(f"it has an entry {info.orig_filename!r} that does not belong there")
        if info.compress_type != ZIP_STORED or info.flag_bits:
            raise InputError(f"entry {info.filename} is compressed or encrypted")
        file.seek(info.header_offset)
        header = LOCAL_HEADER.unpack(file.read(LOCAL_HEADER.size))
        if info.header_offset != offset or info.file_size != info.compress_size:
            raise InputError(f"entry {info.filename} is not where it should be")
        offset += LOCAL_HEADER.size + sum(header[-2:]) + info.compress_size
    if offset != archive.start_dir:
        raise InputError("something is hidden between its entries")


def _check_manifest(manifest: Any, path: PathLike) -> None:
    version = manifest["format_version"]
    if type(version) is int and version > FORMAT_VERSION:
        raise ModelFileError(
            f"{os.fspath(path)} was written by a newer ctad ({manifest.get('ctad')!r}): update "
            "ctad to read it."
        )
    for key, kind in MANIFEST_KEYS.items():
        if not isinstance(manifest[key], kind) or isinstance(manifest[key], bool):
            raise TypeError(f"{key} in its manifest is no {kind}")
    if not 1 <= version <= FORMAT_VERSION or manifest["training_rows"] < 1:
        raise InputError(f"format version {version}, {manifest['training_rows']} training rows")
    for name in ("scikit-learn", "pyod"):
        if not isinstance(manifest["versions"].get(name), str | None):
            raise TypeError(f"the version of {name} in its manifest is no text")


def _check_contents(listed: dict[str, Any], entries: dict[str, bytes]) -> None:
    if listed.keys() != entries.keys():
        raise InputError("its entries are not those of its manifest")
    for name, content in entries.items():
        expected = {"sha256": hashlib.sha256(content).hexdigest(), "size": len(content)}
        if listed[name] != expected:
            raise InputError(f"the checksum of entry {name} is wrong")
