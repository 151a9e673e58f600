"""Arrays in the format of numpy's .npy files, version 1.0: native numbers only."""

from __future__ import annotations

import io
import math
import re
from typing import Any

import numpy as np
import numpy.typing as npt

from ._kinds import NotDescribedError, require

# What numpy writes before the numbers: magic, length of the header, header. Nothing else is read,
# so that numpy's parser, which accepts any Python literal, is not needed.
_LENGTH = rb"(?:0|[1-9][0-9]{0,17})"
_HEADER = re.compile(
    rb"\x93NUMPY\x01\x00..\{'descr': '(?P<dtype><f8|<f4|<i8|<i4|\|b1|\|u1)', "
    rb"'fortran_order': (?P<fortran>True|False), "
    rb"'shape': \((?P<shape>(?:"
    + _LENGTH
    + rb",(?: "
    + _LENGTH
    + rb")?(?:, "
    + _LENGTH
    + rb")*)?)\), "
    rb"\} *\n",
    re.DOTALL,
)


def array_to_bytes(values: npt.NDArray[Any]) -> bytes:
    """An array as a .npy file."""
    if not values.flags.forc:  # a part of a larger array keeps the order of its axes
        values = values.copy(order="K")
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, values, version=(1, 0), allow_pickle=False)
    return buffer.getvalue()


def array_from_bytes(content: bytes) -> npt.NDArray[Any]:
    """The array of a .npy file; the file must have exactly the size that its header states."""
    size = int.from_bytes(content[8:10], "little")  # of the rest of the header
    header = _HEADER.fullmatch(content[: 10 + size])
    if header is None:
        raise NotDescribedError("not an array of numbers in the format of .npy files")
    dtype = np.dtype(header["dtype"].decode()).newbyteorder("=")
    shape = tuple(int(length) for length in header["shape"].decode().split(",") if length.strip())
    require(
        math.prod(shape) * dtype.itemsize == len(content) - header.end(),
        f"the size of an array is not that of {dtype} of shape {shape}",
    )
    values = np.frombuffer(content, header["dtype"].decode(), offset=header.end()).astype(dtype)
    if dtype.kind == "b":  # a byte that is not 0 or 1 is neither True nor False
        require(not bool((values.view(np.uint8) > 1).any()), "an array of bool with other values")
    try:
        if header["fortran"] == b"True":
            return values.reshape(shape[::-1]).T
        return values.reshape(shape)
    except ValueError as error:  # too many dimensions, or a product of lengths that overflows
        raise NotDescribedError(f"no array can have the shape {shape}") from error
