"""Progress of long work: code reports it, a terminal, a notebook or the command shows it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """The state of long work.

    Attributes
    ----------
    doing : str
        The current step, such as "Finding centroids".
    done : int
    total : int or None
        In the unit of `done`; None if unknown.
    rows : int or None
        Rows processed so far in this step, if it processes rows.
    """

    doing: str
    done: int
    total: int | None
    rows: int | None = None


ProgressCallback = Callable[[Progress], object]

# Long work is deep inside (k-means of a calibrator of a detector): a context variable saves a
# parameter in every function on the way.
_callback: ContextVar[ProgressCallback | None] = ContextVar("progress callback", default=None)


@contextmanager
def on_progress(callback: ProgressCallback) -> Iterator[None]:
    """Call `callback` with all progress reported inside the block."""
    token = _callback.set(callback)
    try:
        yield
    finally:
        _callback.reset(token)


def report_progress(doing: str, done: int, total: int | None, rows: int | None = None) -> None:
    """Report the state of long work to the callback, if there is one."""
    callback = _callback.get()
    if callback is not None:
        callback(Progress(doing, done, total, rows))


@contextmanager
def progress_bar(show: bool) -> Iterator[None]:
    """Show the progress reported inside the block, on a terminal or in a notebook, unless a
    callback is set already."""
    if not show or _callback.get() is not None:
        yield
        return
    from tqdm.auto import tqdm

    with tqdm(disable=None, leave=False) as bar:

        def update(now: Progress) -> None:
            bar.total = now.total
            bar.set_description(now.doing, refresh=False)
            bar.update(now.done - bar.n)

        with on_progress(update):
            yield
