"""Files that are replaced in one step: complete or not at all."""

from __future__ import annotations

import glob
import hashlib
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ._file_locks import lock_file
from ._untrusted_files import PathLike, check_inside

_TOKEN_BYTES = 4
MAX_STEM = 200  # bytes; a file name may have 255


@contextmanager
def replacing(path: PathLike, *, within: PathLike | None = None) -> Iterator[Path]:
    """Write a temporary file beside `path`, which replaces it when the block succeeds.

    At any moment, even after a crash, there is the old file or the complete new one. A temporary
    file that a killed process has left is removed by the next one that writes the same file. An
    existing file keeps its permissions. If `path` is a link, its target is replaced. Errors of the
    system name `path`, so the block should do nothing but write.

    Parameters
    ----------
    path : path-like
    within : path-like, optional
        The folder that the file is in, if it may come from somebody else: links that lead out of it
        are refused.

    Yields
    ------
    pathlib.Path
        An empty file to write to. It must not be replaced by another file.
    """
    if within is not None:
        check_inside(path, within)
    with naming(path):
        target = Path(os.path.realpath(path))
        mode = _mode_of(target, path)
        _remove_stale_parts(target)
        part, lock = _new_part(target, mode)
        try:
            yield part
            with part.open("rb+") as file:
                if mode is not None:
                    part.chmod(mode)
                os.fsync(file.fileno())
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)
            if lock is not None:
                os.close(lock)
    _sync_folder(target.parent)


def check_replaceable(path: PathLike) -> None:
    """Raise the error that `replacing` would raise, before a long computation."""
    with naming(path):
        target = Path(os.path.realpath(path))
        part, lock = _new_part(target, _mode_of(target, path))
        part.unlink(missing_ok=True)
        if lock is not None:
            os.close(lock)


@contextmanager
def naming(path: PathLike) -> Iterator[None]:
    """Let errors of the system name a file that is written, not its hidden part, and not nothing.

    Parameters
    ----------
    path : path-like
        As the user wrote it. Errors about other files stay as they are.
    """
    try:
        yield
    except OSError as error:
        target = Path(os.path.realpath(path))
        if error.errno is not None and _is_about(error, target):
            error.filename = os.fspath(path)
            error.strerror = os.strerror(error.errno)  # pyarrow puts the name of the part into it
            del error.filename2
        raise


def _is_about(error: OSError, target: Path) -> bool:
    if error.filename is None:  # an error of writing or closing
        return True
    file = Path(os.fsdecode(error.filename))
    return file == target or (file.parent == target.parent and file.match(_pattern(target)))


def _mode_of(target: Path, path: PathLike) -> int | None:
    """The permissions of the file to replace; None if it does not exist."""
    if not target.parent.is_dir():
        if target.parent.exists():
            raise NotADirectoryError(f"{os.fspath(path)}: {target.parent} is not a folder")
        raise FileNotFoundError(
            f"{os.fspath(path)}: the folder {target.parent} does not exist: create it first"
        )
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(mode):  # a folder, or a device such as /dev/null
        raise OSError(f"{os.fspath(path)} is not a file that can be replaced: choose another name")
    return stat.S_IMODE(mode)


def _new_part(target: Path, mode: int | None) -> tuple[Path, int | None]:
    """A new file beside `target` and the descriptor that holds its lock."""
    permissions = 0o666 if mode is None else mode | stat.S_IWUSR
    while True:
        part = target.with_name(f".{_stem(target)}.{secrets.token_hex(_TOKEN_BYTES)}.part")
        descriptor = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL, permissions)
        if not lock_file(descriptor, wait=True):
            os.close(descriptor)  # Windows cannot rename an open file
            return part, None
        if part.exists():
            return part, descriptor
        os.close(descriptor)  # another process removed it as stale before it was locked: repeat


def _stem(target: Path) -> str:
    """The common start of the names of its parts; a hash if the name is too long to extend."""
    name = os.fsencode(target.name)
    return target.name if len(name) < MAX_STEM else hashlib.sha256(name).hexdigest()


def _pattern(target: Path) -> str:
    """The names of its parts."""
    token = "[0-9a-f]" * (2 * _TOKEN_BYTES)
    return f".{glob.escape(_stem(target))}.{token}.part"


def _remove_stale_parts(target: Path) -> None:
    """Remove parts of `target` that no running process has locked."""
    for part in target.parent.glob(_pattern(target)):
        with suppress(OSError):  # it may be gone, locked, or belong to another user
            descriptor = os.open(part, os.O_RDWR)
            try:
                if lock_file(descriptor, wait=False):
                    part.unlink()
            finally:
                os.close(descriptor)


def _sync_folder(folder: Path) -> None:
    """Write a renaming to disk."""
    with suppress(OSError):  # Windows cannot open folders; some file systems cannot sync them
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
