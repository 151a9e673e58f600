"""Memory and speed of scoring a large Parquet file, measured in one run: `make bench`.

The yardstick of speed is scoring batches of the same rows from memory, in the same process.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from measured import Line, peak_megabytes, print_lines
from pyod.models.iforest import IForest
from pyod.models.pca import PCA
from rich.console import Console
from rich.progress import track

from ctad import CalibratedDetector
from ctad.io import find_tables, open_table, score_file, score_table

FULL_BYTES, QUICK_BYTES = 2 * 2**30, 10 * 2**20
NUMBERS, ROWS_PER_GROUP = 20, 500_000
BYTES_PER_ROW = 8 * NUMBERS + 6  # the rest of a row takes few bytes on disk
TRAINING_ROWS = 20_000
BATCHES_IN_MEMORY = 3

DETECTORS = {"IForest": IForest, "PCA": lambda: PCA(n_components=0.99)}


def affordable_bytes(folder, wanted):
    """As much as is wanted, or what two files and some room leave of the disk."""
    return min(wanted, shutil.disk_usage(folder).free // 4)


def rows(n_rows, random):
    """Numbers, categories, dates and gaps."""
    columns = {f"x{i}": random.standard_normal(n_rows) for i in range(NUMBERS)}
    columns["color"] = pa.array(random.choice(["red", "green", "blue"], n_rows))
    columns["day"] = pa.array(random.integers(19_000, 20_000, n_rows), pa.int32()).cast(pa.date32())
    columns["count"] = pa.array(random.integers(0, 9, n_rows), mask=random.random(n_rows) < 0.05)
    return pa.table(columns)


def generate(path, n_bytes):
    random = np.random.default_rng(0)
    n_groups = max(1, round(n_bytes / BYTES_PER_ROW / ROWS_PER_GROUP))
    group_rows = min(ROWS_PER_GROUP, n_bytes // BYTES_PER_ROW)
    with pq.ParquetWriter(path, rows(1, random).schema, use_dictionary=["color"]) as writer:
        for _ in track(range(n_groups), "Generating a file", transient=True):
            writer.write_table(rows(group_rows, random))


def measure(path, name):
    """In a process of its own: print the peak memory and both rates."""
    [source] = find_tables(path)
    with open_table(source) as reader:
        batches = [batch for batch, _ in zip(reader, range(BATCHES_IN_MEMORY), strict=False)]
    model = CalibratedDetector(DETECTORS[name](), random_state=0)
    model.fit(batches[0].slice(0, TRAINING_ROWS))
    score_table(model, batches[0])  # compile

    def from_memory():
        start = time.perf_counter()
        for batch in batches:
            score_table(model, batch)
        return time.perf_counter() - start

    before = from_memory()
    start = time.perf_counter()
    summary = score_file(model, source, Path(path).with_name("scored.parquet"))
    seconds = time.perf_counter() - start
    peak = peak_megabytes()
    memory_rate = 2 * sum(map(len, batches)) / (before + from_memory())
    print(json.dumps({"peak": peak, "ratio": summary.rows / seconds / memory_rate}))


def lines(path, name):
    result = json.loads(
        subprocess.run(
            [sys.executable, __file__, "--measure", str(path), name],
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        ).stdout
    )
    peak, share = result["peak"], 100 * result["ratio"]
    yield Line(f"{name}: peak memory, MB", "< 1024", f"{peak:.0f}", peak < 1024)
    yield Line(f"{name}: rate, % of that from memory", "≥ 50", f"{share:.0f}", share >= 50)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a small file, to try it out")
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        measure(*arguments.measure)
        return
    console = Console()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.parquet")
        wanted = QUICK_BYTES if arguments.quick else FULL_BYTES
        affordable = affordable_bytes(folder, wanted)
        generate(path, affordable)
        metadata = pq.read_metadata(path)
        size = f"{path.stat().st_size / 2**30:.2f} GB"
        names = list(DETECTORS)[: 1 if arguments.quick else None]
        names = track(names, "Measuring", console=console)
        all_lines = [line for name in names for line in lines(path, name)]
    all_hold = print_lines("Scoring a Parquet file", all_lines, console)
    console.print(f"File: {size}, {metadata.num_rows:,} rows of {metadata.num_columns} columns.")
    if affordable < wanted:
        console.print(f"Not the {wanted / 2**30:.2f} GB wanted: the disk has too little room.")
    # In a small file, what is done once weighs more: then the ratios are only a trial.
    sys.exit(0 if all_hold or arguments.quick else 1)


if __name__ == "__main__":
    main()
