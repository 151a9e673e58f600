"""Files that are damaged, foreign, too new or malicious: one clear error, nothing built."""

import io
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
from sklearn.neighbors import KernelDensity
from sklearn.svm import OneClassSVM

from ctad import CTAD, CalibratedDetector, RelaxedCTAD
from ctad.calibration import MahalanobisDistance, TransportOnly
from ctad.persistence import ModelFileError, load, read_manifest
from ctad.persistence._arrays import array_to_bytes

from .files import X_NEW, X_TRAIN, altered, contents, sign

SMALL = CTAD(n_centroids=2, n_references=3, target="sizes", random_state=0).fit(X_TRAIN)


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


def test_entries_that_share_their_bytes_are_refused(path):
    """Another kind of zip bomb: many entries, one content."""
    whole = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        start = archive.start_dir
    directory, end = bytearray(whole[start:-22]), whole[-22:]
    second = directory.index(b"PK\x01\x02", 4)
    third = directory.index(b"PK\x01\x02", second + 4)
    directory[third + 42 : third + 46] = directory[second + 42 : second + 46]
    path.write_bytes(whole[:start] + directory + end)
    refused(path, "at the wrong place")


@pytest.mark.parametrize(
    "name",
    ["/etc/passwd", "../up.npy", "arrays\\0.npy", "C:0.npy", "arrays/../0.npy", "x.py", "a/"],
)
def test_unexpected_names_are_refused(path, name):
    manifest, entries = contents(path)
    sign(path, manifest, {**entries, name: b""})
    refused(path, "unexpected entry")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_entries_with_the_same_name_are_refused(path):
    rewritten(
        path, lambda archive, name, content: [archive.writestr(name, content) for _ in range(2)]
    )
    refused(path, "two entries with the same name")


def test_too_many_entries_are_refused(path, monkeypatch):
    monkeypatch.setattr("ctad.persistence._container.MAX_ENTRIES", 2)
    refused(path, "more than 2 entries")


def test_an_encrypted_entry_is_refused(path):
    whole = bytearray(path.read_bytes())
    second = whole.index(b"PK\x01\x02", whole.index(b"PK\x01\x02") + 4)
    struct.pack_into("<H", whole, second + 8, 1)
    path.write_bytes(whole)
    refused(path, "compressed or encrypted")


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


def test_a_newer_version_is_named(path):
    altered(path, path, {"format_version": 3, "ctad": "7.0"})
    refused(path, r"written by a newer version of ctad \('7.0'\): update ctad")


@pytest.mark.parametrize(
    "change",
    [
        {"format_version": 0},
        {"format_version": True},
        {"format_version": "1"},
        {"class": 3},
        {"parameters": []},
        {"state": None},
        {"versions": {"scikit-learn": 1}},
        {"training_rows": 0},
        {"columns": "a"},
        {"created": None},
        {"columns": [1]},
        {"columns": [{"name": "x", "kind": 3, "dtype": "int"}]},
        {"state": {"detector": 5}},
        {"state": {"detector": {"name": 1}}},
        {"state": {"detector": {"name": "KNN"}, "calibrator": {"class": "CTAD"}}},
        {"state": {"rows_held_out": "many"}},
        {"parameters": {"a": json.loads("[" * 60 + "]" * 60)}},
    ],
)
def test_a_manifest_with_wrong_values_is_refused(path, change):
    altered(path, path, change)
    refused(path)


@pytest.mark.parametrize("text", ["", "[]", "null", "{", '{"format_version": NaN}', "[" * 100_000])
def test_a_manifest_that_is_not_an_object_is_refused(path, text):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("manifest.json", text)
    refused(path)


def test_a_manifest_that_is_too_large_is_refused(path, monkeypatch):
    monkeypatch.setattr("ctad.persistence._container.MAX_JSON_BYTES", 10)
    refused(path, "bytes of JSON are too many")


def test_an_unknown_class_is_refused(path):
    altered(path, path, {"class": "os.system"})
    load_refused(path)


def test_reading_a_manifest_imports_no_library_of_models(path):
    code = (
        "import sys; from ctad.persistence import read_manifest; read_manifest(sys.argv[1]);"
        "print([name for name in ('sklearn', 'skops', 'pyod', 'torch') if name in sys.modules])"
    )
    shown = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True
    )
    assert shown.stdout.strip() == "[]"


# The fault in the arrays of a calibrator: (name in the state of a draw, its array)
BAD_DRAWS = {
    "a missing array": ("references", None),
    "bytes": ("references", b"not an array"),
    "a pickle": ("references", pickle.dumps([1])),
    "one axis": ("references", np.ones(3)),
    "no rows": ("references", np.ones((0, 3))),
    "other columns": ("centroids", np.ones((2, 4))),
    "NaN": ("centroids", np.full((2, 3), np.nan)),
    "single precision": ("centroids", np.ones((2, 3), dtype=np.float32)),
    "too large to be squared": ("centroids", np.full((2, 3), 1e300)),
    "too many": ("centroids", np.ones((20_000, 3))),
    "masses of another sum": ("target", np.array([1, 1])),
    "negative masses": ("target", np.array([5, -1])),
    "masses whose sum overflows": ("target", np.array([2**62, 2**62, 2**62, 2**62 + 4])),
    "masses as unsigned numbers": ("target", np.array([2, 2], dtype=np.uint64)),
    "masses of more centroids": ("target", np.array([1, 1, 1, 1])),
    "another folder": ("shift", "manifest.json"),
    "a shift of other columns": ("shift", np.zeros(2)),
    "a scale of NaN": ("scale", np.full(3, np.nan)),
    "a scale of zero": ("scale", np.zeros(3)),
    "a radius of zero": ("radius", np.zeros(2)),
    "a radius below zero": ("radius", np.array([1.0, -1.0])),
    "radii of other centroids": ("radius", np.ones(3)),
    "column index out of range": ("columns", np.array([0, 1, 3])),
    "negative column index": ("columns", np.array([-1, 0, 1])),
    "a column twice": ("columns", np.array([0, 1, 1])),
    "columns that are not integers": ("columns", np.arange(3.0)),
    "no columns": ("columns", np.arange(0)),
    "columns of two dimensions": ("columns", np.arange(3)[:, np.newaxis]),
    "fewer columns than centroids have": ("columns", np.arange(2)),
}


@pytest.mark.parametrize("what", BAD_DRAWS)
def test_calibrators_with_wrong_arrays_are_refused(path, what):
    key, values = BAD_DRAWS[what]
    manifest, entries = contents(path)
    name = "arrays/99.npy"
    if isinstance(values, str):
        name = values
    elif values is not None:
        entries[name] = values if isinstance(values, bytes) else array_to_bytes(values)
    manifest["state"]["draws"][0][key] = {"array": name} if key == "target" else name
    sign(path, manifest, entries)
    load_refused(path, "damaged or was altered")


# The fault in the rest of a calibrator: change of the manifest's state
BAD_STATES = {
    "no draws": {"draws": []},
    "another signal": {"signal": "mine"},
    "missing draws": {"draws": None},
    "columns that do not fit": {"n_columns": 2},
    "names that do not fit": {"column_names": ["a"]},
    "names that are not strings": {"column_names": [1, 2, 3]},
    "no rows": {"training_rows": 1},
    "a scale of zero": {"score_scaling": {"score": [0.0, 0.0], "delta": [0.0, 1.0]}},
    "a boolean": {"score_scaling": {"score": [True, 1.0], "delta": [0.0, 1.0]}},
}


@pytest.mark.parametrize("what", BAD_STATES)
def test_calibrators_with_a_wrong_state_are_refused(path, what):
    manifest, _ = contents(path)
    altered(path, path, {"state": {**manifest["state"], **BAD_STATES[what]}})
    load_refused(path, "damaged or was altered")


@pytest.mark.parametrize(
    "change", [{"weight": -1.0}, {"n_centroids": 0}, {"target": "mine"}, {"unknown": 1}]
)
def test_calibrators_with_bad_parameters_are_refused(path, change):
    manifest, _ = contents(path)
    altered(path, path, {"parameters": {**manifest["parameters"], **change}})
    load_refused(path, "damaged or was altered")


def test_the_first_draw_must_use_all_columns(path):
    calibrator = RelaxedCTAD(5, n_draws=4, columns="random", random_state=0)
    calibrator.fit(np.hstack([X_TRAIN] * 4)).save(path)
    manifest, entries = contents(path)
    narrow = min(range(4), key=lambda draw: len(calibrator.draws_[draw].columns))
    manifest["state"]["draws"] = [manifest["state"]["draws"][narrow]]
    sign(path, manifest, entries)
    load_refused(path, "the first draw does not use all columns")


def test_an_unknown_target_is_refused(path):
    manifest, entries = contents(path)
    manifest["state"]["draws"][0]["target"] = "mine"
    sign(path, manifest, entries)
    load_refused(path, "target is 'mine'")


def test_baselines_with_a_wrong_state_are_refused(path):
    TransportOnly().fit(X_TRAIN).save(path)
    manifest, entries = contents(path)
    manifest["state"]["transport"]["class"] = "RelaxedCTAD"
    sign(path, manifest, entries)
    load_refused(path, "damaged or was altered")
    TransportOnly().fit(X_TRAIN).save(path)
    manifest, entries = contents(path)
    manifest["state"]["n_columns"] = 2
    sign(path, manifest, entries)
    load_refused(path, "the transport is not a CTAD of these columns")
    MahalanobisDistance().fit(X_TRAIN).save(path)
    manifest, entries = contents(path)
    entries[manifest["state"]["precision"]] = array_to_bytes(np.ones((3, 2)))
    sign(path, manifest, entries)
    load_refused(path, "does not contain finite numbers")


def detector_file(path, detector):
    CalibratedDetector(detector, CTAD(), random_state=0).fit(X_TRAIN).save(path)
    return contents(path)


# The fault in the state of a detector: change
BAD_DETECTORS = {
    "method": {"detector": {"method": "__init_subclass__"}},
    "missing method": {"detector": {"method": "decision_function"}},
    "sign": {"detector": {"sign": 2.0}},
    "object": {"detector": {"fitted": "arrays/0.npy"}},
    "number as object": {"detector": {"fitted": 3}},
    "form of rows": {"detector": {"form_of_rows": "everything"}},
    "columns": {"n_columns": 4},
    "names": {"column_names": ["a"]},
    "threshold": {"threshold": "nan"},
    "scores": {"decision_scores": "arrays/1.npy"},
    "training sample": {"training_sample": "arrays/1.npy"},
    "missing training sample": {"training_sample": None},
    "ignored anomalies": {"ignored_anomalies": -1},
    "scores of rows held out": {"calibration_scores": ["arrays/0.npy"] * 3, "rows_held_out": 7},
    "number of rows held out": {"calibration_scores": ["arrays/0.npy"] * 3},
}


@pytest.mark.parametrize("what", BAD_DETECTORS)
def test_detectors_with_a_wrong_state_are_refused(path, what):
    manifest, entries = detector_file(path, KernelDensity())
    for key, change in BAD_DETECTORS[what].items():
        old = manifest["state"][key]
        manifest["state"][key] = {**old, **change} if isinstance(change, dict) else change
    sign(path, manifest, entries)
    load_refused(path, "damaged or was altered")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"polarity": "up"}, "polarity must be one of"),
        ({"contamination": 0.7}, r"contamination must be in \(0, 0.5\]"),
        ({"holdout": 1.5}, "holdout must be between 0 and 1"),
        ({"random_state": -1}, "-1 is not an integer >= 0"),
    ],
)
def test_detectors_with_bad_parameters_are_refused(path, change, message):
    manifest, entries = detector_file(path, KernelDensity())
    manifest["parameters"].update(change)
    sign(path, manifest, entries)
    load_refused(path, message)


def test_scores_of_rows_held_out_may_not_be_nan(path):
    detector = CalibratedDetector(KernelDensity(), CTAD(), holdout=0.2, random_state=0)
    detector.fit(X_TRAIN).save(path)
    manifest, entries = contents(path)
    entries[manifest["state"]["calibration_scores"][1]] = array_to_bytes(np.full(12, np.nan))
    sign(path, manifest, entries)
    load_refused(path, "the score of a row held out is NaN")


def test_a_library_that_is_not_installed_is_named(path, monkeypatch):
    from pyod.models.knn import KNN

    detector_file(path, KNN())
    monkeypatch.setitem(sys.modules, "pyod.models.knn", None)
    load_refused(path, "needs pyod.models.knn, which is not installed here")


def test_arrays_with_long_headers_are_read(path):
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.zeros(3), version=(2, 0))
    manifest, entries = contents(path)
    entries[manifest["state"]["draws"][0]["shift"]] = buffer.getvalue()
    sign(path, manifest, entries)
    np.testing.assert_array_equal(load(path).delta(X_NEW), SMALL.delta(X_NEW))


def test_headers_that_numpy_would_repair_are_refused(path):
    manifest, entries = contents(path)
    name = manifest["state"]["draws"][0]["references"]
    entries[name] = entries[name].replace(b"(3, 3), }  ", b"(3L, 3L), }")
    sign(path, manifest, entries)
    load_refused(path, "damaged or was altered")


@pytest.mark.parametrize("detector", [IsolationForest(n_estimators=2), OneClassSVM()])
def test_a_truncated_detector_file(path, detector):
    detector_file(path, detector)
    whole = path.read_bytes()
    for length in (*range(0, len(whole), 997), *range(len(whole) - 50, len(whole))):
        path.write_bytes(whole[:length])
        refused(path)
