"""Errors as results: what went wrong, and whether it is worth another try."""

from __future__ import annotations

# The machine's fault rather than the data's: it may be different next time.
PASSING = ("ImportError", "ModuleNotFoundError", "MemoryError", "OSError", "DownloadError")


def describe(error: BaseException) -> str:
    """An error on one line."""
    return f"{type(error).__name__}: {error}"


def must_retry(error: str | None, retry_failed: bool) -> bool:
    """Whether a result has to be computed again, given its error, if it has one."""
    return error is not None and (retry_failed or error.startswith(PASSING))
