"""Files that appear whole or not at all."""

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

_TOKEN_BYTES = 4
MAX_STEM = 200  # bytes, of the 255 that a name may have


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Write a file beside `path` that takes its place when the block ends well.

    At any moment, also after the process or the machine stops, there is the old file or
    the whole new one. What a killed process left behind is removed by the next one that
    writes the same file. An existing file keeps its permissions; through a link, the file
    it points to is replaced.

    Parameters
    ----------
    path : path-like

    Yields
    ------
    pathlib.Path
        An empty file to write to; it must stay this file, not be replaced by another.
    """
    target = Path(os.path.realpath(path))
    mode = _mode_of(target)
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


def check_replaceable(path: str | os.PathLike[str]) -> None:
    """Raise what `replacing` would raise at once, before the work that leads up to it."""
    _mode_of(Path(os.path.realpath(path)))


def _mode_of(target: Path) -> int | None:
    """The permissions of the file to replace; None if there is none yet."""
    if not target.parent.is_dir():
        raise FileNotFoundError(f"the folder {target.parent} does not exist: create it first")
    if not target.exists():
        return None
    if not target.is_file():  # a folder, or a device such as /dev/null
        raise OSError(f"{target} is not a file that can be replaced: choose another name")
    return stat.S_IMODE(target.stat().st_mode)


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
        os.close(descriptor)  # taken for a stale one before it was locked: once more


def _stem(target: Path) -> str:
    """What the names of its parts have in common; a long name leaves no room for more."""
    name = os.fsencode(target.name)
    return target.name if len(name) < MAX_STEM else hashlib.sha256(name).hexdigest()


def _remove_stale_parts(target: Path) -> None:
    """Remove parts of `target` that no living process holds."""
    token = "[0-9a-f]" * (2 * _TOKEN_BYTES)
    for part in target.parent.glob(f".{glob.escape(_stem(target))}.{token}.part"):
        with suppress(OSError):  # it may be gone by now, locked, or belong to another user
            descriptor = os.open(part, os.O_RDWR)
            try:
                if lock_file(descriptor, wait=False):
                    part.unlink()
            finally:
                os.close(descriptor)


def _sync_folder(folder: Path) -> None:
    """Make a renaming last."""
    with suppress(OSError):  # Windows cannot open folders; some file systems cannot sync them
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
