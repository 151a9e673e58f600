"""Errors as results: what went wrong, and whether another try may help."""

from __future__ import annotations

import builtins

from ..datasets import DownloadError
from ..errors import MissingPackageError

# Faults of the machine rather than of the data: they may be gone next time.
TEMPORARY = (ImportError, MemoryError, OSError)
OWN_ERRORS: dict[str, type] = {
    error.__name__: error for error in (DownloadError, MissingPackageError)
}
OUT_OF_MEMORY = "allocate memory"  # PyTorch's RuntimeError


def describe(error: BaseException) -> str:
    """An error on one line."""
    return f"{type(error).__name__}: {error}"


def must_retry(error: str | None, retry_failed: bool) -> bool:
    """Whether a result has to be computed again, given its error."""
    return error is not None and (retry_failed or _is_temporary(error))


def _is_temporary(error: str) -> bool:
    name = error.partition(":")[0]
    kind = OWN_ERRORS.get(name, getattr(builtins, name, object))
    is_class = isinstance(kind, type)  # "print: ..." in a file that somebody wrote is none
    return (is_class and issubclass(kind, TEMPORARY)) or OUT_OF_MEMORY in error
