"""The container of a model file: a zip of stored entries, all of them listed in a manifest."""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import struct
from pathlib import Path
from typing import Any, BinaryIO
from zipfile import ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from .._atomic_files import replacing
from .._untrusted_files import has_more_values
from ..errors import InputError

FORMAT_VERSION = 1
MANIFEST = "manifest.json"

# Entries are stored, not compressed, one after the other and nothing between them. So what is read
# from a file is never larger than the file itself, and a zip bomb is not possible.
MAX_ENTRIES = 200_000
MAX_JSON_BYTES = 2**28
MAX_JSON_VALUES = 2**22
MAX_MANIFEST_DEPTH = 50
BYTES_PER_ENTRY = 80  # of the directory: 46 and a name
ENTRY_NAME = re.compile(r"manifest\.json|(arrays/[0-9]+\.npy|trusted/[0-9]+\.skops)")
LOCAL_HEADER = struct.Struct("<4s5H3L2H")
CENTRAL_HEADER = struct.Struct("<28x3H12x")  # lengths of the name, extra fields and the comment
END_OF_ZIP = 22  # bytes, without a comment
END_OF_ZIP64 = 76  # bytes before that, if the zip has more than 65,535 entries or 4 GiB
ZIP64 = 2**32 - 1  # stands in a header for a size that does not fit

# The keys of a manifest and the types of their values. The model is checked when it is built.
MANIFEST_TYPES: dict[str, Any] = {
    "format_version": int,
    "ctad": str,
    "versions": dict,
    "created": str,
    "trusted": list,
    "model": dict,
    "entries": dict,
}

# What zipfile raises for files that are not as they should be.
UNREADABLE = (
    *(BadZipFile, EOFError, struct.error, NotImplementedError, RuntimeError, ValueError),
    OverflowError,
)

PathLike = str | os.PathLike[str]


class ModelFileError(InputError):
    """A file that is damaged, altered, of a newer format, or not a model file."""


class DamagedError(ValueError):
    """What is wrong with a file."""


def write_container(path: PathLike, manifest: dict[str, Any], entries: dict[str, bytes]) -> None:
    """Write the entries and the manifest, which lists the size and checksum of every entry."""
    listed = {
        name: {"sha256": hashlib.sha256(content).hexdigest(), "size": len(content)}
        for name, content in entries.items()
    }
    content = json.dumps({**manifest, "entries": listed}, indent=1, allow_nan=False).encode()
    if _is_too_large(content):
        raise InputError(
            f"the model has too many names or categories for a model file ({len(content):,} bytes "
            "of JSON): train it with fewer."
        )
    with replacing(path) as part, ZipFile(part, "w", ZIP_STORED) as archive:
        archive.writestr(ZipInfo(MANIFEST), content)
        for name, entry in entries.items():
            archive.writestr(ZipInfo(name), entry)


def read_container(
    path: PathLike, max_bytes: float = math.inf
) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Check all of a file; return its manifest and its entries."""
    if Path(path).is_fifo():  # it would be waited for
        raise ModelFileError(f"{os.fspath(path)} is a pipe: pass a file that save() wrote.")
    with Path(path).open("rb") as file:
        try:
            _check_ends(file, path)
            size = file.seek(0, os.SEEK_END)
            if size > max_bytes:
                raise ModelFileError(
                    f"{os.fspath(path)} has {size:,} bytes, more than max_bytes={max_bytes:,}: "
                    "pass a larger max_bytes if you expect a model of this size."
                )
            with ZipFile(file) as archive:
                _check_layout(file, archive)
                manifest = _json_from(archive.read(MANIFEST))
                _check_manifest(manifest, path)
                entries = {info.filename: archive.read(info) for info in archive.infolist()[1:]}
            _check_contents(manifest["entries"], entries)
        except ModelFileError:
            raise
        except UNREADABLE as error:
            raise ModelFileError(
                f"{os.fspath(path)} is damaged or was altered ({error}): copy it again from its "
                "source, or save the model again."
            ) from error
    return manifest, entries


def read_manifest(path: PathLike) -> dict[str, Any]:
    """Read the description of a model from its file; check all of the file, build nothing.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    dict
        "format_version"; versions of "ctad" and of other libraries ("versions"); when it was
        "created"; the types without a description, which must be "trusted"; the "model", an object
        with "type", "parameters" and "fitted" values; size and checksum of all "entries".

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
    >>> manifest["model"]["type"], manifest["model"]["parameters"]["n_centroids"]
    ('ctad.CTAD', 2)
    """
    return read_container(path)[0]


def _json_from(content: bytes) -> Any:
    """Parse strict JSON: no NaN, no key twice, not too deep."""
    if _is_too_large(content):
        raise DamagedError(f"a manifest of {len(content):,} bytes has too many values")
    try:
        value = json.loads(
            content.decode(), parse_constant=_refuse_constant, object_pairs_hook=_without_duplicates
        )
    except (ValueError, RecursionError) as error:
        raise DamagedError(f"its manifest is not valid JSON: {error}") from error
    if _depth(value) > MAX_MANIFEST_DEPTH:
        raise DamagedError("its manifest is nested too deeply")
    return value


def _is_too_large(content: bytes) -> bool:
    """Whether JSON is larger than any honest one."""
    return len(content) > MAX_JSON_BYTES or has_more_values(content, MAX_JSON_VALUES)


def _refuse_constant(name: str) -> None:
    raise DamagedError(f"{name} is not JSON")


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise DamagedError("a key occurs twice in its manifest")
    return value


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
        raise DamagedError("it is truncated")
    file.seek(-END_OF_ZIP, os.SEEK_END)
    end = file.read()
    if not (end.startswith(b"PK\x05\x06") and end.endswith(b"\0\0")):
        raise DamagedError("it is truncated, or has extra bytes at its end")
    # zipfile makes an object of each entry of the directory.
    if _directory_bytes(file, end) > MAX_ENTRIES * BYTES_PER_ENTRY:
        raise DamagedError(f"more than {MAX_ENTRIES} entries")


def _directory_bytes(file: BinaryIO, end: bytes) -> int:
    """The size of the directory, as zipfile will read it."""
    place = max(0, file.seek(0, os.SEEK_END) - END_OF_ZIP - END_OF_ZIP64)
    file.seek(place)
    end64, locator = file.read(56), file.read(20)
    if not locator.startswith(b"PK\x06\x07"):
        return int.from_bytes(end[12:16], "little")
    if not end64.startswith(b"PK\x06\x06") or int.from_bytes(locator[8:16], "little") != place:
        raise DamagedError("its directory has no end")
    return int.from_bytes(end64[40:48], "little")


def _check_layout(file: BinaryIO, archive: ZipFile) -> None:
    """Entries have known names, are not compressed, and follow each other without gaps."""
    infos = archive.infolist()
    names = [info.filename for info in infos]
    if len(names) > MAX_ENTRIES:
        raise DamagedError(f"more than {MAX_ENTRIES} entries")
    if names[:1] != [MANIFEST] or len(set(names)) < len(names):
        raise DamagedError("it has no manifest, or two entries with the same name")
    offset = 0
    for info in infos:
        if not ENTRY_NAME.fullmatch(info.filename) or info.filename != info.orig_filename:
            raise DamagedError(f"it has an unexpected entry {info.orig_filename!r}")
        if info.compress_type != ZIP_STORED or info.flag_bits:
            raise DamagedError(f"entry {info.filename} is compressed or encrypted")
        if info.header_offset != offset or info.file_size != info.compress_size:
            raise DamagedError(f"entry {info.filename} is at the wrong place")
        file.seek(offset)
        header = LOCAL_HEADER.unpack(file.read(LOCAL_HEADER.size))
        flags, method, crc, *sizes = (*header[2:4], *header[6:9])
        if (flags, method, crc) != (info.flag_bits, info.compress_type, info.CRC) or not (
            {info.file_size, ZIP64}.issuperset(sizes)
        ):
            raise DamagedError(f"entry {info.filename} differs from the directory of the zip")
        offset += LOCAL_HEADER.size + sum(header[-2:]) + info.compress_size
    end = archive.start_dir
    for _ in infos:
        file.seek(end)
        end += CENTRAL_HEADER.size + sum(CENTRAL_HEADER.unpack(file.read(CENTRAL_HEADER.size))[:3])
    rest = file.seek(0, os.SEEK_END) - END_OF_ZIP - end
    if offset != archive.start_dir or rest not in (0, END_OF_ZIP64):
        raise DamagedError("it has extra bytes between its entries")


def _check_manifest(manifest: Any, path: PathLike) -> None:
    version = manifest.get("format_version") if isinstance(manifest, dict) else None
    if type(version) is int and version > FORMAT_VERSION:
        raise ModelFileError(
            f"{os.fspath(path)} has format {version}, which a newer version of ctad wrote: update "
            "ctad to read it."
        )
    if type(version) is not int or version != FORMAT_VERSION:
        raise DamagedError("its manifest has no known format version")
    if manifest.keys() != MANIFEST_TYPES.keys():
        raise DamagedError("its manifest does not have the keys of this format")
    for key, kind in MANIFEST_TYPES.items():
        if type(manifest[key]) is not kind:
            raise DamagedError(f"{key} in its manifest is not of type {kind.__name__}")
    if not all(isinstance(name, str) for name in manifest["trusted"]):
        raise DamagedError("its list of trusted types has other values than names")
    if not manifest["trusted"] and any(name.startswith("trusted/") for name in manifest["entries"]):
        raise DamagedError("it does not list the types of its objects without a description")
    for name, library_version in manifest["versions"].items():
        if not isinstance(library_version, str | None):
            raise DamagedError(f"the version of {name!r} is not a string")


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
        raise DamagedError("its entries are not those that its manifest lists")
    for name, content in entries.items():
        expected = {"sha256": hashlib.sha256(content).hexdigest(), "size": len(content)}
        if listed[name] != expected:
            raise DamagedError(f"the checksum of entry {name} is wrong")
