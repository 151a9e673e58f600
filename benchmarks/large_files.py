"""Memory and speed of scoring a large Parquet file, measured in one run: `make bench`.

The speed is compared with scoring batches of the same rows from memory, in the same process.
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
from measurements import Measurement, peak_megabytes, print_table
from pyod.models.iforest import IForest
from pyod.models.pca import PCA
from rich.console import Console
from rich.progress import track

from ctad import CalibratedDetector
from ctad.io import find_tables, open_table, score_file, score_table

FULL_BYTES, QUICK_BYTES = 2 * 2**30, 2**20
NUMERIC_COLUMNS, ROWS_PER_GROUP = 20, 500_000
BYTES_PER_ROW = 8 * NUMERIC_COLUMNS + 6  # the other columns take few bytes on disk
TRAINING_ROWS = 20_000
BATCHES_IN_MEMORY = 3

DETECTORS = {"IForest": IForest, "PCA": lambda: PCA(n_components=0.99)}


def affordable_bytes(folder, wanted):
    """The wanted size, or a quarter of the free space: the output is as large as the input."""
    return min(wanted, shutil.disk_usage(folder).free // 4)


def rows(n_rows, random):
    """Numbers, categories, dates and missing values."""
    columns = {f"x{i}": random.standard_normal(n_rows) for i in range(NUMERIC_COLUMNS)}
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
    """Print the peak memory of this process, and the rate over that from memory."""
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


def measure_in_own_process(path, name):
    result = json.loads(
        subprocess.run(
            [sys.executable, __file__, "--measure", str(path), name],
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        ).stdout
    )
    peak, share = result["peak"], 100 * result["ratio"]
    yield Measurement(f"{name}: peak memory, MB", "< 1024", f"{peak:.0f}", peak < 1024)
    yield Measurement(f"{name}: rate, % of that from memory", "≥ 50", f"{share:.0f}", share >= 50)


def main(arguments=None):
    """Measure and print; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a small file, to try it out")
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args(arguments)
    if arguments.measure:
        measure(*arguments.measure)
        return 0
    console = Console()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.parquet")
        wanted = QUICK_BYTES if arguments.quick else FULL_BYTES
        affordable = affordable_bytes(folder, wanted)
        generate(path, affordable)
        metadata = pq.read_metadata(path)
        megabytes = path.stat().st_size / 2**20
        names = list(DETECTORS)[: 1 if arguments.quick else None]
        names = track(names, "Measuring", console=console)
        lines = [line for name in names for line in measure_in_own_process(path, name)]
    all_reached = print_table("Scoring a Parquet file", lines, console)
    shape = f"{metadata.num_rows:,} rows of {metadata.num_columns} columns"
    console.print(f"File: {megabytes:,.0f} MB, {shape}.")
    if affordable < wanted:
        console.print(f"A file of {wanted / 2**20:,.0f} MB does not fit on the disk.")
    # With a small file, one-off work counts too much: the ratios mean nothing.
    return 0 if all_reached or arguments.quick else 1


if __name__ == "__main__":
    sys.exit(main())
