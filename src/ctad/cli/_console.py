"""What the command prints: results, notes, errors and a progress bar."""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import Any

import typer
from rich.console import Console, RenderableType
from rich.table import Table

from .._atomic_files import naming
from .._progress import on_progress, report_progress
from ..errors import InputError, MissingPackageError
from ._progress_bar import ProgressBar

# Faults in the user's input or installation. Any other error is a bug and shows its traceback.
INPUT_ERRORS = (InputError, MissingPackageError, OSError, MemoryError)

WIDTH_OF_A_FILE = 1000
SHOWN_COLUMNS = 200


class CommandOutput:
    """Results go to standard output, everything else to standard error.

    Parameters
    ----------
    as_json : bool
        Print one line of JSON as the result, and nothing else.
    output : str or None
        Where the command writes data. If that is "-" (standard output), results go to standard
        error, too.
    """

    def __init__(self, as_json: bool = False, output: str | None = None) -> None:
        self._as_json = as_json
        self._errors = _console(stderr=True)
        self._results = self._errors if output == "-" else _console()
        self._started = monotonic()
        self._notes: list[str] = []
        self.bar = ProgressBar(self._errors, enabled=self._errors.is_terminal and not as_json)

    def note(self, text: str) -> None:
        """Print something that users should know, once."""
        if text not in self._notes:
            self._notes.append(text)
            if not self._as_json:
                self._errors.print(f"Note: {printable(text)}", style="yellow")

    def result(self, values: dict[str, Any], *shown: RenderableType) -> None:
        """Print the result: values for scripts, or tables and text for people."""
        self.bar.stop()
        with naming("standard output" if self._results is not self._errors else "standard error"):
            if self._as_json:
                seconds = round(monotonic() - self._started, 3)
                line = json.dumps({**values, "seconds": seconds, "notices": self._notes})
                print(line, file=self._results.file, flush=True)
            else:
                self._results.print(*shown, sep="\n")

    def error(self, error: BaseException) -> None:
        """Print what is wrong with the input."""
        message = str(error) or type(error).__name__
        if isinstance(error, OSError) and error.filename is not None:
            message = f"{error.filename}: {error.strerror}"
        self._errors.print(f"Error: {printable(message)}", style="red")

    @contextmanager
    def step(self, doing: str) -> Iterator[None]:
        """Show that something takes a while; shorter steps inside may report their progress."""
        report_progress(doing, 0, None)
        yield
        report_progress(doing, 1, 1)


@contextmanager
def command_output(
    *, as_json: bool, debug: bool, output: str | None = None
) -> Iterator[CommandOutput]:
    """Run a command: show its progress, print warnings as notes, and end with exit code 1 if the
    input is at fault.

    Parameters
    ----------
    as_json, output
        As for `CommandOutput`.
    debug : bool
        Whether to show the traceback of errors in the input, too.
    """
    out = CommandOutput(as_json, output)

    def show_warning(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        if category is UserWarning:
            out.note(str(message))

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = show_warning
        try:
            with on_progress(out.bar.show):
                yield out
        except BrokenPipeError:
            # The reader of the output has closed it, as `head` does. Nothing more can be flushed.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except INPUT_ERRORS as error:
            if debug:
                raise
            out.bar.stop()
            out.error(error)
            raise typer.Exit(1) from error
        finally:
            out.bar.stop()


def printable(text: str) -> str:
    """Text from a file without control characters, which could change the terminal."""
    return "".join(c if c.isprintable() or c == "\n" else "\N{REPLACEMENT CHARACTER}" for c in text)


def plain_table(*columns: str) -> Table:
    """An empty table without lines."""
    return Table(*columns, box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))


def facts_table(facts: dict[str, str | None]) -> Table:
    """A table of names and values; facts that are None are left out."""
    table = plain_table("", "")
    table.show_header = False
    for name, value in facts.items():
        if value is not None:
            table.add_row(name, value)
    return table


def columns_table(
    headers: Iterable[str], rows: Sequence[Iterable[RenderableType]]
) -> list[RenderableType]:
    """A table with one line per column of the user's table, the first ones if there are many."""
    table = plain_table(*headers)
    for row in rows[:SHOWN_COLUMNS]:
        table.add_row(*row)
    more = len(rows) - SHOWN_COLUMNS
    return [table, f"and {more:,} more columns; --json lists all."] if more > 0 else [table]


class _PlainConsole(Console):
    def on_broken_pipe(self) -> None:
        """Leave it to `command_output`: rich itself would exit with code 1."""
        raise BrokenPipeError


def _console(*, stderr: bool = False) -> Console:
    """A console that prints users' names as they are, and breaks lines on a terminal only."""
    console = _PlainConsole(stderr=stderr, markup=False, emoji=False, highlight=False)
    if not console.is_terminal:
        console.width = WIDTH_OF_A_FILE
    return console
