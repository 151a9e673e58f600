"""Downloads end with the whole file, or with nothing and a reason."""

import os
import signal
import subprocess
import sys

import numpy as np
import pooch
import pytest

from ctad._progress import on_progress
from ctad.datasets import DownloadError, download_file, downloaded_file, load_dataset

from .conftest import npz, small
from .server import (
    breaks_off,
    error,
    other_bytes,
    promises_less,
    promises_nonsense,
    serving,
    silent,
    stalls,
    waits_for_the_other,
    whole,
)

# what the server does: (how, what is said of it)
FAILURES = {
    "500": (error(500), "the server answered 500 Internal Server Error"),
    "404": (error(404), "the server answered 404 Not Found"),
    "silence": (silent, "the server kept silent for too long"),
    "a stall": (stalls, "the server kept silent for too long"),
    "half a file": (breaks_off, "the file broke off"),
    "a length too small": (promises_less, "its SHA-256 was .* instead of"),
    "a length that is none": (promises_nonsense, "'much'"),
    "other bytes": (other_bytes, "its SHA-256 was .* instead of"),
}


def left_in(folder):
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def test_a_file_is_downloaded_once(source, wine, cache, body):
    with source() as server:
        path = download_file(wine)
        assert path.read_bytes() == body
        assert path == downloaded_file(wine) == cache / "wine.npz"
        np.testing.assert_array_equal(load_dataset("Wine").X, small()[0])
        assert server.requested == [f"/{wine.repository}/{wine.commit}/{wine.path}"]
    assert left_in(cache) == ["wine.npz"]


@pytest.mark.parametrize(("answer", "reason"), FAILURES.values(), ids=list(FAILURES))
def test_what_fails_is_tried_again(source, wine, cache, body, answer, reason):
    with source(answer, answer, whole) as server:
        assert download_file(wine).read_bytes() == body
        assert len(server.requested) == 3
    assert left_in(cache) == ["wine.npz"]


@pytest.mark.parametrize(("answer", "reason"), FAILURES.values(), ids=list(FAILURES))
def test_what_goes_on_failing_is_told_of_and_leaves_nothing(source, wine, cache, answer, reason):
    with source(answer) as server, pytest.raises(DownloadError, match=reason) as failed:
        download_file(wine)
    assert len(server.requested) == 3
    assert left_in(cache) == []
    said = str(failed.value)
    assert said.startswith(f"wine could not be downloaded from {server.url}/{wine.repository}")
    assert "put the file into a folder and name it with --data-dir or CTAD_DATA_DIR" in said


def test_without_a_server_the_reason_is_told(source, wine, cache):
    with source():
        pass
    with pytest.raises(DownloadError, match="refused"):
        load_dataset("wine")
    assert left_in(cache) == []


def test_pauses_grow(source, wine, monkeypatch):
    pauses = []
    monkeypatch.setattr("ctad.datasets._download.PAUSE_SECONDS", 1.0)
    monkeypatch.setattr("ctad.datasets._download.time.sleep", pauses.append)
    with source(error(500)), pytest.raises(DownloadError):
        download_file(wine)
    assert pauses == [1.0, 2.0]


@pytest.mark.parametrize("content", [b"", b"PK half a file"])
def test_a_bad_file_in_the_cache_is_downloaded_anew(source, wine, cache, body, content):
    cache.mkdir()
    (cache / "wine.npz").write_bytes(content)
    assert downloaded_file(wine) is None
    with source():
        load_dataset("wine")
    assert (cache / "wine.npz").read_bytes() == body


def test_a_bad_file_in_the_cache_stays_if_there_is_no_better(source, wine, cache):
    cache.mkdir()
    (cache / "wine.npz").write_bytes(b"bad")
    with source(error(500)), pytest.raises(DownloadError):
        load_dataset("wine")
    assert left_in(cache) == ["wine.npz"]


@pytest.fixture
def without_hash(wine):
    return wine._replace(source_sha256=None, values_sha256=None)


@pytest.mark.parametrize("answer", [promises_less, other_bytes, error(500)])
def test_what_has_no_hash_is_checked_by_its_shape(source, without_hash, cache, body, answer):
    with source(answer, whole):
        assert download_file(without_hash).read_bytes() == body
    assert downloaded_file(without_hash) == cache / "wine.npz"
    (cache / "wine.npz").write_bytes(body[:-1])
    assert downloaded_file(without_hash) is None


def test_another_shape_is_refused(source, without_hash, cache):
    X, y = small()
    with (
        source(content=npz(X[1:], y[1:])),
        pytest.raises(DownloadError, match="it has 19 rows, 3 columns and 4 anomalies"),
    ):
        download_file(without_hash)
    with source(content=b"<html>"), pytest.raises(DownloadError, match="it was not a data set"):
        download_file(without_hash)
    assert left_in(cache) == []


def test_progress_is_reported(source, wine):
    large = npz(np.zeros((300_000, 1)), np.arange(300_000) > 9)
    known = wine._replace(samples=300_000, dims=1, anomalies=299_990, source_sha256=None)
    known = known._replace(values_sha256=None)
    reported = []
    with source(error(500), whole, content=large), on_progress(reported.append):
        download_file(known)
    assert {progress.doing for progress in reported} == {"Downloading wine, attempt 2, kB"}
    assert {progress.total for progress in reported} == {len(large) // 1000}
    done = [progress.done for progress in reported]
    assert done == sorted(done)
    assert done[0] < len(large) // 2000 < done[-1] == len(large) // 1000


def test_a_cache_that_cannot_be_written_is_told_of(source, wine, cache):
    cache.write_text("not a folder")
    assert downloaded_file(wine) is None
    with source(), pytest.raises(DownloadError, match=r"cannot be written to .*CTAD_CACHE_DIR"):
        download_file(wine)


def test_the_cache_is_the_users_unless_they_say_otherwise(source, wine, tmp_path, monkeypatch):
    monkeypatch.delenv("CTAD_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))  # where Linux looks
    monkeypatch.setattr(pooch.utils.platformdirs, "user_cache_dir", lambda name: tmp_path / name)
    with source():
        assert download_file(wine) == tmp_path / "ctad" / "wine.npz"


@pytest.mark.parametrize("folder", ["", "cache"])
def test_without_pooch_the_way_to_get_it_is_told(wine, monkeypatch, folder):
    monkeypatch.setenv("CTAD_CACHE_DIR", folder)
    for package in ("pooch", "requests"):
        monkeypatch.setitem(sys.modules, package, None)
    assert downloaded_file(wine) is None
    with pytest.raises(ImportError, match=r"needs pooch: pip install 'ctad\[bench\]' brings it"):
        load_dataset("wine")


# Downloads from the server, and with the hash, that are its arguments.
DOWNLOADER = """
import sys
from ctad.datasets import _registry, download_file, known_dataset
_registry.HOST, sha256 = sys.argv[1:]
download_file(known_dataset("wine")._replace(source_sha256=sha256))
"""


def downloader(server, known):
    return subprocess.Popen([sys.executable, "-c", DOWNLOADER, server.url, known.source_sha256])


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL")
def test_killed_while_downloading_there_is_no_file(source, wine, cache, body):
    with serving(body, stalls) as server, downloader(server, wine) as process:
        assert server.half_sent.wait(60)
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    [part] = left_in(cache)
    assert part.startswith(".wine.npz.")
    assert downloaded_file(wine) is None
    with source():
        assert download_file(wine).read_bytes() == body
    assert left_in(cache) == ["wine.npz"]  # not what the other left behind


def test_two_at_once_both_end_well(wine, cache, body):
    with (
        serving(body, waits_for_the_other) as server,
        downloader(server, wine) as one,
        downloader(server, wine) as other,
    ):
        assert (one.wait(60), other.wait(60)) == (0, 0)
        assert len(server.requested) == 2
    assert (cache / "wine.npz").read_bytes() == body
    assert left_in(cache) == ["wine.npz"]
