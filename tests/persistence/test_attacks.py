"""Files made to run code, to crash the process or to exhaust it.

All files are opened in one child process, in limited memory and time. Each must be refused, or be a
model that scores rows, and none may leave a trace. Checksums are right in all of them.
"""

import copy
import io
import json
import math
import os
import pickle
import signal
import subprocess
import sys
import time
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import IsolationForest
from sklearn.neighbors import KernelDensity, LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, PolynomialFeatures, StandardScaler
from sklearn.svm import OneClassSVM

from ctad import CTAD, CalibratedDetector, RelaxedCTAD
from ctad.calibration import CentroidDistance
from ctad.persistence import ModelFileError, load
from ctad.persistence._arrays import array_from_bytes, array_to_bytes

from .files import FRAME, X_TRAIN, contents, sign

ROOT = Path(__file__).parents[2]
TRACE = "trace"  # what a payload writes into the folder that it runs in
TOUCH = f"echo run > {TRACE}"

# An array over any memory address, if numpy ever sees it.
ANY_MEMORY = {"data": [4096, False], "shape": [10**6], "typestr": "<f8", "version": 3}


def detector(wrapped: Any, rows: Any = X_TRAIN, **options: Any) -> CalibratedDetector:
    calibrator = CentroidDistance(2, random_state=0)
    return CalibratedDetector(wrapped, calibrator, random_state=0, **options).fit(rows)


def forest(**options: Any) -> IsolationForest:
    return IsolationForest(n_estimators=2, max_samples=16, random_state=0, **options)


def pyod(module: str, name: str, **options: Any) -> Any:
    from importlib import import_module

    return getattr(import_module(f"pyod.models.{module}"), name)(**options)


def table_pipeline() -> Any:
    from sklearn.compose import make_column_transformer

    encode = make_column_transformer(
        (OneHotEncoder(sparse_output=False), ["kind"]), (StandardScaler(), ["a", "b"])
    )
    return make_pipeline(encode, forest())


# Honest models, which the attacks alter.
HONEST: dict[str, Any] = {
    "forest": lambda: detector(forest(), holdout=0.3),
    "scalers": lambda: detector(make_pipeline(StandardScaler(), MinMaxScaler(), forest())),
    "polynomials": lambda: detector(make_pipeline(PolynomialFeatures(2), forest())),
    "table": lambda: detector(forest(), FRAME),
    "table pipeline": lambda: detector(table_pipeline(), FRAME),
    "HBOS": lambda: detector(pyod("hbos", "HBOS", n_bins=4)),
    "KNN": lambda: detector(pyod("knn", "KNN", n_neighbors=3)),
    "KDE": lambda: detector(pyod("kde", "KDE")),
    "LOF": lambda: detector(LocalOutlierFactor(3, novelty=True)),
    "density": lambda: detector(KernelDensity()),
    "SVM": lambda: detector(OneClassSVM()),
    "CTAD": lambda: CTAD(3, 4, target="sizes", random_state=0).fit(X_TRAIN),
    "RelaxedCTAD": lambda: RelaxedCTAD(5, n_draws=2, random_state=0).fit(
        X_TRAIN, scores=X_TRAIN[:, 0]
    ),
    "distance": lambda: CentroidDistance(2, random_state=0).fit(X_TRAIN),
}


class File:
    """The content of a file that is being altered. Paths in its JSON have dots."""

    def __init__(self, manifest: dict[str, Any], entries: dict[str, bytes]) -> None:
        self.manifest, self.entries = copy.deepcopy(manifest), dict(entries)

    def _parent(self, path: str) -> tuple[Any, Any]:
        value: Any = self.manifest["model"]
        *keys, last = path.split(".")
        for key in keys:
            value = value[int(key) if isinstance(value, list) else key]
        return value, int(last) if isinstance(value, list) else last

    def __getitem__(self, path: str) -> Any:
        value, key = self._parent(path)
        return value[key]

    def __setitem__(self, path: str, new: Any) -> None:
        value, key = self._parent(path)
        value[key] = new

    def array(self, path: str) -> Any:
        return array_from_bytes(self.entries[self[path]["array"]]).copy()

    def set_array(self, path: str, values: Any) -> None:
        content = values if isinstance(values, bytes) else array_to_bytes(np.asanyarray(values))
        self.entries[self[path]["array"]] = content

    def add_array(self, values: Any) -> dict[str, str]:
        name = f"arrays/{1000 + len(self.entries)}.npy"
        self.entries[name] = values if isinstance(values, bytes) else array_to_bytes(values)
        return {"array": name}


@dataclass(frozen=True)
class Attack:
    """An altered file; `says` is a part of the error, "" for any, or None if it may load."""

    honest: str
    alter: Any
    says: str | None = ""


def put(**changes: Any) -> Any:
    """Put values at places; "__" in a keyword stands for the dot of a path."""

    def alter(file: File) -> None:
        for path, value in changes.items():
            file[path.replace("__", ".")] = copy.deepcopy(value)

    return alter


def at(path: str, value: Any) -> Any:
    """Put a value at a place."""
    return lambda file: file.__setitem__(path, copy.deepcopy(value))


def array_at(path: str, change: Any) -> Any:
    """Put another array at a place: the values, or a function of the old ones."""

    def alter(file: File) -> None:
        file.set_array(path, change(file.array(path)) if callable(change) else change)

    return alter


def item_at(path: str, index: Any, value: Any) -> Any:
    """Change an item of an array."""

    def change(values: Any) -> Any:
        values[index] = value
        return values

    return array_at(path, change)


def npy(descr: Any, shape: tuple[int, ...], content: bytes = b"") -> bytes:
    """A .npy file with any header."""
    buffer = io.BytesIO()
    header = {"descr": descr, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(buffer, header)
    return buffer.getvalue() + content


class Touch:
    """Unpickling it leaves a trace."""

    def __reduce__(self) -> Any:
        return os.system, (TOUCH,)


def pickled_array() -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.array([Touch()], dtype=object), allow_pickle=True)
    return buffer.getvalue()


def skops_payload() -> bytes:
    """Runs a command when a loader that trusts its names builds it."""

    def node(loader: str, module: str, name: str, **rest: Any) -> dict[str, Any]:
        return {"__class__": name, "__module__": module, "__loader__": loader, **rest}

    command = node("JsonNode", "builtins", "str", content=json.dumps(TOUCH), is_json=True)
    arguments = node("TupleNode", "builtins", "tuple", content=[command])
    system = node("ConstructorFromReduceNode", "posix", "system", content=arguments)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        described = {**system, "protocol": 2, "_skops_version": "0.16.0"}
        archive.writestr("schema.json", json.dumps(described))
    return buffer.getvalue()


def with_payload(path: str, trusted: list[str], name: str = "posix.system") -> Any:
    def alter(file: File) -> None:
        file.entries["trusted/0.skops"] = skops_payload()
        file.manifest["trusted"] = trusted
        file[path] = {"type": name, "trusted": "trusted/0.skops"}

    return alter


def used_twice(first: str, second: str) -> Any:
    return lambda file: file.__setitem__(first, file[second])


def without_entry(path: str) -> Any:
    def alter(file: File) -> None:
        del file.entries[file[path]["array"]]

    return alter


def swap(file: File, first: str, second: str) -> None:
    """Exchange two values."""
    file[first], file[second] = file[second], file[first]


CAPACITY = "fitted.wide_draws.0.transport.capacity"
SCALER = "fitted.detector_.parameters.steps.0.1"
MINMAX = "fitted.detector_.parameters.steps.1.1"
FOREST = "fitted.detector_"
NODES = "fitted.detector_.fitted.nodes"
OBJECT = {"type": "sklearn.preprocessing.StandardScaler", "parameters": {}, "fitted": None}

CODE = {
    "memory as an attribute": Attack(
        "scalers", at(f"{SCALER}.fitted.__array_interface__", ANY_MEMORY), "not in the description"
    ),
    "memory as a parameter": Attack(
        "scalers",
        at(f"{SCALER}.parameters.__array_interface__", ANY_MEMORY),
        "not in the description",
    ),
    "memory in the place of an array": Attack(
        "scalers",
        at(f"{SCALER}.fitted.mean_", {"__array_interface__": ANY_MEMORY}),
        "mean_: ",
    ),
    "an object in the place of an array": Attack(
        "scalers", at(f"{SCALER}.fitted.mean_", {**OBJECT, "fitted": {}}), "mean_: "
    ),
    "memory that a scaler writes to": Attack(
        "scalers",
        put(
            **{
                f"{MINMAX}.parameters.copy": False,
                f"{MINMAX}.fitted.min_": {"__array_interface__": ANY_MEMORY},
                f"{MINMAX}.fitted.scale_": {"__array_interface__": ANY_MEMORY},
            }
        ),
        "not an array",
    ),
    "memory in an object that numpy would ask": Attack(
        "forest", at("fitted.__array_struct__", 4096), "not in the description"
    ),
    "a class": Attack("forest", at("fitted.__class__", "os.system"), "not in the description"),
    "a dictionary": Attack("forest", at("fitted.__dict__", {}), "not in the description"),
    "a method": Attack("forest", at(f"{FOREST}.fitted.score_samples", 1), "not in the descr"),
    "a state": Attack("forest", at(f"{FOREST}.fitted.__setstate__", {}), "not in the descr"),
    "a function as a transformer": Attack(
        "scalers",
        at(
            MINMAX,
            {
                "type": "sklearn.preprocessing.FunctionTransformer",
                "parameters": {"func": {"function": "os.system"}},
                "fitted": {"n_features_in_": 3},
            },
        ),
    ),
    "a function of a module": Attack(
        "scalers",
        at(
            MINMAX,
            {
                "type": "sklearn.preprocessing.FunctionTransformer",
                "parameters": {"func": "os.system"},
                "fitted": {"n_features_in_": 3},
            },
        ),
    ),
    "a metric that is a function": Attack(
        "LOF", at(f"{FOREST}.parameters.metric", {"function": "os.system"}), "metric"
    ),
    "a kernel that is a function": Attack(
        "SVM", at(f"{FOREST}.parameters.kernel", {"function": "os.system"}), "kernel"
    ),
    "a type of Python": Attack("distance", at("type", "os.system"), "without a description"),
    "a private name of a type": Attack(
        "scalers",
        at(f"{SCALER}.type", "sklearn.preprocessing._data.StandardScaler"),
        "without a description",
    ),
    "a subclass": Attack(
        "forest", at(f"{FOREST}.type", "sklearn.ensemble.RandomForestClassifier"), "without"
    ),
    "a type that is a list": Attack("distance", at("type", ["ctad.CTAD"]), "without a descr"),
    "a type that is an object": Attack("distance", at("type", OBJECT), "without a description"),
    "a payload": Attack("forest", with_payload("fitted.detector_", []), ""),
    "a payload that must be trusted": Attack(
        "forest", with_payload("fitted.detector_", ["posix.system"]), "can run code"
    ),
    "a payload under the name of a scaler": Attack(
        "scalers", with_payload(SCALER, [], "sklearn.preprocessing.StandardScaler"), ""
    ),
    "a payload as an array": Attack(
        "distance",
        lambda file: (
            file.entries.update({"trusted/0.skops": skops_payload()}),
            file.__setitem__("fitted.centroids_", {"array": "trusted/0.skops"}),
        ),
        "does not list the types",
    ),
    "a pickle as an array": Attack("distance", array_at("fitted.centroids_", pickled_array())),
    "a plain pickle as an array": Attack(
        "distance", array_at("fitted.centroids_", pickle.dumps(Touch()))
    ),
}

CRASHES = {
    # Arrays
    "an array of objects": Attack("distance", array_at("fitted.centroids_", npy("|O", (2, 3)))),
    "a structured array": Attack(
        "distance", array_at("fitted.centroids_", npy([("x", "<f8")], (2, 3), bytes(48)))
    ),
    "items of size 0": Attack("distance", array_at("fitted.centroids_", npy("|V0", (10**9, 3)))),
    "text": Attack("distance", array_at("fitted.centroids_", npy("<U2", (2, 3), bytes(48)))),
    "dates": Attack("distance", array_at("fitted.centroids_", npy("<M8[s]", (2, 3), bytes(48)))),
    "complex numbers": Attack(
        "distance", array_at("fitted.centroids_", npy("<c16", (2, 3), bytes(96)))
    ),
    "the other byte order": Attack(
        "distance", array_at("fitted.centroids_", lambda values: values.astype(">f8"))
    ),
    "half precision": Attack(
        "distance", array_at("fitted.centroids_", lambda values: values.astype("<f2"))
    ),
    "unsigned integers": Attack(
        "distance", array_at("fitted.centroids_", lambda values: values.astype("<u8"))
    ),
    "a shape larger than the content": Attack(
        "distance", array_at("fitted.centroids_", npy("<f8", (2**40, 3), bytes(48)))
    ),
    "a shape whose size overflows to the right one": Attack(
        "distance", array_at("fitted.centroids_", npy("<f8", (2**62 + 2, 3, 2**2), bytes(48)))
    ),
    "a negative shape": Attack(
        "distance", array_at("fitted.centroids_", npy("<f8", (-2, -3), bytes(48)))
    ),
    "100 dimensions": Attack(
        "distance", array_at("fitted.centroids_", npy("<f8", (1,) * 98 + (2, 3), bytes(48)))
    ),
    "no values": Attack("distance", array_at("fitted.centroids_", np.zeros((0, 3))), "without val"),
    "NaN": Attack("distance", item_at("fitted.centroids_", (0, 0), np.nan), "NaN"),
    "infinity": Attack("distance", item_at("fitted.centroids_", (0, 0), np.inf), "infinity"),
    "an array used twice": Attack(
        "scalers",
        used_twice(f"{SCALER}.fitted.mean_", f"{SCALER}.fitted.scale_"),
        "used twice",
    ),
    "an array of another entry": Attack(
        "distance", at("fitted.centroids_", {"array": "manifest.json"}), "centroids_: no entry"
    ),
    "an array in another folder": Attack(
        "distance", at("fitted.centroids_", {"array": "arrays/../../etc/passwd"}), "no entry"
    ),
    "a number as the name of an array": Attack(
        "distance", at("fitted.centroids_", {"array": 0}), "no entry"
    ),
    "a list as the name of an array": Attack(
        "distance", at("fitted.centroids_", {"array": ["arrays/0.npy"]}), "no entry"
    ),
    "an array that is missing": Attack("distance", without_entry("fitted.centroids_"), "no entry"),
    # Decision trees
    "a child that does not exist": Attack("forest", item_at(f"{NODES}.children_left", 0, 10**6)),
    "a negative child": Attack("forest", item_at(f"{NODES}.children_left", 0, -7)),
    "an endless path": Attack("forest", item_at(f"{NODES}.children_left", 0, 0)),
    "two paths to one node": Attack(
        "forest",
        lambda file: file.set_array(
            f"{NODES}.children_right", file.array(f"{NODES}.children_left")
        ),
    ),
    "one child": Attack("forest", item_at(f"{NODES}.children_right", 0, -1)),
    "a column that does not exist": Attack("forest", item_at(f"{NODES}.feature", 0, 3)),
    "a negative column": Attack("forest", item_at(f"{NODES}.feature", 0, -1)),
    "a huge column": Attack("forest", item_at(f"{NODES}.feature", 0, 2**31 - 1)),
    "a threshold of NaN": Attack("forest", item_at(f"{NODES}.threshold", 0, np.nan), None),
    "fewer nodes than stated": Attack("forest", item_at(f"{FOREST}.fitted.n_nodes", 0, 1)),
    "a huge number of nodes": Attack("forest", item_at(f"{FOREST}.fitted.n_nodes", 0, 2**62)),
    "a negative number of nodes": Attack("forest", item_at(f"{FOREST}.fitted.n_nodes", 0, -1)),
    "columns of a tree that do not exist": Attack(
        "forest", item_at(f"{FOREST}.fitted.estimators_features_", (0, 0), 3)
    ),
    "negative columns of a tree": Attack(
        "forest", item_at(f"{FOREST}.fitted.estimators_features_", (0, 0), -1)
    ),
    "more trees than stated": Attack(
        "forest", at(f"{FOREST}.parameters.n_estimators", 10**9), None
    ),
    # Neighbours, densities, support vectors, histograms
    "a search tree": Attack("KNN", at(f"{FOREST}.fitted.tree_", OBJECT), "not in the description"),
    "the arrays of a search tree": Attack(
        "LOF", at(f"{FOREST}.fitted._tree", {"array": "arrays/0.npy"}), "not in the description"
    ),
    "rows of other columns": Attack(
        "LOF", array_at(f"{FOREST}.fitted.rows", lambda rows: rows[:, :2])
    ),
    "more neighbours than rows": Attack("LOF", at(f"{FOREST}.fitted.n_neighbors_", 61)),
    "more neighbours of a search than rows": Attack(
        "KNN", at(f"{FOREST}.fitted.search.parameters.n_neighbors", 10**6)
    ),
    "distances of other neighbours": Attack(
        "LOF", array_at(f"{FOREST}.fitted._distances_fit_X_", lambda values: values[:, :1])
    ),
    "a leaf of size 0": Attack("LOF", at(f"{FOREST}.parameters.leaf_size", 0)),
    "a distance with weights of other columns": Attack(
        "LOF", at(f"{FOREST}.parameters.metric_params", {"w": [1.0]})
    ),
    "precomputed distances": Attack("LOF", at(f"{FOREST}.parameters.metric", "precomputed")),
    "a search that only knows its own rows": Attack(
        "LOF", at(f"{FOREST}.parameters.novelty", False)
    ),
    "a density of other columns": Attack(
        "density", array_at(f"{FOREST}.fitted.rows", lambda rows: rows[:, :1])
    ),
    "a density with a search tree": Attack(
        "density", at(f"{FOREST}.fitted.tree_", {"array": "arrays/0.npy"}), "not in the descr"
    ),
    "a bandwidth of zero": Attack("density", at(f"{FOREST}.parameters.bandwidth", 0.0)),
    "a density in another unit": Attack(
        "density", at(f"{FOREST}.parameters.metric", "mahalanobis")
    ),
    "a precomputed kernel": Attack("SVM", at(f"{FOREST}.parameters.kernel", "precomputed")),
    "support vectors of other columns": Attack(
        "SVM", array_at(f"{FOREST}.fitted.support_vectors_", lambda rows: rows[:, :2])
    ),
    "fewer support vectors": Attack(
        "SVM", array_at(f"{FOREST}.fitted.support_vectors_", lambda rows: rows[:1])
    ),
    "a support vector that is no row": Attack(
        "SVM", item_at(f"{FOREST}.fitted.support_", 0, 10**6)
    ),
    "a negative support vector": Attack("SVM", item_at(f"{FOREST}.fitted.support_", 0, -1)),
    "histograms of fewer columns": Attack(
        "HBOS",
        lambda file: (
            array_at(f"{FOREST}.fitted.bin_counts", lambda values: values[:1])(file),
            array_at(f"{FOREST}.fitted.heights", lambda values: values[:4])(file),
            array_at(f"{FOREST}.fitted.edges", lambda values: values[:5])(file),
        ),
        "columns",
    ),
    "histograms of fewer bins": Attack(
        "HBOS", array_at(f"{FOREST}.fitted.heights", lambda values: values[:-1])
    ),
    "a huge number of bins": Attack("HBOS", item_at(f"{FOREST}.fitted.bin_counts", 0, 2**40)),
    "a negative number of bins": Attack("HBOS", item_at(f"{FOREST}.fitted.bin_counts", 0, -1)),
    "NaN among edges": Attack("HBOS", item_at(f"{FOREST}.fitted.edges", 1, np.nan)),
    "edges that decrease": Attack(
        "HBOS", array_at(f"{FOREST}.fitted.edges", lambda values: values[::-1].copy())
    ),
    # Types against places
    "a model as a detector": Attack(
        "forest", lambda file: file.__setitem__(FOREST, copy.deepcopy(file.manifest["model"]))
    ),
    "a scaler as a detector": Attack(
        "scalers",
        lambda file: file.__setitem__(FOREST, file[SCALER]),
        "cannot be here",
    ),
    "a detector as a calibrator": Attack(
        "forest", lambda file: file.__setitem__("fitted.calibrator_", file[FOREST]), "cannot be"
    ),
    "a calibrator as a detector": Attack(
        "forest", lambda file: file.__setitem__(FOREST, file["fitted.calibrator_"]), "cannot be"
    ),
    "a calibrator as an encoder": Attack(
        "forest", lambda file: file.__setitem__("fitted.encoder_", file["fitted.calibrator_"])
    ),
    "a detector that is not fitted": Attack("forest", at(f"{FOREST}.fitted", None), "not fitted"),
    "a calibrator that is not fitted": Attack(
        "forest", at("fitted.calibrator_.fitted", None), "not fitted"
    ),
    "a model that is not fitted": Attack("forest", at("fitted", None), "not fitted"),
    "a calibrator of other columns": Attack(
        "forest",
        lambda file: (
            file.__setitem__("fitted.calibrator_.fitted.n_features_in_", 2),
            array_at("fitted.calibrator_.fitted.centroids_", lambda rows: rows[:, :2])(file),
        ),
        "columns",
    ),
    "a training sample of other columns": Attack(
        "forest", array_at("fitted.training_sample_", lambda rows: rows[:, :2]), "training_sample_"
    ),
    "more columns than the detector knows": Attack("forest", at("fitted.n_features_in_", 4)),
    "a huge number of columns": Attack("forest", at("fitted.n_features_in_", 2**53)),
    "a function instead of a detector": Attack(
        "forest", at(FOREST, {"function": "system"}), "which is not in the file: pass the function"
    ),
    "no method": Attack("forest", at("fitted.method", "")),
    "another method": Attack("forest", at("fitted.method", "__init__"), "method"),
    "another sign": Attack("forest", at("fitted.sign", 2.0), "sign"),
    "a table for a detector of arrays": Attack(
        "forest", at("fitted.detector_form", "pandas"), None
    ),
    # Decisions
    "a threshold of NaN ": Attack("forest", at("fitted.threshold_", "nan"), "threshold_"),
    "a threshold in words": Attack("forest", at("fitted.threshold_", "high"), "threshold_"),
    "a huge threshold": Attack("forest", at("fitted.threshold_", 10**400), "threshold_"),
    "a flag as a threshold": Attack("forest", at("fitted.threshold_", True), "threshold_"),
    "scores of held-out rows that are NaN": Attack(
        "forest", item_at("fitted.calibration_scores_.score", 0, np.nan), "NaN"
    ),
    "fewer scores of held-out rows": Attack(
        "forest", array_at("fitted.calibration_scores_.score", lambda values: values[:-1])
    ),
    "no scores of held-out rows": Attack("forest", at("fitted.calibration_scores_", None)),
    "more held-out rows than scores": Attack("forest", at("fitted.n_held_out", 10**6)),
    "scores of two dimensions": Attack(
        "forest", array_at("fitted.decision_scores_", lambda values: values[:, np.newaxis])
    ),
    "scores that are NaN": Attack(
        "forest", array_at("fitted.decision_scores_", lambda values: values * np.nan)
    ),
    "scores that are infinite": Attack(
        "forest", array_at("fitted.decision_scores_", lambda values: values + np.inf)
    ),
    # Transport
    "negative masses": Attack("CTAD", item_at("fitted.draws.0.target", 0, -1)),
    "masses of another sum": Attack("CTAD", item_at("fitted.draws.0.target", 0, 100)),
    "masses whose sum overflows": Attack(
        "CTAD", array_at("fitted.draws.0.target", np.array([2**62, 2**62, 2**63 - 1]))
    ),
    "masses of more centroids": Attack("CTAD", array_at("fitted.draws.0.target", np.ones(5, int))),
    "references of other columns": Attack(
        "CTAD", array_at("fitted.draws.0.references", lambda rows: rows[:, :2])
    ),
    "references too large to be squared": Attack(
        "CTAD", array_at("fitted.draws.0.references", lambda rows: rows * 1e300)
    ),
    "a draw of other columns": Attack(
        "RelaxedCTAD",
        lambda file: [
            array_at(f"fitted.draws.1.{name}", lambda values: values[..., :2])(file)
            for name in ("references", "centroids", "shift", "scale")
        ],
        "a length",
    ),
    "a scale of zero": Attack("RelaxedCTAD", item_at("fitted.draws.0.scale", 0, 0.0)),
    "a radius of zero": Attack("RelaxedCTAD", item_at("fitted.draws.0.radius", 0, 0.0)),
    "no draws": Attack("RelaxedCTAD", at("fitted.draws", [])),
    "capacities too small to hold the mass": Attack(
        "RelaxedCTAD", array_at(CAPACITY, lambda values: values * 1e-3), "less than the mass"
    ),
    "no capacities": Attack("RelaxedCTAD", array_at(CAPACITY, np.zeros_like), "less than the mass"),
    "a capacity of NaN": Attack("RelaxedCTAD", item_at(CAPACITY, 0, np.nan), "NaN"),
    "a negative capacity": Attack("RelaxedCTAD", item_at(CAPACITY, 0, -1e-9), "below 0"),
    "a huge capacity": Attack("RelaxedCTAD", item_at(CAPACITY, 0, 1e300), "above 1"),
    "capacities of fewer centroids": Attack(
        "RelaxedCTAD", array_at(CAPACITY, lambda values: values[:-1] * 2), "a length"
    ),
    "a bound of zero": Attack("RelaxedCTAD", at("fitted.draws.0.bound", 0.0), "bound"),
    "a negative bound": Attack("RelaxedCTAD", at("fitted.wide_draws.0.bound", -3.0), "bound"),
    "a bound of NaN": Attack("RelaxedCTAD", at("fitted.draws.0.bound", "nan"), "bound"),
    "a huge bound": Attack("RelaxedCTAD", at("fitted.wide_draws.0.bound", 1e300), "bound"),
    "an infinite bound": Attack("RelaxedCTAD", at("fitted.draws.0.bound", "inf"), "bound"),
    "no bound": Attack("RelaxedCTAD", at("fitted.draws.0.bound", None), "bound"),
    "a bound of the paper's draws": Attack("CTAD", at("fitted.draws.0.bound", 3.0), "bound"),
    "a bound that is nearer than points": Attack(
        "RelaxedCTAD", at("fitted.wide_draws.0.bound", 0.1), "out of range"
    ),
    "references beyond the bound": Attack(
        "RelaxedCTAD", item_at("fitted.draws.0.references", 0, 3.01), "references out of range"
    ),
    "centroids beyond the bound": Attack(
        "RelaxedCTAD", item_at("fitted.wide_draws.1.centroids", 0, -3.01), "centroids out of range"
    ),
    "points too large in the units of the rows": Attack(
        "RelaxedCTAD", item_at("fitted.draws.0.scale", slice(None), 1e200), "out of range"
    ),
    "points at the bound of a large scale": Attack(
        "RelaxedCTAD",
        lambda file: (
            item_at("fitted.draws.0.references", 0, 3.0)(file),
            item_at("fitted.draws.0.scale", 0, 1e95)(file),
        ),
        "out of range",
    ),
    "rows far out of a tiny scale": Attack(
        "RelaxedCTAD", item_at("fitted.wide_draws.0.scale", slice(None), 1e-200), None
    ),
    "limited mass in a near view": Attack(
        "RelaxedCTAD", at("fitted.draws.0.target", "partial"), "target"
    ),
    "a near view in the place of a wide one": Attack(
        "RelaxedCTAD", lambda file: swap(file, "fitted.draws", "fitted.wide_draws"), "target"
    ),
    "unlimited mass in a wide view": Attack(
        "RelaxedCTAD", at("fitted.wide_draws.0.target", "free"), "target"
    ),
    "limited mass in the paper's method": Attack(
        "CTAD", at("fitted.draws.0.target", "partial"), "target"
    ),
    "a solved transport of references in a wide view": Attack(
        "RelaxedCTAD", at("fitted.wide_draws.0.transport", {"reference_cost": 1.0}), "transport"
    ),
    "no wide views": Attack("RelaxedCTAD", at("fitted.wide_draws", []), "training: not that"),
    "fewer wide views": Attack(
        "RelaxedCTAD", lambda file: file["fitted.wide_draws"].pop(), "not the number"
    ),
    "wide views of normal rows": Attack(
        "RelaxedCTAD", at("parameters.training", "normal"), "training: not that"
    ),
    "a wide view that is a near one": Attack(
        "RelaxedCTAD", used_twice("fitted.wide_draws.0", "fitted.draws.0")
    ),
    "a share of no mass": Attack("RelaxedCTAD", at("parameters.mass_share", 0), "mass_share"),
    "all rows left out": Attack("RelaxedCTAD", at("parameters.trimmed", 1.0), "trimmed"),
    "draws that share their arrays": Attack(
        "RelaxedCTAD", used_twice("fitted.draws.0", "fitted.draws.1"), "used twice"
    ),
    # Values
    "a huge integer": Attack("distance", at("parameters.n_centroids", 10**4000)),
    "a negative integer": Attack("distance", at("parameters.n_centroids", -1)),
    "a number in words": Attack("distance", at("parameters.weight", "nan")),
    "a negative weight": Attack("distance", at("parameters.weight", -1.0)),
    "an unknown parameter": Attack("distance", at("parameters.more", 1), "not in the description"),
    "128 processes": Attack("forest", at(f"{FOREST}.parameters.n_jobs", 10**6), "n_jobs"),
    "a cache folder": Attack("scalers", at(f"{FOREST}.parameters.memory", "/tmp"), "memory"),
}

ENCODER = "fitted.encoder_.fitted"
ONE_HOT = f"{ENCODER}.category_encoder_.fitted"
INDICATOR = f"{ENCODER}.number_imputer_.fitted.indicator_.fitted"
COLUMNS = "fitted.detector_.parameters.steps.0.1.fitted"

TABLES = {
    # Encoders against columns
    "an encoder of other columns": Attack("table", at("fitted.feature_names_in_.0", "z")),
    "a column twice": Attack("table", at("fitted.feature_names_in_.0", "b")),
    "a column twice in the encoder": Attack(
        "table",
        lambda file: (
            at("fitted.feature_names_in_.0", "b")(file),
            at(f"{ENCODER}.feature_names_in_.0", "b")(file),
            at(f"{ENCODER}.columns.0.name", "b")(file),
        ),
    ),
    "no encoder": Attack("table", at("fitted.encoder_", None)),
    "an unknown kind of column": Attack("table", at(f"{ENCODER}.columns.0.kind", "object")),
    "a number that is a category": Attack("table", at(f"{ENCODER}.columns.0.kind", "category")),
    "a category that is a number": Attack("table", at(f"{ENCODER}.columns.3.kind", "number")),
    "a number that is a date": Attack("table", at(f"{ENCODER}.columns.0.kind", "date")),
    "features that do not exist": Attack(
        "table", array_at(f"{ENCODER}.varies_", np.ones(10, bool)), "varies_"
    ),
    "no features": Attack("table", array_at(f"{ENCODER}.varies_", np.zeros(9, bool)), "varies_"),
    "flags that are not 0 or 1": Attack(
        "table", array_at(f"{ENCODER}.varies_", npy("|b1", (9,), b"\x02" * 9)), "varies_"
    ),
    # Compiled loops read the mappings of one-hot encoders without a check.
    "mappings of a one-hot encoder": Attack(
        "table", at(f"{ONE_HOT}._default_to_infrequent_mappings", [None]), "not in the description"
    ),
    "masked mappings": Attack(
        "table", at(f"{ONE_HOT}._infrequent_indices", [{"mask": [True]}]), "_infrequent_indices"
    ),
    "a rare category that does not exist": Attack(
        "table",
        lambda file: at(f"{ONE_HOT}._infrequent_indices", [file.add_array(np.array([2**40]))])(
            file
        ),
        "_infrequent_indices",
    ),
    "a negative rare category": Attack(
        "table",
        lambda file: at(f"{ONE_HOT}._infrequent_indices", [file.add_array(np.array([-1]))])(file),
        "_infrequent_indices",
    ),
    "a category twice": Attack("table", at(f"{ONE_HOT}.categories_.0", ["w", "x", "x", "z"])),
    "categories out of order": Attack(
        "table", at(f"{ONE_HOT}.categories_.0", ["z", "y", "x", "w"]), None
    ),
    "categories that are objects": Attack("table", at(f"{ONE_HOT}.categories_.0", [OBJECT] * 4)),
    "categories of another column": Attack(
        "table", at(f"{ONE_HOT}.categories_", [["w", "x", "y", "z"]] * 2), "categories_"
    ),
    "no categories": Attack("table", at(f"{ONE_HOT}.categories_.0", []), "categories_"),
    "a category to drop that does not exist": Attack(
        "table", lambda file: at(f"{ONE_HOT}.drop_idx_", [99])(file)
    ),
    "an indicator of columns that do not exist": Attack(
        "table", item_at(f"{INDICATOR}.features_", 0, 99), "features_"
    ),
    "an indicator of negative columns": Attack(
        "table", item_at(f"{INDICATOR}.features_", 0, -1), "features_"
    ),
    # Pipelines and column transformers
    "columns by name that do not exist": Attack(
        "table pipeline", at(f"{COLUMNS}.transformers_.1.2", ["a", "nope"])
    ),
    "columns by place that do not exist": Attack(
        "table pipeline", item_at(f"{COLUMNS}.indices.1", 0, 5)
    ),
    "negative columns by place": Attack("table pipeline", item_at(f"{COLUMNS}.indices.1", 0, -2)),
    "huge columns by place": Attack("table pipeline", item_at(f"{COLUMNS}.indices.1", 0, 2**62)),
    "other widths": Attack("table pipeline", at(f"{COLUMNS}.widths", [5, 2, 0])),
    "huge widths": Attack("table pipeline", at(f"{COLUMNS}.widths.0", 2**53)),
    "two transformers with the same name": Attack(
        "table pipeline", at(f"{COLUMNS}.transformers_.1.0", "onehotencoder")
    ),
    "a detector in a column transformer": Attack(
        "table pipeline",
        lambda file: at(
            f"{COLUMNS}.transformers_.1.1", file["fitted.detector_.parameters.steps.1.1"]
        )(file),
        "cannot be here",
    ),
    "a transformer that is not fitted": Attack(
        "table pipeline", at(f"{COLUMNS}.transformers_.1.1.fitted", None), "not fitted"
    ),
    "an array for a detector of tables": Attack(
        "table pipeline", at("fitted.detector_form", "encoded")
    ),
    "a step twice": Attack("scalers", at(f"{FOREST}.parameters.steps.1.0", "standardscaler")),
    "a step with two underscores": Attack("scalers", at(f"{FOREST}.parameters.steps.1.0", "a__b")),
    "a step without a name": Attack("scalers", at(f"{FOREST}.parameters.steps.1.0", None)),
    "a detector first": Attack(
        "scalers", lambda file: file[f"{FOREST}.parameters.steps"].reverse(), "cannot be here"
    ),
    "no steps": Attack("scalers", at(f"{FOREST}.parameters.steps", [])),
    "steps that pass rows through": Attack(
        "scalers", at(f"{FOREST}.parameters.steps", [["a", "passthrough"]])
    ),
    "steps of other columns": Attack("scalers", at(f"{MINMAX}.fitted.n_features_in_", 2)),
}


def many_centroids(file: File) -> None:
    """A table of 16,000 x 16,001 costs has 2 GB, and to solve it takes hours."""
    put(parameters__n_centroids=16_000, parameters__n_references=16_001)(file)
    file.set_array("fitted.draws.0.centroids", np.linspace(0, 1, 48_000).reshape(-1, 3))
    file.set_array("fitted.draws.0.references", np.linspace(0, 1, 48_003).reshape(-1, 3))
    file.set_array("fitted.draws.0.target", np.array([2] + [1] * 15_999))
    file.set_array("fitted.draws.0.radius", np.ones(16_000))


def wide_products(file: File) -> None:
    """More products of three columns than a batch of rows has room for."""
    degree = 100
    steps = "fitted.detector_.parameters.steps"
    file[f"{steps}.0.1.parameters.degree"] = file[f"{steps}.0.1.fitted._max_degree"] = degree
    file[f"{steps}.1.1.fitted.n_features_in_"] = math.comb(degree + 3, 3)


def long_header(file: File) -> None:
    """An array of five million dimensions."""
    start = b"\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': ("
    file.set_array("fitted.centroids_", start + b"1, " * (5 * 10**6) + b"1), }\n")


def many_neighbours(file: File) -> None:
    """50 MB of rows, for which a tree is built."""
    n, inside = 2**21, f"{FOREST}.fitted"
    file.set_array(f"{inside}.search.fitted.rows", np.random.default_rng(0).random((n, 3)))
    file.set_array(f"{inside}.decision_scores_", np.zeros(n))
    file.set_array(f"{inside}.labels_", np.zeros(n, dtype=np.int64))


def many_relaxed_centroids(file: File) -> None:
    """50 MB of centroids."""
    n, draw = 2**21, "fitted.draws.0"
    file.set_array(f"{draw}.centroids", np.random.default_rng(0).random((n, 3)))
    file.set_array(f"{draw}.radius", np.ones(n))


def many_wide_centroids(file: File) -> None:
    """A few hundred kB of centroids, of which all pairs are compared."""
    n = 16_000
    file.set_array("fitted.wide_draws.0.centroids", np.linspace(0, 1, 3 * n).reshape(-1, 3))
    file.set_array("fitted.wide_draws.0.radius", np.ones(n))
    file.set_array(CAPACITY, np.ones(n))


def deep_tree(file: File) -> None:
    """20 MB of nodes: a tree of 200,000 levels, and the others of a single node."""
    nodes, levels = f"{FOREST}.fitted.nodes", 200_000
    n_trees = len(file.array(f"{FOREST}.fitted.n_nodes"))
    inner = np.arange(2 * levels) % 2 == 0  # each inner node has a leaf, then the rest
    is_inner = np.concatenate([inner, np.zeros(n_trees, dtype=bool)])
    place, n_rows = np.arange(len(is_inner)), np.ones(len(is_inner), dtype=np.int64)
    n_rows[: 2 * levels + 1 : 2] = np.arange(levels + 1, 0, -1)
    columns = {
        "children_left": np.where(is_inner, place + 1, -1).astype(np.int32),
        "children_right": np.where(is_inner, place + 2, -1).astype(np.int32),
        "feature": np.where(is_inner, 0, -2).astype(np.int32),
        "threshold": np.full(len(place), -1e9),
        "impurity": np.zeros(len(place)),
        "n_node_samples": n_rows,
        "weighted_n_node_samples": n_rows.astype(float),
        "missing_go_to_left": np.zeros(len(place), dtype=bool),
    }
    for name, values in columns.items():
        file.set_array(f"{nodes}.{name}", values)
    file.set_array(f"{FOREST}.fitted.n_nodes", np.array([2 * levels + 1] + [1] * (n_trees - 1)))


EXHAUSTION = {
    "a header of 15 MB": Attack("distance", long_header, "not an array of numbers"),
    "a search in 50 MB": Attack("KNN", many_neighbours, None),
    "50 MB of centroids": Attack("RelaxedCTAD", many_relaxed_centroids, None),
    "many centroids with limited mass": Attack(
        "RelaxedCTAD", many_wide_centroids, "scoring a row may take"
    ),
    "a deep tree of 20 MB": Attack("forest", deep_tree, None),
    "a polynomial with very many products": Attack(
        "polynomials", wide_products, "columns are made of 3"
    ),
    "16,000 centroids": Attack("CTAD", many_centroids),
    "centroids of a parameter": Attack("CTAD", at("parameters.n_centroids", 2**53), None),
    "a polynomial of high degree": Attack(
        "polynomials", at("fitted.detector_.parameters.steps.0.1.parameters.degree", 10**9)
    ),
    "more samples than any forest has": Attack(
        "forest", at(f"{FOREST}.fitted._max_samples", 2**53), None
    ),
    "deep nesting": Attack(
        "distance", at("parameters.weight", json.loads("[" * 45 + "]" * 45)), "weight"
    ),
    "detectors inside detectors": Attack(
        "scalers",
        lambda file: [
            file.__setitem__(
                FOREST,
                {
                    **file[FOREST],
                    "parameters": {
                        **file[f"{FOREST}.parameters"],
                        "steps": [["again", file[FOREST]]],
                    },
                },
            )
            for _ in range(8)
        ],
        None,
    ),
    "a million names": Attack("table", at("fitted.feature_names_in_", ["a"] * 10**6)),
    "a million lists": Attack("distance", at("parameters.weight", [[]] * 10**6), "weight"),
    "a manifest of 100 MB": Attack("distance", at("parameters.weight", "x" * 10**8), "weight"),
    "a model of 50 MB": Attack(
        "distance", array_at("fitted.centroids_", np.zeros((2**21, 3))), None
    ),
    "a million keys": Attack(
        "distance", at("parameters", {f"p{i}": i for i in range(10**6)}), "not in the descr"
    ),
}

ATTACKS = {**CODE, **CRASHES, **TABLES, **EXHAUSTION}


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    """What came of each file, honest ones and others, in one child process."""
    folder, files = tmp_path_factory.mktemp("attacks"), {}
    for name, make in HONEST.items():
        make().save(folder / f"{name}.ctad")
        files[name] = contents(folder / f"{name}.ctad")
    for number, attack in enumerate(ATTACKS.values()):
        file = File(*files[attack.honest])
        attack.alter(file)
        sign(folder / f"{attack.honest} {number}.ctad", file.manifest, file.entries)
    child = subprocess.run(
        [sys.executable, "-m", "tests.persistence.opening", folder],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    lines = [json.loads(line) for line in child.stdout.splitlines()]
    assert child.returncode == 0, f"{lines[-1]}: {child.stderr}"
    return folder, dict(zip(lines[::2], lines[1::2], strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("name", HONEST)
def test_honest_files_are_loaded_and_score(outcomes, name):
    assert outcomes[1][name]["name"] == "scored", outcomes[1][name]


@pytest.mark.slow
@pytest.mark.parametrize("name", ATTACKS)
def test_attacks(outcomes, name):
    attack = ATTACKS[name]
    outcome = outcomes[1][f"{attack.honest} {list(ATTACKS).index(name)}"]
    if attack.says is None:
        assert outcome["name"] != "failed", outcome
    else:
        assert outcome["name"] == "refused", outcome
        assert attack.says in outcome["message"]
    assert outcome["message"].isprintable()


@pytest.mark.slow
def test_no_attack_leaves_a_trace(outcomes):
    assert not (outcomes[0] / TRACE).exists()


# Text that could change the terminal, if it was printed as it is.
ESCAPES = "\x1b[2J\x07\x9b\r\n\u202e\0"


def test_inspect_and_messages_print_no_control_characters(tmp_path):
    from typer.testing import CliRunner

    from ctad.cli._app import app

    path = tmp_path / "model.ctad"
    HONEST["table"]().save(path)
    manifest, entries = contents(path)
    manifest["versions"]["scikit-learn"] = manifest["created"] = manifest["ctad"] = ESCAPES
    manifest["trusted"] = [ESCAPES]
    text = json.dumps(manifest["model"])
    for name in ("partly", "x", "ctad.CalibratedDetector", "n_features_in_"):
        text = text.replace(json.dumps(name), json.dumps(f"{name}{ESCAPES}"))
    sign(path, {**manifest, "model": json.loads(text)}, entries)
    shown = CliRunner().invoke(app, ["inspect", str(path)])
    assert shown.exit_code == 0
    assert "partly" in shown.output
    for output in (shown.output, CliRunner().invoke(app, ["inspect", str(path), "--json"]).output):
        assert not [c for c in output if c in ESCAPES and not c.isprintable() and c != "\n"]
    for trusted in ([], [ESCAPES]):
        with pytest.raises(ModelFileError) as error:
            load(path, trusted=trusted)
        assert str(error.value).isprintable()


INTERRUPTED = """
import sys
from ctad.persistence import load
print("loading", flush=True)
try:
    while True:
        load(sys.argv[1])
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def test_loading_a_large_file_can_be_interrupted(tmp_path):
    path = tmp_path / "model.ctad"
    HONEST["distance"]().save(path)
    file = File(*contents(path))
    file.set_array("fitted.centroids_", np.zeros((2**23, 3)))
    sign(path, file.manifest, file.entries)
    assert path.stat().st_size > 200_000_000
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, path], stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout.readline() == "loading\n"
        time.sleep(0.3)
        child.send_signal(signal.SIGINT)
        assert child.communicate(timeout=60)[0] == "interrupted\n"


def test_the_payloads_work_elsewhere(tmp_path, monkeypatch):
    import skops.io

    monkeypatch.chdir(tmp_path)
    skops.io.loads(skops_payload(), trusted=["posix.system"])
    assert Path(TRACE).exists()
    Path(TRACE).unlink()
    np.load(io.BytesIO(pickled_array()), allow_pickle=True)
    assert Path(TRACE).exists()
