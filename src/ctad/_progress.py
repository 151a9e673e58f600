"""How far long work is, for whoever wants to show it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Watch = Callable[[str, int, int], object]  # of what is done, how much of it, and of how much

_watch: ContextVar[Watch | None] = ContextVar("watch", default=None)


@contextmanager
def watching(watch: Watch) -> Iterator[None]:
    """Be told by `progress` what goes on inside of the block."""
    token = _watch.set(watch)
    try:
        yield
    finally:
        _watch.reset(token)


def progress(doing: str, done: int, total: int) -> None:
    """Tell whoever watches."""
    watch = _watch.get()
    if watch is not None:
        watch(doing, done, total)
