"""A small data set of the paper, and a local server that has its file."""

import io
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256

import numpy as np
import pytest

from ctad.datasets import KNOWN_DATASETS, Dataset, known_dataset

from ..data import normal
from .server import serving, silent, stalls, whole


@pytest.fixture(autouse=True)
def no_data_yet(tmp_path, monkeypatch):
    """No folder of the user, an empty cache and no proxy."""
    monkeypatch.delenv("CTAD_DATA_DIR", raising=False)
    monkeypatch.setenv("CTAD_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "cache"


def small(seed=0):
    """20 rows; the last 4 are anomalies."""
    return normal(20, 3, seed=seed), np.arange(20) > 15


def npz(X, y):
    file = io.BytesIO()
    np.savez(file, X=X, y=y)
    return file.getvalue()


@pytest.fixture
def body():
    """The content of the public file."""
    return npz(*small())


@pytest.fixture
def wine(body, monkeypatch):
    """The registry's entry of this file, under the name of another data set."""
    known = replace(
        known_dataset("wine"),
        samples=20,
        dims=3,
        anomalies=4,
        source_sha256=sha256(body).hexdigest(),
        values_sha256=Dataset("wine", *small()).sha256,
    )
    monkeypatch.setitem(KNOWN_DATASETS, "wine", known)
    return known


@pytest.fixture
def source(body, monkeypatch):
    """Serve the file, or other answers, to a downloader with short timeouts."""
    monkeypatch.setattr("ctad.datasets._download.PAUSE_SECONDS", 0.0)

    @contextmanager
    def source(*answers, content=body):
        seconds = 0.3 if {silent, stalls} & {*answers} else 30.0
        monkeypatch.setattr("ctad.datasets._download.TIMEOUT_SECONDS", (30.0, seconds))
        with serving(content, *(answers or [whole])) as server:
            monkeypatch.setattr("ctad.datasets._registry.HOST", server.url)
            yield server

    return source
