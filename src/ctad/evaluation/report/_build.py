"""The report of a benchmark, from a folder of results."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan
from pathlib import Path

from ..._number_text import counted
from ..._progress import report_progress
from ...errors import InputError
from .._benchmark import Benchmark
from .._protocols import RANDOM_SPLIT
from .._results import Results
from ._benchmark_tables import (
    FEWEST_TO_TEST,
    METRICS,
    comparison_table,
    dataset_table,
    failure_table,
    improvement,
    summary_table,
)
from ._figures import comparison_picture
from ._measurements import Measurements
from ._page import Chapter, write_page
from ._table import Table

MAX_DETECTORS = 500
MAX_CELLS = 100_000  # data sets times detectors


@dataclass(frozen=True, eq=False)
class Report:
    """The report of a benchmark.

    Attributes
    ----------
    page : pathlib.Path
        The HTML page.
    summaries : dict of str to Table
        The gain of each detector, by metric.
    verdict : str
        Whether calibration helps, in a sentence.
    n_failed : int
        The number of failed results.
    """

    page: Path
    summaries: dict[str, Table]
    verdict: str
    n_failed: int


def build_report(
    results: Results,
    folder: Path,
    benchmark: Benchmark,
    *,
    metrics: tuple[str, ...] = ("auc_pr", "auc_roc"),
) -> Report:
    """Write tables, figures and the page of a benchmark.

    Parameters
    ----------
    results : Results
    folder : pathlib.Path
        Where to write them.
    benchmark : Benchmark
        Which results to show.
    metrics : tuple of str, default=("auc_pr", "auc_roc")

    Returns
    -------
    Report

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from ctad.evaluation import Benchmark, Cell, Outcome, Results
    >>> from ctad.evaluation.report import build_report
    >>> benchmark = Benchmark(("payments",), ("KNN",), seeds=(0,))
    >>> cell = Cell("payments", "KNN", "recommended", "random split", seed=0)
    >>> with TemporaryDirectory() as folder:
    ...     results = Results(Path(folder))
    ...     with results.cells.writing() as add:
    ...         add([(cell, Outcome("", auc_pr=0.6, base_auc_pr=0.5))])
    ...     report = build_report(results, Path(folder), benchmark, metrics=("auc_pr",))
    >>> report.verdict.partition(",")[0]
    'Calibration helped: +0.100 in AUC-PR on average'
    """
    n_datasets, n_detectors = len(benchmark.datasets), len(benchmark.detectors)
    if n_detectors > MAX_DETECTORS or n_datasets * n_detectors > MAX_CELLS:
        raise InputError(
            f"{results.folder} has results of {n_datasets:,} data sets and {n_detectors:,} "
            "detectors, too many for a page: choose fewer (--datasets, --detectors)"
        )
    measured = Measurements(
        results,
        datasets=benchmark.datasets,
        detectors=benchmark.detectors,
        protocols=(RANDOM_SPLIT.name,),
        seeds=benchmark.seeds,
    )
    shown = RANDOM_SPLIT.name, benchmark.calibration
    report_progress("Building tables", 0, 3)
    summaries = {metric: summary_table(measured, *shown, metric) for metric in metrics}
    datasets = [dataset_table(measured, *shown, metric) for metric in metrics]
    comparisons = [comparison_table(measured, *shown, metric) for metric in metrics]
    report_progress("Drawing figures", 1, 3)
    pictures = [
        comparison_picture(table, metric)
        for table, metric in zip(comparisons, metrics, strict=True)
        if len(table.data.dropna()) >= FEWEST_TO_TEST
    ]
    failed = [failure_table(measured)] if len(measured.failures) else []
    report_progress("Writing pages", 2, 3)
    verdict = _verdict(measured, benchmark, metrics[0])
    page = write_page(
        folder,
        "Does calibration help?",
        f"{verdict} {_description(measured, benchmark)}",
        [
            Chapter("summary", "What calibration adds", list(summaries.values())),
            Chapter("datasets", "Each data set", datasets),
            Chapter("comparison", "All detectors", comparisons, pictures),
            Chapter("failures", "Failures", failed),
        ],
        [f"{name}: {text}" for name, text in measured.environments.itertuples(index=False)],
    )
    report_progress("Writing pages", 3, 3)
    return Report(page, summaries, verdict, len(measured.failures))


def _verdict(measured: Measurements, benchmark: Benchmark, metric: str) -> str:
    """Whether calibration helps, by the gain on each data set, averaged over the detectors."""
    shown = RANDOM_SPLIT.name, benchmark.calibration
    after, before = (measured.means(*shown, name) for name in (metric, f"base_{metric}"))
    if not len(after):
        return "All results failed, so the gain is unknown."
    found = improvement(before.mean(axis=1), after.mean(axis=1))
    gain, low, high = (found[name] for name in ("gain", "95 % from", "to"))
    is_tested = not isnan(low)
    if is_tested and low <= 0 <= high:
        answer = "Calibration makes no clear difference"
    elif is_tested:
        answer = "Calibration helps" if gain > 0 else "Calibration hurts"
    else:
        answer = "Calibration helped" if gain > 0 else "Calibration did not help"
    interval = f" (95 % interval {low:+.3f} to {high:+.3f})" if is_tested else ""
    n_datasets, n_detectors = after.shape
    better = (after - before).mean() > 0
    return (
        f"{answer}: {gain:+.3f} in {METRICS[metric]} on average{interval}, with a gain on "
        f"{found['wins']} of {counted(n_datasets, 'data set')} and for {better.sum()} of "
        f"{counted(n_detectors, 'detector')}."
        + (f" {FEWEST_TO_TEST} data sets are needed for a test." if not is_tested else "")
    )


def _description(measured: Measurements, benchmark: Benchmark) -> str:
    return (
        f"Measured on {counted(measured.cells['dataset'].nunique(), 'data set')} with "
        f"{counted(len(measured.detectors), 'detector')}, {counted(len(measured.seeds), 'seed')} "
        f"and calibration {benchmark.calibration!r}. {RANDOM_SPLIT.name.capitalize()}: "
        f"{RANDOM_SPLIT.description}."
    )
