"""Rows to train on, and ways to alter model files."""

import json
import zipfile

import numpy as np
import pandas as pd

from ctad.persistence._container import write_container

from ..data import clusters

X_TRAIN = clusters(60, 3)
X_NEW = clusters(25, 3, seed=1)
FRAME = pd.DataFrame(X_TRAIN, columns=list("abc")).assign(
    kind=["x", "y", "z", "w"] * 15, partly=[None, 1.0, 2.0] * 20
)


def contents(path):
    """Manifest and entries of a model file, unchecked."""
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    return json.loads(entries.pop("manifest.json")), entries


def sign(path, manifest, entries):
    """Write a file with right sizes and checksums, whatever its contents are."""
    write_container(path, manifest, entries)


def altered(path, to, manifest=None, entries=None):
    """A signed copy of a file with another manifest or other entries."""
    old_manifest, old_entries = contents(path)
    sign(to, {**old_manifest, **(manifest or {})}, {**old_entries, **(entries or {})})
    return to


def same(first, second):
    """Assert that arrays are equal to the last bit."""
    np.testing.assert_array_equal(first, second)
