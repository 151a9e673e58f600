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


@contextmanager
def progress_bar(show: bool) -> Iterator[None]:
    """Show what `progress` tells inside of the block, if on a terminal and nobody else does."""
    if not show or _watch.get() is not None:
        yield
        return
    from tqdm.auto import tqdm

    with tqdm(disable=None, leave=False) as bar:

        def watch(doing: str, done: int, total: int) -> None:
            bar.total = total
            bar.set_description(doing, refresh=False)
            bar.update(done - bar.n)

        with watching(watch):
            yield
