"""Downloads give the complete file, or an error that says why."""

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pooch
import pytest

from ctad._progress import on_progress
from ctad.datasets import DownloadError, cached_file, load_dataset
from ctad.datasets._download import ATTEMPTS, download_file

from .conftest import npz, small
from .server import (
    error,
    half,
    length_not_a_number,
    length_too_small,
    other_bytes,
    serving,
    silent,
    stalls,
    waits_for_another_request,
    whole,
)

# what goes wrong: (answer of the server, message)
FAILURES = {
    "500": (error(500), "the server answered 500 Internal Server Error"),
    "404": (error(404), "the server answered 404 Not Found"),
    "silence": (silent, "the server did not answer in time"),
    "a stall": (stalls, "the server did not answer in time"),
    "half a file": (half, "the file is incomplete"),
    "a length too small": (length_too_small, "the SHA-256 of the file is .* instead of"),
    "a length that is not a number": (length_not_a_number, "'much'"),
    "other bytes": (other_bytes, "the SHA-256 of the file is .* instead of"),
}


def files_in(folder):
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def test_a_file_is_downloaded_once(source, wine, cache, body):
    with source() as server:
        path = cached_file(wine, download=True)
        assert path.read_bytes() == body
        assert path == cached_file(wine) == cache / "wine.npz"
        np.testing.assert_array_equal(load_dataset("Wine").X, small()[0])
        assert server.requested == [f"/{wine.repository}/{wine.commit}/{wine.path}"]
    assert files_in(cache) == ["wine.npz"]


@pytest.mark.parametrize(("answer", "reason"), FAILURES.values(), ids=list(FAILURES))
def test_a_failed_download_is_tried_again(source, wine, cache, body, answer, reason):
    with source(answer, whole) as server:
        assert download_file(wine).read_bytes() == body
        assert len(server.requested) == 2
    assert files_in(cache) == ["wine.npz"]


@pytest.mark.parametrize(("answer", "reason"), FAILURES.values(), ids=list(FAILURES))
def test_the_reason_of_a_failure_is_given(source, wine, cache, monkeypatch, answer, reason):
    monkeypatch.setattr("ctad.datasets._download.ATTEMPTS", 1)
    with source(answer), pytest.raises(DownloadError, match=f"Last error: .*{reason}"):
        download_file(wine)
    assert files_in(cache) == []


def test_after_three_failed_attempts_there_is_an_error_and_no_file(source, wine, cache):
    with source(error(500)) as server, pytest.raises(DownloadError) as failed:
        download_file(wine)
    assert len(server.requested) == ATTEMPTS == 3
    assert files_in(cache) == []
    message = str(failed.value)
    assert message.startswith(f"wine could not be downloaded from {server.url}/{wine.repository}")
    assert "put the file into a folder and pass the folder by --data-dir or CTAD_DATA" in message


def test_without_a_server_the_reason_is_given(source, wine, cache):
    with source():
        pass
    with pytest.raises(DownloadError, match="refused"):
        load_dataset("wine")
    assert files_in(cache) == []


def test_pauses_between_attempts_double(source, wine, monkeypatch):
    pauses = []
    monkeypatch.setattr("ctad.datasets._download.PAUSE_SECONDS", 1.0)
    monkeypatch.setattr("ctad.datasets._download.time.sleep", pauses.append)
    with source(error(500)), pytest.raises(DownloadError):
        download_file(wine)
    assert pauses == [1.0, 2.0]


@pytest.mark.parametrize("content", [b"", b"PK half a file"])
def test_a_damaged_file_in_the_cache_is_downloaded_again(source, wine, cache, body, content):
    cache.mkdir()
    (cache / "wine.npz").write_bytes(content)
    assert cached_file(wine) is None
    with source():
        load_dataset("wine")
    assert (cache / "wine.npz").read_bytes() == body


def test_a_damaged_file_in_the_cache_stays_if_the_download_fails(source, wine, cache):
    cache.mkdir()
    (cache / "wine.npz").write_bytes(b"bad")
    with source(error(500)), pytest.raises(DownloadError):
        load_dataset("wine")
    assert files_in(cache) == ["wine.npz"]


@pytest.fixture
def without_hash(wine):
    return replace(wine, source_sha256=None, values_sha256=None)


@pytest.mark.parametrize("answer", [length_too_small, other_bytes, error(500)])
def test_a_file_without_hash_is_checked_by_its_shape(source, without_hash, cache, body, answer):
    with source(answer, whole):
        assert download_file(without_hash).read_bytes() == body
    assert cached_file(without_hash) == cache / "wine.npz"
    (cache / "wine.npz").write_bytes(body[:-1])
    assert cached_file(without_hash) is None


def test_another_shape_is_refused(source, without_hash, cache):
    X, y = small()
    with (
        source(content=npz(X[1:], y[1:])),
        pytest.raises(DownloadError, match="it has 19 rows, 3 columns and 4 anomalies"),
    ):
        download_file(without_hash)
    with (
        source(content=b"<html>"),
        pytest.raises(DownloadError, match=r"the file is not a data set \(it "),
    ):
        download_file(without_hash)
    assert files_in(cache) == []


def test_progress_is_reported(source, wine):
    large = npz(np.zeros((300_000, 1)), np.arange(300_000) > 9)
    known = replace(
        wine, samples=300_000, dims=1, anomalies=299_990, source_sha256=None, values_sha256=None
    )
    reported = []
    with source(error(500), whole, content=large), on_progress(reported.append):
        download_file(known)
    assert {progress.doing for progress in reported} == {"Downloading wine, attempt 2, kB"}
    assert {progress.total for progress in reported} == {len(large) // 1000}
    done = [progress.done for progress in reported]
    assert done == sorted(done)
    assert done[0] < len(large) // 2000 < done[-1] == len(large) // 1000


def test_a_cache_that_cannot_be_written_is_an_error(source, wine, cache):
    cache.write_text("not a folder")
    assert cached_file(wine) is None
    with source(), pytest.raises(DownloadError, match=r"cannot be written to .*CTAD_CACHE_DIR"):
        download_file(wine)


def test_the_default_cache_is_the_users_cache_folder(source, wine, tmp_path, monkeypatch):
    monkeypatch.delenv("CTAD_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))  # where Linux looks
    monkeypatch.setattr(pooch.utils.platformdirs, "user_cache_dir", lambda name: tmp_path / name)
    with source():
        assert download_file(wine) == tmp_path / "ctad" / "wine.npz"


@pytest.mark.parametrize("folder", ["", "cache"])
def test_without_pooch_the_error_says_how_to_install_it(wine, monkeypatch, folder):
    monkeypatch.setenv("CTAD_CACHE_DIR", folder)
    for package in ("pooch", "requests"):
        monkeypatch.setitem(sys.modules, package, None)
    assert cached_file(wine) is None
    with pytest.raises(
        ImportError, match=r"needs pooch. Install it with pip install 'ctad\[benchmark\]'"
    ):
        load_dataset("wine")


DOWNLOADER = """
import sys
from ctad.datasets import _registry, cached_file, known_dataset
_registry.HOST = sys.argv[1]
cached_file(known_dataset("wine"), download=True)
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL")
def test_a_killed_download_leaves_no_file(source, wine, cache, body):
    with (
        serving(body, stalls) as server,
        subprocess.Popen([sys.executable, "-c", DOWNLOADER, server.url]) as process,
    ):
        assert server.half_sent.wait(60)
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    [part] = files_in(cache)
    assert part.startswith(".wine.npz.")
    assert cached_file(wine) is None
    with source():
        assert download_file(wine).read_bytes() == body
    assert files_in(cache) == ["wine.npz"]  # the partial file is removed


def test_two_downloads_at_once_do_not_disturb_each_other(source, wine, cache, body):
    with source(waits_for_another_request) as server, ThreadPoolExecutor(2) as pool:
        assert set(pool.map(download_file, [wine, wine])) == {cache / "wine.npz"}
        assert len(server.requested) == 2
    assert (cache / "wine.npz").read_bytes() == body
    assert files_in(cache) == ["wine.npz"]
