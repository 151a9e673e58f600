"""Size of a report of 10^5 rows, and how fast a browser opens it: `make bench`.

A page is open when it can be read, sorted and searched: at the browser's load event. Charts are
drawn after that, the visible ones first. The time of the last chart is printed, too.
"""

import argparse
import shutil
import statistics
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from measurements import Measurement, print_table
from playwright.sync_api import sync_playwright
from rich.console import Console
from sklearn.ensemble import IsolationForest

from ctad import CalibratedDetector

COLUMNS, TRAINING_ROWS, ANOMALIES = 20, 5000, 300
OPENINGS = 5
# Milliseconds since the browser began to open the page.
OPEN = "performance.getEntriesByType('navigation')[0].loadEventEnd"
DRAWN = "() => document.documentElement.dataset.charts === 'drawn' && performance.now()"


def report_of(n_rows):
    random = np.random.default_rng(0)
    names = [f"measure {i}" for i in range(COLUMNS)]
    normal = pd.DataFrame(random.normal(size=(TRAINING_ROWS, COLUMNS)), columns=names)
    new = pd.DataFrame(random.normal(size=(n_rows, COLUMNS)), columns=names)
    is_anomaly = np.arange(n_rows) < ANOMALIES
    new.loc[is_anomaly] += 2
    model = CalibratedDetector(IsolationForest(random_state=0), holdout=0.2, random_state=0)
    return model.fit(normal).report(new, is_anomaly)


def openings(browser, path, n):
    """Seconds until the page is open and until all charts are drawn, `n` times."""
    for _ in range(n):
        page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
        page.goto(path.as_uri())
        drawn = page.wait_for_function(DRAWN, polling=20).json_value()
        yield page.evaluate(OPEN) / 1000, drawn / 1000
        page.context.close()


def main(arguments=None):
    """Measure and print; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few rows, to try it out")
    quick = parser.parse_args(arguments).quick
    n_rows, n = (1000, 1) if quick else (10**5, OPENINGS)
    console = Console()
    program = shutil.which("chromium")
    if program is None:
        console.print("Reports are not measured: install chromium first (apt install chromium).")
        return 0
    with (
        console.status("Writing and opening a report"),
        tempfile.TemporaryDirectory() as folder,
        sync_playwright() as playwright,
    ):
        path = report_of(n_rows).save(Path(folder, "report.html"))
        megabytes = path.stat().st_size / 1e6
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        opened, drawn = map(statistics.median, zip(*openings(browser, path, n), strict=True))
        browser.close()
    lines = [
        Measurement("page, MB", "< 8", f"{megabytes:.1f}", megabytes < 8),
        Measurement("opens, seconds", "< 2", f"{opened:.2f}", opened < 2),
    ]
    all_reached = print_table(f"Report of {n_rows:,} rows, {COLUMNS} columns", lines, console)
    console.print(f"The last chart is drawn after {drawn:.1f} seconds (median of {n}).")
    return 0 if all_reached or quick else 1


if __name__ == "__main__":
    sys.exit(main())
