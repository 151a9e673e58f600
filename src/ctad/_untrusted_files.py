"""Files of ours that are read back from a folder, which may come from somebody else."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from .errors import InputError

PathLike = str | os.PathLike[str]


def check_inside(path: PathLike, folder: PathLike) -> None:
    """Raise if links lead from `path`, which is in `folder`, to somewhere else.

    Parameters
    ----------
    path, folder : path-like
    """
    if not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder)):
        raise InputError(f"{os.fspath(path)} leads out of its folder: delete the link")


def read_untrusted(path: PathLike, folder: PathLike, max_bytes: int) -> bytes:
    """The content of a file, unless it is a link out of the folder, a device or too large.

    Parameters
    ----------
    path, folder : path-like
        The file, and the folder it is in.
    max_bytes : int

    Returns
    -------
    bytes
    """
    check_inside(path, folder)
    if not stat.S_ISREG(Path(path).stat().st_mode):  # to open a pipe would wait for its writer
        raise InputError(f"{os.fspath(path)} is not a file: delete it")
    with Path(path).open("rb") as file:
        content = file.read(max_bytes + 1)
    if len(content) > max_bytes:
        raise InputError(
            f"{os.fspath(path)} has more than {max_bytes:,} bytes, so it was not written by ctad: "
            "delete it"
        )
    return content


def has_more_values(content: bytes, most: int) -> bool:
    """Whether JSON has more values than `most`. A value of 2 bytes may need 100 bytes of memory.

    Parameters
    ----------
    content : bytes
    most : int

    Returns
    -------
    bool
        Every value but the first follows one of the characters , [ {, which may be in texts, too.
    """
    return sum(map(content.count, (b",", b"[", b"{"))) > most
