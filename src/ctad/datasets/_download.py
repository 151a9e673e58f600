"""Download of the paper's data sets: complete files only, checked and cached."""

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
PAUSE_SECONDS = 1.0  # after the first failed attempt; twice as long after the next
TIMEOUT_SECONDS = (10.0, 30.0)  # to connect; between two packets
CHUNK_BYTES = 1 << 16

BY_HAND = "put the file into a folder and pass the folder by --data-dir or CTAD_DATA_DIR"


class DownloadError(OSError):
    """A data set cannot be downloaded; the message says why, and what else to do."""


def cached_file(known: KnownDataset, *, download: bool = False) -> Path | None:
    """The file of a data set in the user's cache folder, or in CTAD_CACHE_DIR.

    Parameters
    ----------
    known : KnownDataset
    download : bool, default=False
        Whether to download the file if it is missing or damaged.

    Returns
    -------
    pathlib.Path or None
        None if the file is missing or damaged.

    Raises
    ------
    DownloadError
        If all attempts to download the file failed. The cache is as before then.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from unittest.mock import patch
    >>> from ctad.datasets import cached_file, known_dataset
    >>> with TemporaryDirectory() as folder, patch.dict("os.environ", CTAD_CACHE_DIR=folder):
    ...     Path(folder, "wine.npz").touch()  # empty, so it is damaged
    ...     print(cached_file(known_dataset("wine")))
    None
    """
    try:
        path = _cache_path(known)
        _check_file(known, path)
    except (ImportError, InputError, OSError):  # ImportError: without pooch there is no cache
        return download_file(known) if download else None
    return path


def download_file(known: KnownDataset) -> Path:
    """Download the file of a data set to the cache.

    The file is checked before it gets its name, so other processes never see half a file and two
    downloads at once do not disturb each other. A failed download is tried again.
    """
    _import_pooch()  # it also installs requests
    from requests import RequestException

    path = _cache_path(known)
    for attempt in range(1, ATTEMPTS + 1):
        if attempt > 1:
            time.sleep(PAUSE_SECONDS * 2 ** (attempt - 2))
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with replacing(path) as part:
                _fetch(known, part, attempt)
                _check_file(known, part)
            return path
        except (RequestException, ValueError) as error:  # ValueError: bad headers of an answer
            last = error
        except OSError as error:  # disk full, or no permission
            raise DownloadError(
                f"{known.name} cannot be written to {path.parent} ({error}). Choose another folder "
                "with CTAD_CACHE_DIR."
            ) from error
    raise DownloadError(
        f"{known.name} could not be downloaded from {known.url} in {ATTEMPTS} attempts. Last "
        f"error: {_reason(last)}. Try again later, or {BY_HAND}."
    ) from last


def _fetch(known: KnownDataset, part: Path, attempt: int) -> None:
    doing = f"Downloading {known.name}" + (f", attempt {attempt}" if attempt > 1 else "") + ", kB"
    responses: list[Any] = []  # pooch does not close responses that are errors
    download = _import_pooch().HTTPDownloader(
        progressbar=_PoochProgress(doing),
        chunk_size=CHUNK_BYTES,
        timeout=TIMEOUT_SECONDS,
        hooks={"response": lambda response, **_: responses.append(response)},
    )
    try:
        download(known.url, str(part), None)
    finally:
        for response in responses:
            response.close()


def _check_file(known: KnownDataset, path: Path) -> None:
    """Raise unless this is the file of the data set."""
    if known.source_sha256 is not None:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != known.source_sha256:
            raise InputError(f"the SHA-256 of the file is {found} instead of {known.source_sha256}")
        return
    try:
        difference = known.difference(read_as(known.suffix, path, known.name))
    except TableError as error:
        reason = str(error).replace(str(path), "it")  # the name of a temporary file
        raise InputError(f"the file is not a data set ({reason})") from error
    if difference is not None:
        raise InputError(f"the file is another data set: {difference}")


def _cache_path(known: KnownDataset) -> Path:
    folder = os.environ.get("CTAD_CACHE_DIR") or _import_pooch().os_cache("ctad")
    return Path(folder).expanduser() / f"{known.name}{known.suffix}"


def _import_pooch() -> Any:
    try:
        import pooch
    except ModuleNotFoundError as error:
        raise MissingPackageError(
            "downloading data sets needs pooch. Install it with pip install 'ctad[benchmark]', or "
            f"{BY_HAND}."
        ) from error
    return pooch


def _reason(error: Exception) -> str:
    """Why a download failed."""
    from requests import HTTPError, Timeout
    from requests.exceptions import ChunkedEncodingError

    if isinstance(error, HTTPError) and error.response is not None:
        return f"the server answered {error.response.status_code} {error.response.reason}"
    # A timeout in the middle of a file is a ConnectionError in requests.
    if isinstance(error, Timeout) or "timed out" in str(error):
        return "the server did not answer in time"
    if isinstance(error, ChunkedEncodingError):
        return "the file is incomplete"
    return str(error)


class _PoochProgress:
    """A progress bar for pooch that reports kilobytes."""

    def __init__(self, doing: str) -> None:
        self.total = 0  # set by pooch
        self._doing = doing
        self._done = 0

    def update(self, n_bytes: int) -> None:
        self._done = min(self._done + n_bytes, self.total)  # pooch counts the last chunk as full
        report_progress(self._doing, self._done // 1000, self.total // 1000)

    def reset(self) -> None:
        self._done = 0

    def close(self) -> None:
        pass
