"""What the command says, to a person or to a script."""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any

import typer
from rich.console import Console, RenderableType
from rich.progress import (
    BarColumn,
    Progress,
    SpinnerColumn,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table

from .._progress import watching

# What bad input ends in. Anything else is a fault of ours and shows its traceback.
# (pyarrow's errors are ValueErrors or OSErrors, but for a kind it has no code for.)
INPUT_ERRORS = (ValueError, TypeError, OSError, ImportError, MemoryError, NotImplementedError)

WIDTH_OF_A_FILE = 1000

Watch = Callable[..., None]  # of the rows so far, done and total in any unit, what is done now


class Talk:
    """Results go to standard output, everything else to standard error.

    If the data itself goes to standard output, results go to standard error, too.
    """

    def __init__(self, as_json: bool, output: str | None) -> None:
        self._as_json = as_json
        self._errors = _console(stderr=True)
        self._results = self._errors if output == "-" else _console()
        self._started = monotonic()
        self.notices: list[str] = []

    def notice(self, text: str) -> None:
        """Tell something once that a person should know."""
        if text not in self.notices:
            self.notices.append(text)
            if not self._as_json:
                self._errors.print(f"Note: {text}", style="yellow")

    def result(self, values: dict[str, Any], *shown: RenderableType) -> None:
        """The outcome: values for a script, or something to look at."""
        if self._as_json:
            seconds = round(monotonic() - self._started, 3)
            line = json.dumps({**values, "seconds": seconds, "notices": self.notices})
            print(line, file=self._results.file)
        else:
            self._results.print(*shown, sep="\n")

    def error(self, error: BaseException) -> None:
        """Say what is wrong."""
        message = str(error) or type(error).__name__
        if isinstance(error, OSError) and error.filename is not None:
            message = f"{error.filename}: {error.strerror}"
        self._errors.print(f"Error: {message}", style="red")

    @contextmanager
    def progress(self, doing: str) -> Iterator[Watch]:
        """A bar with rows per second and time left, if a person watches."""
        with Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("{task.fields[rows]:,} rows, {task.fields[rate]:,.0f} rows/s"),
            TimeRemainingColumn(),
            console=self._errors,
            transient=True,
            disable=not self._someone_watches,
        ) as bar:
            task = bar.add_task(doing, total=None, rows=0, rate=0.0)
            started = now = monotonic()

            def watch(rows: int, done: int, total: int | None, doing_now: str = doing) -> None:
                nonlocal doing, started, now
                if doing_now != doing:  # the next file, begun when the one before ended
                    doing, started = doing_now, now
                    bar.reset(task, description=doing)
                now = monotonic()
                rate = rows / max(now - started, 1e-9)
                bar.update(task, completed=done, total=total, rows=rows, rate=rate)

            yield watch

    @contextmanager
    def working(self, doing: str) -> Iterator[None]:
        """The time taken so far, and the time left of what can be counted."""
        with Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TimeElapsedColumn(),
            TextColumn("left:"),
            TimeRemainingColumn(),
            console=self._errors,
            transient=True,
            disable=not self._someone_watches,
        ) as bar:
            task = bar.add_task(doing, total=None)

            def watch(doing_now: str, done: int, total: int) -> None:
                bar.update(
                    task,
                    description=f"{doing_now} ({done}/{total})" if done < total else doing,
                    completed=done,
                    total=total if done < total else None,
                )

            with watching(watch):
                yield

    @contextmanager
    def counting(self, doing: str, total: int) -> Iterator[Callable[[int], None]]:
        """A bar with time left, for what is done a known number of times."""
        with Progress(
            console=self._errors, transient=True, disable=not self._someone_watches
        ) as bar:
            task = bar.add_task(doing, total=total)
            yield lambda done: bar.update(task, completed=done)

    @property
    def _someone_watches(self) -> bool:
        return self._errors.is_terminal and not self._as_json


def _console(*, stderr: bool = False) -> Console:
    """Users' names are shown as they are; lines are only broken for a person's screen."""
    console = Console(stderr=stderr, markup=False, emoji=False, highlight=False)
    if not console.is_terminal:
        console.width = WIDTH_OF_A_FILE
    return console


def plain_table(*columns: str) -> Table:
    """A table without lines, to be filled."""
    return Table(*columns, box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))


@contextmanager
def talking(as_json: bool, output: str | None = None) -> Iterator[Talk]:
    """Turn warnings into notices and bad input into exit code 1."""
    talk = Talk(as_json, output)

    def show(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        if category is UserWarning:
            talk.notice(str(message))

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = show
        try:
            yield talk
        except BrokenPipeError:
            # Whoever read the output has seen enough; nothing can be flushed to it any more.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except INPUT_ERRORS as error:
            talk.error(error)
            raise typer.Exit(1) from error
