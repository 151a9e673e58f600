"""Arrays of numbers that are kept in a file. It may come from somebody else."""

from __future__ import annotations

import io
from pathlib import Path
from zipfile import ZIP_STORED, ZipFile

import numpy as np
from numpy.lib import format as npy

from .._atomic_files import replacing
from .._types import Floats
from .._untrusted_files import read_untrusted
from ..errors import InputError

HEADER_BYTES = 1000  # of an array in a npz file: about 250 are used
VALUE = np.dtype("<f8")


def write_arrays(file: Path, arrays: dict[str, Floats]) -> None:
    """Write arrays of one dimension by name, as a npz file."""
    with replacing(file, within=file.parent) as part, ZipFile(part, "w", ZIP_STORED) as archive:
        for name, values in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                npy.write_array(entry, values.astype(VALUE), version=(1, 0), allow_pickle=False)


def read_arrays(file: Path, lengths: dict[str, int]) -> dict[str, Floats] | None:
    """Read arrays of known lengths.

    Parameters
    ----------
    file : pathlib.Path
    lengths : dict of str to int

    Returns
    -------
    dict of str to ndarray, or None
        None if there is no such file, or if it has other content than `write_arrays` writes.
    """
    if not file.exists():
        return None
    size = sum(HEADER_BYTES + VALUE.itemsize * n for n in lengths.values())
    try:
        content = read_untrusted(file, file.parent, size)
        with ZipFile(io.BytesIO(content)) as archive:
            return {name: _read_array(archive, name, n) for name, n in lengths.items()}
    except Exception:  # a damaged file may raise any
        return None


def _read_array(archive: ZipFile, name: str, n: int) -> Floats:
    entry = archive.getinfo(f"{name}.npy")
    if entry.compress_type != ZIP_STORED:
        raise InputError("it is compressed, so it may be larger than the file")
    content = io.BytesIO(archive.read(entry))
    npy.read_magic(content)
    if npy.read_array_header_1_0(content) != ((n,), False, VALUE):
        raise InputError("these are not the numbers that are wanted")
    values = np.frombuffer(content.read(), VALUE).astype(np.float64)
    if len(values) != n or np.isnan(values).any():
        raise InputError("some numbers are missing")
    return values
