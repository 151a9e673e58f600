"""Work without threads and warnings."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from threadpoolctl import threadpool_limits


@contextmanager
def alone_and_quiet() -> Iterator[None]:
    """On one thread, so that processes side by side do not slow each other down; no warnings."""
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
