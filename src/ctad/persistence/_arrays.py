"""Arrays in the format of numpy's .npy files, without pickle."""

from __future__ import annotations

import io
import math
import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InputError


def array_to_bytes(values: npt.ArrayLike) -> bytes:
    """An array as a .npy file."""
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.asarray(values), allow_pickle=False)
    return buffer.getvalue()


def array_from_bytes(content: bytes) -> npt.NDArray[Any]:
    """The array of a .npy file; the file must have exactly the size that its header states."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # numpy repairs some headers, with a warning
        return _read(io.BytesIO(content))


def _read(buffer: io.BytesIO) -> npt.NDArray[Any]:
    version = np.lib.format.read_magic(buffer)
    if version == (1, 0):
        shape, _, dtype = np.lib.format.read_array_header_1_0(buffer)
    else:  # for long headers; raises for any other version
        shape, _, dtype = np.lib.format.read_array_header_2_0(buffer)
    n_items = math.prod(shape)
    if (
        dtype.hasobject
        or min(shape, default=0) < 0
        or n_items * dtype.itemsize != len(buffer.getbuffer()) - buffer.tell()
        or (n_items > 1 and not dtype.itemsize)  # any number of items of size 0
    ):
        raise InputError(f"the size of an array is not that of {dtype} of shape {shape}")
    buffer.seek(0)
    values: npt.NDArray[Any] = np.lib.format.read_array(buffer, allow_pickle=False)
    return values
