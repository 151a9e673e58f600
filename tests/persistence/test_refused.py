"""Files that are damaged, foreign or too new: one clear error, and nothing is built."""

import json
import os
import pickle
import struct
import subprocess
import sys
import zipfile

import numpy as np
import pytest
from sklearn.ensemble import IsolationForest

from ctad import CalibratedDetector
from ctad.calibration import CentroidDistance
from ctad.errors import InputError
from ctad.persistence import ModelFileError, load, read_manifest
from ctad.persistence._arrays import array_to_bytes

from .files import X_NEW, X_TRAIN, altered, contents, sign

SMALL = CentroidDistance(n_centroids=2, random_state=0).fit(X_TRAIN)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "model.ctad"
    SMALL.save(path)
    return path


def refused(path, match=None):
    for read in (load, read_manifest):
        with pytest.raises(ModelFileError, match=match) as error:
            read(path)
        assert str(path) in str(error.value)


def load_refused(path, match=None):
    with pytest.raises(ModelFileError, match=match) as error:
        load(path)
    assert str(path) in str(error.value)


# The container -----------------------------------------------------------------------------------


def test_truncated_at_any_byte(path):
    for length in reversed(range(path.stat().st_size)):
        os.truncate(path, length)
        with pytest.raises(ModelFileError, match=str(path)):
            read_manifest(path)
        if length % 50 == 0:
            load_refused(path)


def test_a_missing_file_stays_a_missing_file(tmp_path):
    for read in (load, read_manifest):
        with pytest.raises(FileNotFoundError):
            read(tmp_path / "nowhere.ctad")
        with pytest.raises(OSError, match=str(tmp_path)):
            read(tmp_path)


def test_a_pipe_is_not_waited_for(tmp_path):
    path = tmp_path / "model.ctad"
    os.mkfifo(path)
    refused(path, "is a pipe: pass a file that save\\(\\) wrote")


def test_other_files(tmp_path):
    path = tmp_path / "model.ctad"
    path.write_bytes(np.random.default_rng(0).bytes(10_000))
    refused(path, "is not a ctad model file")
    path.write_bytes(pickle.dumps(SMALL))
    refused(path, r"may be a pickle, which can run any code.*nothing was loaded")
    path.write_text("a,b\n1,2\n")
    refused(path, "is not a ctad model file, .* that save\\(\\) wrote")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("notes.txt", "not a model")
    refused(path, "no manifest")
    path.unlink()
    np.savez(path.with_suffix(".npz"), X_TRAIN)
    refused(path.with_suffix(".npz"), "no manifest")


def test_extra_bytes_at_the_start_or_the_end(path):
    whole = path.read_bytes()
    path.write_bytes(b"#!/bin/sh\n" + whole)
    refused(path, "is not a ctad model file")
    path.write_bytes(whole + b"more")
    refused(path, "extra bytes at its end")
    path.write_bytes(whole[:30] + whole)
    refused(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.comment = b"PK"
        archive.writestr("manifest.json", "{}")
    refused(path, "extra bytes at its end")


def test_extra_bytes_before_the_directory(path):
    whole = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        start = archive.start_dir
    end = bytearray(whole[-22:])
    struct.pack_into("<L", end, 16, start + 6)
    path.write_bytes(whole[:start] + b"hidden" + whole[start:-22] + end)
    refused(path, "extra bytes between its entries")


def rewritten(path, change, **options):
    """The same entries in another zip; `change` may alter each."""
    with zipfile.ZipFile(path) as archive:
        entries = [(info, archive.read(info)) for info in archive.infolist()]
    with zipfile.ZipFile(path, "w", **options) as archive:
        for info, content in entries:
            change(archive, info.filename, content)


def test_a_copy_by_another_program_is_read(path):
    rewritten(path, lambda archive, name, content: archive.writestr(name, content))
    np.testing.assert_array_equal(load(path).delta(X_NEW), SMALL.delta(X_NEW))


def test_zip_bombs_are_refused_before_they_are_read(path):
    bomb = array_to_bytes(np.zeros(2**24, dtype=np.uint8))

    def add(archive, name, content):
        archive.writestr(name, bomb if name.endswith("0.npy") else content)

    rewritten(path, add, compression=zipfile.ZIP_DEFLATED)
    assert path.stat().st_size < 2**16
    refused(path, "is compressed or encrypted")


def central_headers(whole):
    """Where the central directory has its headers, and where the directory starts."""
    [start] = struct.unpack_from("<L", whole, len(whole) - 6)
    places, place = [], start
    while whole[place : place + 4] == b"PK\x01\x02":
        places.append(place)
        place += 46 + sum(struct.unpack_from("<3H", whole, place + 28))
    return places, start


# The name of a field in the central directory: where it is, its format, and another value
FIELDS = {
    "made by": (4, "<H", 0xFFFF),
    "version needed": (6, "<H", 99),
    "encrypted": (8, "<H", 1),
    "data descriptor": (8, "<H", 8),
    "strong encryption": (8, "<H", 64),
    "patched": (8, "<H", 32),
    "method": (10, "<H", 8),
    "unknown method": (10, "<H", 99),
    "checksum": (16, "<L", 1),
    "compressed size": (20, "<L", 1),
    "compressed size of zip64": (20, "<L", 2**32 - 1),
    "size": (24, "<L", 2**31),
    "size of zip64": (24, "<L", 2**32 - 1),
    "size of zero": (24, "<L", 0),
    "length of the name": (28, "<H", 3),
    "length of the extra field": (30, "<H", 60_000),
    "length of the comment": (32, "<H", 60_000),
    "offset": (42, "<L", 2**31),
    "offset of zip64": (42, "<L", 2**32 - 1),
}


@pytest.mark.parametrize("what", FIELDS)
def test_wrong_fields_of_the_central_directory(path, what):
    place, form, value = FIELDS[what]
    whole = bytearray(path.read_bytes())
    struct.pack_into(form, whole, central_headers(whole)[0][1] + place, value)
    path.write_bytes(whole)
    if what == "made by":  # no field that matters
        np.testing.assert_array_equal(load(path).delta(X_NEW), SMALL.delta(X_NEW))
    else:
        refused(path)


@pytest.mark.parametrize("place", [6, 8, 14, 18, 22, 26, 28, 30])
def test_local_headers_that_differ_from_the_directory(path, place):
    """Programs that read the local headers must not see another file than ctad."""
    whole = bytearray(path.read_bytes())
    second = whole.index(b"PK\x03\x04", 4)
    struct.pack_into("<H", whole, second + place, 9)
    path.write_bytes(whole)
    refused(path)


def test_entries_that_share_their_bytes_are_refused(path):
    """Another kind of zip bomb: many entries, one content."""
    CentroidDistance().fit(X_TRAIN, scores=X_TRAIN[:, 0]).save(path)
    manifest, entries = contents(path)
    sign(path, manifest, {**entries, "arrays/7.npy": entries["arrays/0.npy"]})
    whole = bytearray(path.read_bytes())
    places, _ = central_headers(whole)
    whole[places[2] + 42 : places[2] + 46] = whole[places[1] + 42 : places[1] + 46]
    path.write_bytes(whole)
    refused(path, "at the wrong place")


def test_symbolic_links_are_refused_or_only_data(path):
    def add(archive, name, content):
        info = zipfile.ZipInfo(name)
        info.external_attr = 0o120777 << 16
        archive.writestr(info, content)

    rewritten(path, add)  # nothing is extracted, so that the flag means nothing
    np.testing.assert_array_equal(load(path).delta(X_NEW), SMALL.delta(X_NEW))


@pytest.mark.parametrize(
    "name",
    [
        *("/etc/passwd", "../up.npy", "arrays\\0.npy", "C:0.npy", "arrays/../0.npy", "x.py", "a/"),
        *("arrays/0.npy/", "arrays/0.npy.", "arrays/0.NPY", "Manifest.json", "arrays/-1.npy"),
        *("arrays/\N{ARABIC-INDIC DIGIT ONE}.npy", "arrays/0.npy\n", "objects/0.json", ""),
    ],
)
def test_unexpected_names_are_refused(path, name):
    manifest, entries = contents(path)
    sign(path, manifest, {**entries, name: b""})
    refused(path, "unexpected entry")


def test_names_with_a_null_byte_are_refused(path):
    whole = path.read_bytes().replace(b"arrays/0.npy", b"arrays/0\0npy")
    path.write_bytes(whole)
    refused(path)


def test_names_that_are_not_utf_8_are_refused(path):
    whole = bytearray(path.read_bytes().replace(b"arrays/0.npy", b"\xb9rrays/0.npy"))
    struct.pack_into("<H", whole, central_headers(whole)[0][1] + 8, 0x800)
    path.write_bytes(whole)
    refused(path)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_entries_with_the_same_name_are_refused(path):
    rewritten(
        path, lambda archive, name, content: [archive.writestr(name, content) for _ in range(2)]
    )
    refused(path, "two entries with the same name")


def test_too_many_entries_are_refused(path, monkeypatch):
    monkeypatch.setattr("ctad.persistence._container.MAX_ENTRIES", 1)
    monkeypatch.setattr("ctad.persistence._container.ZipFile", None)  # it would read all of them
    refused(path, "more than 1 entries")


@pytest.fixture(scope="module")
def zip64(tmp_path_factory):
    """A file of so many entries that its directory needs a second end."""
    path = tmp_path_factory.mktemp("zip64") / "model.ctad"
    manifest = {"format_version": 1, "ctad": "", "versions": {}, "created": "", "trusted": []}
    names = [f"arrays/{number}.npy" for number in range(2**16)]
    sign(path, {**manifest, "model": {}}, dict.fromkeys(names, b""))
    assert len(read_manifest(path)["entries"]) == len(names)
    return path.read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("place", "value"), [(0, b"xx"), (40, struct.pack("<Q", 10**9)), (56 + 8, bytes(8))]
)
def test_a_second_end_of_another_size_or_place_is_refused(place, value, zip64, tmp_path):
    content, path = bytearray(zip64), tmp_path / "model.ctad"
    start = len(content) - 22 - 76 + place
    content[start : start + len(value)] = value
    path.write_bytes(content)
    refused(path, "its directory has no end|more than 200000 entries")


def test_a_file_larger_than_allowed_is_refused(path):
    size = path.stat().st_size
    load(path, max_bytes=size)
    with pytest.raises(ModelFileError, match=f"{size:,} bytes, more than max_bytes={size - 1:,}"):
        load(path, max_bytes=size - 1)


def test_wrong_checksums_are_refused(path):
    manifest, entries = contents(path)
    entries["arrays/0.npy"] = array_to_bytes(np.array(1.0))
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("manifest.json", json.dumps(manifest))
        for name, content in entries.items():
            archive.writestr(name, content)
    refused(path, "checksum of entry arrays/0.npy is wrong")


def test_entries_the_manifest_does_not_list_are_refused(path):
    rewritten(path, lambda archive, name, content: archive.writestr(name, content))
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("arrays/99.npy", b"")
    refused(path, "not those that its manifest lists")


def test_entries_that_no_part_of_the_model_uses_are_refused(path):
    manifest, entries = contents(path)
    sign(path, manifest, {**entries, "arrays/99.npy": entries["arrays/0.npy"]})
    load_refused(path, "entries that no part of the model uses")


# The manifest ------------------------------------------------------------------------------------


def test_a_newer_version_is_named(path):
    altered(path, path, {"format_version": 3})
    refused(path, "has format 3, which a newer version of ctad wrote: update ctad")


@pytest.mark.parametrize(
    "change",
    [
        {"format_version": 0},
        {"format_version": True},
        {"format_version": "1"},
        {"format_version": 1.0},
        {"versions": {"scikit-learn": 1}},
        {"versions": []},
        {"created": None},
        {"ctad": 1},
        {"trusted": None},
        {"trusted": {}},
        {"trusted": [1]},
        {"trusted": [["ctad"]]},
        {"model": None},
        {"model": []},
        {"more": 1},
        {"__class__": "x"},
        {"model": {"type": json.loads("[" * 60 + "]" * 60)}},
    ],
    ids=str,
)
def test_a_manifest_with_wrong_values_is_refused(path, change):
    altered(path, path, change)
    refused(path)


@pytest.mark.parametrize("key", ["format_version", "versions", "trusted", "model"])
def test_a_manifest_without_a_key_is_refused(path, key):
    manifest, entries = contents(path)
    del manifest[key]
    sign(path, manifest, entries)
    refused(path)


def with_text(path, change):
    """Write the manifest of a file as another text."""
    rewritten(
        path,
        lambda archive, name, content: archive.writestr(
            name, change(content.decode()).encode() if name == "manifest.json" else content
        ),
    )


# What JSON parsers read in different ways
TEXTS = {
    "nothing": lambda text: "",
    "a list": lambda text: "[]",
    "null": lambda text: "null",
    "half": lambda text: text[: len(text) // 2],
    "two values": lambda text: text + "{}",
    "NaN": lambda text: text.replace('"format_version": 1', '"format_version": NaN'),
    "infinity": lambda text: text.replace('"format_version": 1', '"format_version": -Infinity'),
    "an overflow": lambda text: text.replace('"format_version": 1', '"format_version": 1e999'),
    "many digits": lambda text: text.replace(
        '"format_version": 1', '"format_version": ' + "9" * 5000
    ),
    "deep": lambda text: "[" * 100_000,
    "deep and closed": lambda text: "[" * 5000 + "]" * 5000,
    "a key twice": lambda text: text.replace("{", '{"format_version": 1, ', 1),
    "a key twice inside": lambda text: text.replace('"n_centroids"', '"weight": 1, "n_centroids"'),
    "another spelling of a key": lambda text: text.replace("{", r'{"\u0066ormat_version": 1, ', 1),
    "comments": lambda text: "/* */" + text,
    "single quotes": lambda text: text.replace('"', "'"),
    "a byte order mark": lambda text: "\ufeff" + text,
}


@pytest.mark.parametrize("what", TEXTS)
def test_a_manifest_that_is_not_strict_json_is_refused(path, what):
    with_text(path, TEXTS[what])
    refused(path)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32-le", "latin-1"])
def test_a_manifest_in_another_encoding_is_refused(path, encoding):
    content = '{"\xe4": 1}'.encode(encoding)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("manifest.json", content)
    refused(path)


def test_a_manifest_that_is_too_large_is_refused(path, monkeypatch):
    for limit in ("MAX_JSON_BYTES", "MAX_JSON_VALUES"):
        with monkeypatch.context() as patch:
            patch.setattr(f"ctad.persistence._container.{limit}", 10)
            refused(path, "a manifest of .* bytes has too many values")
            with pytest.raises(InputError, match="too many names or categories for a model file"):
                SMALL.save(path)
    load(path)


def test_reading_a_manifest_imports_no_library_of_models(path):
    code = (
        "import sys; from ctad.persistence import read_manifest; read_manifest(sys.argv[1]);"
        "print([name for name in ('sklearn', 'skops', 'pyod', 'torch') if name in sys.modules])"
    )
    shown = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True
    )
    assert shown.stdout.strip() == "[]"


# Arrays ------------------------------------------------------------------------------------------


def test_headers_that_numpy_would_read_or_repair_are_refused(path):
    manifest, entries = contents(path)
    [name] = entries
    content = entries[name]
    assert b"'shape': (2, 3), }" in content
    for wrong in (
        content.replace(b"(2, 3), }  ", b"(2L, 3L), }"),
        content.replace(b"(2, 3), } ", b"(+2, 3), }"),
        content.replace(b"(2, 3), } ", b"(02, 3), }"),
        content.replace(b"(2, 3), }", b"[2, 3], }"),
        content.replace(b"(2, 3), }", b"(6,)  , }"),
        content.replace(b"(2, 3), }   ", b"(-2, -3), }"),
        content.replace(b"(2, 3), }  ", b"(1, 2, 3), }"[:11] + b"}"),
        content.replace(b"<f8", b">f8"),
        content.replace(b"'<f8'", b"'|O' "),
        content.replace(b"'<f8'", b"'f8' "),
        content.replace(b"\x93NUMPY\x01", b"\x93NUMPY\x02"),
        content + b"\0",
        content[:-1],
        b"",
    ):
        assert wrong != content
        sign(path, manifest, {name: wrong})
        load_refused(path, "CentroidDistance.centroids_")


# Libraries and versions --------------------------------------------------------------------------


def test_a_library_that_is_not_installed_is_named(path, monkeypatch):
    from pyod.models.knn import KNN

    CalibratedDetector(KNN(), CentroidDistance(), random_state=0).fit(X_TRAIN).save(path)
    monkeypatch.setitem(sys.modules, "pyod.models.knn", None)
    load_refused(path, "needs pyod.models.knn, which is not installed here")


def test_other_versions_are_named_without_control_characters(path):
    detector = IsolationForest(n_estimators=2, random_state=0)
    CalibratedDetector(detector, CentroidDistance(), random_state=0).fit(X_TRAIN).save(path)
    altered(path, path, {"versions": {"scikit-learn": "\x1b[2J" + "9" * 1000}})
    with pytest.warns(UserWarning, match="was written with scikit-learn") as caught:
        load(path)
    text = str(caught[0].message)
    assert "\x1b" not in text
    assert len(text) < 400 + len(str(path))
