"""Where the time goes when networks are trained: `make bench`.

Share of the time of `fit` that is not spent inside of tensor operations, by PyTorch's profiler.
"""

import argparse
import time

import numpy as np
import torch
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import track
from rich.table import Table
from torch.profiler import ProfilerActivity, profile

from ctad.detectors import make

DETECTORS = ("MCM", "DRL")
SHAPES = ((500, 10), (5_000, 20), (5_000, 100))
EPOCHS = 10


def share_outside(name: str, rows: np.ndarray) -> float:
    """Share of the time outside of tensor operations, once all is warm."""
    detector = make(name, epochs=EPOCHS, random_state=0, show_progress=False)
    detector.fit(rows)
    with profile(activities=[ProfilerActivity.CPU]) as profiled:
        started = time.perf_counter()
        detector.fit(rows)
        seconds = time.perf_counter() - started
    # An operation that calls another is counted without it.
    operations = sum(
        event.self_cpu_time_total
        for event in profiled.key_averages()
        if event.key.startswith("aten::")
    )
    return 1 - operations / 1e6 / seconds


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="the smallest table only")
    shapes = SHAPES[:1] if parser.parse_args().quick else SHAPES
    table = Table("detector", "rows", "columns", "outside of tensor operations", box=SIMPLE_HEAD)
    cases = [(name, shape) for name in DETECTORS for shape in shapes]
    for name, (n, width) in track(cases, "Training", transient=True):
        share = share_outside(name, np.random.default_rng(0).normal(size=(n, width)))
        table.add_row(name, f"{n:,}", str(width), f"{share:.0%}")
    console = Console()
    console.print(f"Training, {EPOCHS} epochs, {torch.get_num_threads()} threads")
    console.print(table)


if __name__ == "__main__":
    main()
