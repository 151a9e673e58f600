"""Errors as results: what went wrong, and whether it is worth another try."""

from __future__ import annotations

import builtins

from ..datasets import DownloadError

# The machine's fault rather than the data's: it may be different next time.
PASSING = (ImportError, MemoryError, OSError)
OUT_OF_MEMORY = "allocate memory"  # PyTorch's RuntimeError


def describe(error: BaseException) -> str:
    """An error on one line."""
    return f"{type(error).__name__}: {error}"


def must_retry(error: str | None, retry_failed: bool) -> bool:
    """Whether a result has to be computed again, given its error, if it has one."""
    return error is not None and (retry_failed or _is_passing(error))


def _is_passing(error: str) -> bool:
    name = error.partition(":")[0]
    kind = DownloadError if name == DownloadError.__name__ else getattr(builtins, name, object)
    return issubclass(kind, PASSING) or OUT_OF_MEMORY in error
