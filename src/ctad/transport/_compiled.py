"""Compile a function on first use, and keep the machine code for the next process."""

from collections.abc import Callable
from typing import TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., object])


def compiled(function: Function, *, fastmath: bool | set[str] = False) -> Function:
    """`numba.njit` without the GIL, cached on disk where a cache can be written.

    numba looks for a writable folder beside the source, then in the user's cache
    folder. Where it finds neither (a read-only container without a home) it refuses
    to cache; then the code is compiled in each process.
    """
    try:
        return cast(Function, numba.njit(nogil=True, cache=True, fastmath=fastmath)(function))
    except RuntimeError:
        return cast(Function, numba.njit(nogil=True, fastmath=fastmath)(function))
