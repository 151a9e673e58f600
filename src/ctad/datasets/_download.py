"""Files of the paper's data sets from the internet: whole, checked, and kept."""

from __future__ import annotations

import hashlib
import os
import time
from pathlib import Path
from typing import Any

from .._atomic_files import replacing
from .._progress import report_progress
from ..errors import InputError, MissingPackageError
from ..io import TableError
from ._files import read_as
from ._registry import KnownDataset

ATTEMPTS = 3
PAUSE_SECONDS = 1.0  # after the first attempt that failed; twice as long after the next
TIMEOUT_SECONDS = (10.0, 30.0)  # for a connection; without a byte
CHUNK_BYTES = 1 << 16

BY_HAND = "put the file into a folder and name it with --data-dir or CTAD_DATA_DIR"


class DownloadError(OSError):
    """A data set that could not be downloaded; the message says why and what else to do."""


def downloaded_file(known: KnownDataset) -> Path | None:
    """Find the file of a data set that was downloaded before.

    Parameters
    ----------
    known : KnownDataset

    Returns
    -------
    pathlib.Path or None
        None if it is not there or not what it should be.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from unittest.mock import patch
    >>> from ctad.datasets import downloaded_file, known_dataset
    >>> with TemporaryDirectory() as folder, patch.dict("os.environ", CTAD_CACHE_DIR=folder):
    ...     Path(folder, "wine.npz").touch()  # empty
    ...     print(downloaded_file(known_dataset("wine")))
    None
    """
    try:
        path = _place(known)
        _check(known, path)
    except (ImportError, OSError, ValueError):  # ImportError: without pooch there is no cache
        return None
    return path


def download_file(known: KnownDataset) -> Path:
    """Download the file of a data set into the user's cache folder, or CTAD_CACHE_DIR.

    What arrives is checked before it gets its name: no other process sees half a file, and two
    that download at once do not disturb each other. What goes wrong on the way is tried again.

    Parameters
    ----------
    known : KnownDataset

    Returns
    -------
    pathlib.Path

    Raises
    ------
    DownloadError
        If all attempts failed; nothing is left of them.
    """
    _pooch()  # which brings requests, too
    from requests import RequestException

    path = _place(known)
    for attempt in range(1, ATTEMPTS + 1):
        if attempt > 1:
            time.sleep(PAUSE_SECONDS * 2 ** (attempt - 2))
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with replacing(path) as part:
                _fetch(known, part, attempt)
                _check(known, part)
            return path
        except (RequestException, ValueError) as error:
            last = error
        except OSError as error:  # the disk is full, or the folder somebody else's
            raise DownloadError(
                f"{known.name} cannot be written to {path.parent} ({error}): name another folder "
                "with CTAD_CACHE_DIR."
            ) from error
    raise DownloadError(
        f"{known.name} could not be downloaded from {known.url} in {ATTEMPTS} attempts; in the "
        f"last, {_reason(last)}. Try again later, or {BY_HAND}."
    ) from last


def _fetch(known: KnownDataset, part: Path, attempt: int) -> None:
    doing = f"Downloading {known.name}" + (f", attempt {attempt}" if attempt > 1 else "") + ", kB"
    answers: list[Any] = []  # to close them: pooch leaves those open that are errors
    fetch = _pooch().HTTPDownloader(
        progressbar=_Progress(doing),
        chunk_size=CHUNK_BYTES,
        timeout=TIMEOUT_SECONDS,
        hooks={"response": lambda answer, **_: answers.append(answer)},
    )
    try:
        fetch(known.url, str(part), None)
    finally:
        for answer in answers:
            answer.close()


def _check(known: KnownDataset, path: Path) -> None:
    """Raise unless this is the file of the data set."""
    if known.source_sha256 is not None:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != known.source_sha256:
            raise InputError(f"its SHA-256 was {found} instead of {known.source_sha256}")
        return
    try:
        difference = known.difference(read_as(known.suffix, path, known.name))
    except TableError as error:
        raise InputError(f"it was not a data set ({error})") from error
    if difference is not None:
        raise InputError(f"it was not the data set: {difference}")


def _place(known: KnownDataset) -> Path:
    folder = os.environ.get("CTAD_CACHE_DIR") or _pooch().os_cache("ctad")
    return Path(folder).expanduser() / f"{known.name}{known.suffix}"


def _pooch() -> Any:
    try:
        import pooch
    except ModuleNotFoundError as error:
        raise MissingPackageError(
            f"downloading data sets needs pooch: pip install 'ctad[bench]' brings it. Or {BY_HAND}."
        ) from error
    return pooch


def _reason(error: Exception) -> str:
    """What went wrong, in words."""
    from requests import HTTPError, Timeout
    from requests.exceptions import ChunkedEncodingError

    if isinstance(error, HTTPError) and error.response is not None:
        return f"the server answered {error.response.status_code} {error.response.reason}"
    # A pause in the middle of a file is a ConnectionError to requests.
    if isinstance(error, Timeout) or "timed out" in str(error):
        return "the server kept silent for too long"
    if isinstance(error, ChunkedEncodingError):
        return "the file broke off"
    return str(error)


class _Progress:
    """What pooch takes for a bar; bytes are told of as kilobytes."""

    def __init__(self, doing: str) -> None:
        self.total = 0  # pooch sets it
        self._doing = doing
        self._done = 0

    def update(self, n_bytes: int) -> None:
        self._done = min(self._done + n_bytes, self.total)  # pooch counts the last chunk as full
        report_progress(self._doing, self._done // 1000, self.total // 1000)

    def reset(self) -> None:
        self._done = 0

    def close(self) -> None:
        pass
