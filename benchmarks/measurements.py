"""Measurements beside their goals, as one table."""

import re
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table


@dataclass(frozen=True)
class Measurement:
    """A line of the table."""

    name: str
    goal: str
    value: str
    reached: bool


def print_table(title: str, measurements: Iterable[Measurement], console: Console) -> bool:
    """Print all measurements; return whether all goals are reached."""
    table = Table(box=SIMPLE_HEAD, title=title, padding=(0, 1, 0, 0))
    for column in ("", "goal", "measured", ""):
        table.add_column(column, justify="left" if not column else "right", no_wrap=bool(column))
    all_reached = True
    for line in measurements:
        all_reached &= line.reached
        table.add_row(
            line.name, line.goal, line.value, "[green]✓[/]" if line.reached else "[red]✗[/]"
        )
    console.print(table)
    return all_reached


def best_seconds(*functions, repeats=5):
    """The best time of each function. They take turns, so that noise affects all alike."""
    best = [np.inf] * len(functions)
    for _ in range(repeats):
        for i, function in enumerate(functions):
            start = time.perf_counter()
            function()
            best[i] = min(best[i], time.perf_counter() - start)
    return best


def peak_megabytes() -> float:
    """Peak memory of this process (Linux). `getrusage` would include the peak of its parent."""
    status = Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) / 1024
