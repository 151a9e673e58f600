"""Valid model files, altered at random. As a program: load such files and score with them."""

import copy
import json
import random
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from pyod.models.hbos import HBOS
from pyod.models.knn import KNN
from sklearn.ensemble import IsolationForest
from sklearn.linear_model import SGDOneClassSVM
from sklearn.neighbors import KernelDensity, LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM

from ctad import CTAD, CalibratedDetector
from ctad.persistence import ModelFileError, load, read_manifest
from ctad.persistence._arrays import array_from_bytes, array_to_bytes

from .files import X_NEW, X_TRAIN, contents, sign

FRAME = pd.DataFrame(X_TRAIN, columns=list("abc")).assign(
    kind=["x", "y", "z"] * 20, partly=[None, 1.0, 2.0] * 20
)
DETECTORS = (
    IsolationForest(n_estimators=2, max_samples=16),
    make_pipeline(StandardScaler(), KernelDensity(leaf_size=5)),
    LocalOutlierFactor(
        novelty=True, algorithm="ball_tree", p=3, metric_params={"w": [1.0, 2.0, 3.0]}
    ),
    OneClassSVM(),
    SGDOneClassSVM(random_state=np.random.RandomState(0)),
    KNN(),
    HBOS(n_bins=4),
)
# Values to put in the place of others: of another type, out of range, or of another meaning.
VALUES = (
    *(0, -1, 1, 2, 10**6, 2**40, -(2**63), 2**64, 1.5, -1e308, True, False, None),
    *("", "x", "inf", "uniform", "free", "9", "-5", "1000000", "null", "[]", "{}", "NaN"),
    *("ObjectNode", "DictNode", "arrays/0.npy", "objects/0.json", "builtins", "list", "ndarray"),
    *([], {}, [1], {"a": 1}),
)
NUMBERS = (0, -1, 1, 10**6, 2**40, -(2**40))
FLOATS = (np.nan, np.inf, 0.0, -1e300, 1e9)


def valid_files(folder):
    """Write small files of all kinds."""
    paths = [Path(folder) / f"{number}.ctad" for number in range(len(DETECTORS) + 2)]
    calibrator = CTAD(n_centroids=3, n_references=4, target="sizes", random_state=0)
    calibrator.fit(X_TRAIN).save(paths[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        frame = CalibratedDetector(DETECTORS[0], calibrator, random_state=0).fit(FRAME)
        frame.save(paths[1])
        for detector, path in zip(DETECTORS, paths[2:], strict=True):
            CalibratedDetector(detector, calibrator, random_state=0).fit(X_TRAIN).save(path)
    return paths


def places(value, prefix=()):
    """The path to every value inside a JSON value."""
    inside = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in inside:
        yield (*prefix, key)
        if isinstance(item, dict | list):
            yield from places(item, (*prefix, key))


def at(value, place):
    for key in place:
        value = value[key]
    return value


def mutate_json(value, choose):
    for _ in range(choose.choice((1, 1, 1, 2, 4))):
        found = list(places(value))
        *before, key = choose.choice(found)
        parent, action = at(value, before), choose.random()
        if action < 0.6:
            parent[key] = copy.deepcopy(choose.choice(VALUES))
        elif action < 0.75:
            del parent[key]
        else:
            parent[key] = copy.deepcopy(at(value, choose.choice(found)))


def mutate_array(values, choose):
    action = choose.random()
    if action < 0.2:
        return values.ravel()
    if action < 0.4:
        return np.atleast_1d(values)[: choose.randrange(values.size + 1)]
    if action < 0.5 and not values.dtype.names:
        return values.astype(choose.choice(("f4", "f8", "i4", "i8", "u1")), casting="unsafe")
    if action < 0.6:
        return values.T
    flat = values.copy().reshape(-1)
    if flat.size:
        item = choose.randrange(flat.size)
        if flat.dtype.names:
            field = flat[choose.choice(flat.dtype.names)]
            field[item] = np.array(choose.choice(NUMBERS)).astype(field.dtype)
        elif flat.dtype.kind == "f":
            flat[item] = choose.choice(FLOATS)
        elif flat.dtype.kind == "i":
            flat[item] = choose.choice(NUMBERS[:4])
    return flat.reshape(values.shape)


def resigned(path, to, choose):
    """Write a copy with one entry or the manifest altered, and right checksums."""
    manifest, entries = contents(path)
    name = choose.choice(["manifest.json", *entries])
    if name == "manifest.json":
        mutate_json(manifest, choose)
    elif name.endswith(".json"):
        described = json.loads(entries[name])
        mutate_json(described, choose)
        entries[name] = json.dumps(described).encode()
    else:
        with np.errstate(all="ignore"):
            altered = mutate_array(array_from_bytes(entries[name]), choose)
        entries[name] = array_to_bytes(altered)
    sign(to, manifest, entries)


def load_or_refuse(path):
    """Load a file; None if it is refused. Any other error or warning is a failure."""
    model = None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for read in (read_manifest, load):
            try:
                model = read(path)
            except ModelFileError as error:
                assert str(path) in str(error)  # noqa: PT017
                model = None
    for warning in caught:
        assert "was written with" in str(warning.message)
    return model


def main(folder, n_files):
    """Alter the files of a folder, load them and score with those that load."""
    paths, altered, scored = sorted(Path(folder).glob("?.ctad")), Path(folder) / "altered.ctad", 0
    for seed in range(n_files):
        print("seed", seed, file=sys.stderr, flush=True)
        choose = random.Random(seed)
        path = choose.choice(paths)
        resigned(path, altered, choose)
        model = load_or_refuse(altered)
        if model is None:
            continue
        warnings.simplefilter("ignore")
        try:
            if path == paths[0]:
                model.delta(X_NEW)
            else:
                model.anomaly_score(FRAME if path == paths[1] else X_NEW)
            scored += 1
        except Exception:  # numbers that make no sense; only a crash is a failure
            continue
    print(scored)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
