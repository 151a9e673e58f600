"""Compile a function on first use, and keep the machine code for the next process."""

from collections.abc import Callable
from functools import partial
from typing import Literal, TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., object])


def compiled(
    function: Function,
    *,
    fastmath: bool | set[str] = False,
    error_model: Literal["python", "numpy"] = "python",
) -> Function:
    """`numba.njit` without the GIL, cached on disk where a cache can be written.

    numba looks for a writable folder beside the source, then in the user's cache
    folder. Where it finds neither (a read-only container without a home) it refuses
    to cache; then the code is compiled in each process.

    With the error model "python", each division first compares the divisor with zero, which keeps
    the compiler from vectorising it; with "numpy" it does not.
    """
    compile_ = partial(numba.njit, nogil=True, fastmath=fastmath, error_model=error_model)
    try:
        return cast(Function, compile_(cache=True)(function))
    except RuntimeError:
        return cast(Function, compile_()(function))
