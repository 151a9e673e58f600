"""Computing on one thread, without warnings."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from threadpoolctl import threadpool_limits


@contextmanager
def single_thread() -> Iterator[None]:
    """Use one thread, so that parallel processes do not slow each other down; ignore warnings."""
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
