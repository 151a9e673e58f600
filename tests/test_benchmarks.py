"""The scripts of `make bench` print their tables."""

from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]

BENCHMARKS = {
    "transport": ("K=5, M=20, D=21", "K=50, M=99", "explaining rows", "MB beyond in- and output"),
    "wrapped_detectors": ("IsolationForest, one row", "KNN, one row, D=20", "term: n_jobs=2"),
    "networks": ("outside of tensor operations", "MCM", "DRL"),
    "report": ("Report of 1,000 rows", "page, MB", "opens, seconds", "The last chart"),
    "large_files": ("IForest: peak memory", "IForest: rate, % of that from memory", "File: 1 MB"),
}


@pytest.mark.parametrize("name", BENCHMARKS)
def test_the_benchmarks_print_their_tables(name, monkeypatch, capsys):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    main = import_module(name).main
    # In a thread, because Playwright allows one browser per thread and other tests have one open.
    with ThreadPoolExecutor() as executor:
        assert executor.submit(main, ["--quick"]).result() == 0
    output = capsys.readouterr().out
    for line in BENCHMARKS[name]:
        assert line in output
