"""What a benchmark wants and what it measured, as one table."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table


class Line(NamedTuple):
    what: str
    wanted: str
    measured: str
    holds: bool


def print_lines(title: str, lines: Iterable[Line], console: Console) -> bool:
    """Print the lines when all are measured; whether all hold."""
    table = Table(box=SIMPLE_HEAD, title=title, padding=(0, 1, 0, 0))
    for column in ("", "wanted", "measured", ""):
        table.add_column(column, justify="left" if not column else "right", no_wrap=bool(column))
    all_hold = True
    for line in lines:
        all_hold &= line.holds
        mark = "[green]✓[/]" if line.holds else "[red]✗[/]"
        table.add_row(line.what, line.wanted, line.measured, mark)
    console.print(table)
    return all_hold


def peak_megabytes() -> float:
    """Of this process alone (Linux): `getrusage` would count the parent's peak, too."""
    status = Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) / 1024
