"""The progress bar of the command."""

from __future__ import annotations

from time import monotonic

from rich.console import Console
from rich.progress import (
    BarColumn,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.progress import Progress as RichProgress

from .._progress import Progress
from ._formatting import percent


class ProgressBar:
    """One bar for all steps of a command: what is done, how much of it, and the time left.

    Parameters
    ----------
    console : rich.console.Console
    enabled : bool
        Whether to show anything.
    """

    def __init__(self, console: Console, *, enabled: bool) -> None:
        self._enabled = enabled
        self._bar = RichProgress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(20),
            TextColumn("{task.fields[amount]}", markup=False),
            TimeElapsedColumn(),
            TextColumn("left:"),
            TimeRemainingColumn(),
            console=console,
            transient=True,
        )
        self._task = self._bar.add_task("", total=None, amount="", visible=False)
        self._now = Progress("", 0, None)
        self._started = 0.0
        self._outer: str | None = None  # a step without a total, in which others may take place

    def show(self, now: Progress) -> None:
        """Show the state of the current step."""
        if not self._enabled:
            return
        if now.total is None and now.rows is None:
            self._outer = now.doing
        elif now.done == now.total and self._outer is not None:
            if now.doing == self._outer:
                self._outer = None
            else:
                now = Progress(self._outer, 0, None)
        # A description may change within a step: each file of a folder is a step, but the
        # detectors of a benchmark are counted together.
        is_same_step = now.total == self._now.total and now.done >= self._now.done
        if not (is_same_step and self._bar.live.is_started):
            self._start_step(now)
        self._now = now
        self._bar.update(
            self._task, description=now.doing, completed=now.done, amount=self._amount(now)
        )

    def stop(self) -> None:
        """Remove the bar from the screen; the next step shows it again."""
        if self._bar.live.is_started:
            self._bar.stop()

    def _start_step(self, now: Progress) -> None:
        self._bar.remove_task(self._task)
        self._task = self._bar.add_task(now.doing, total=now.total, amount="")
        self._started = monotonic()
        self._bar.start()

    def _amount(self, now: Progress) -> str:
        if now.rows:
            rate = now.rows / max(monotonic() - self._started, 1e-9)
            share = f"{percent(now.done / now.total)}, " if now.total else ""
            return f"{share}{now.rows:,} rows, {rate:,.0f} rows/s"
        return "" if now.total is None or now.rows == 0 else f"{now.done:,}/{now.total:,}"
