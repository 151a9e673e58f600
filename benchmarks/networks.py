"""Overhead of training networks: `make bench`.

Prints the share of the time of `fit` that is spent outside of tensor operations, by PyTorch's
profiler.
"""

import argparse
import sys
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


def share_outside(name: str, rows: np.ndarray, epochs: int) -> float:
    """Share of the time outside of tensor operations, in a second training."""
    detector = make(name, epochs=epochs, random_state=0, show_progress=False)
    detector.fit(rows)
    with profile(activities=[ProfilerActivity.CPU]) as profiled:
        started = time.perf_counter()
        detector.fit(rows)
        seconds = time.perf_counter() - started
    # Self time: without the operations that an operation calls.
    operations = sum(
        event.self_cpu_time_total
        for event in profiled.key_averages()
        if event.key.startswith("aten::")
    )
    return 1 - operations / 1e6 / seconds


def main(arguments=None) -> int:
    """Measure and print; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a small table and few epochs")
    quick = parser.parse_args(arguments).quick
    shapes, epochs = (SHAPES[:1], 1) if quick else (SHAPES, 10)
    table = Table("detector", "rows", "columns", "outside of tensor operations", box=SIMPLE_HEAD)
    cases = [(name, shape) for name in DETECTORS for shape in shapes]
    for name, (n, width) in track(cases, "Training", transient=True):
        share = share_outside(name, np.random.default_rng(0).normal(size=(n, width)), epochs)
        table.add_row(name, f"{n:,}", str(width), f"{share:.0%}")
    console = Console()
    console.print(f"Training: epochs: {epochs}, threads: {torch.get_num_threads()}")
    console.print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
