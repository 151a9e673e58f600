"""Run a benchmark: compute the missing results, in several processes."""

from __future__ import annotations

import warnings
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from .._progress import progress_bar, report_progress
from .._untrusted_files import check_inside
from .._warnings import warn_user
from .._worker_processes import in_processes
from ..datasets import Dataset, DownloadError
from ..errors import InputError
from ..tables import TableEncoder
from ._jobs import Found, Job, Source, missing_jobs
from ._plan import Plan
from ._results import Results
from ._versions import Versions, environment, versions_line


def run(
    plan: Plan,
    folder: Path,
    source: Source | None = None,
    *,
    n_jobs: int = 1,
    retry_failed: bool = False,
    scores: Path | None = None,
    show_progress: bool = False,
) -> Results:
    """Measure the entries of a plan that have no results yet.

    Parameters
    ----------
    plan : Plan
    folder : pathlib.Path
        Folder of results. They are added as they come. Stopped at any moment and called again,
        only missing results are computed.
    source : Source, optional
        Where the data sets are. By default the folder in CTAD_DATA_DIR; others are downloaded.
    n_jobs : int, default=1
        Number of processes.
    retry_failed : bool, default=False
        Whether to repeat everything that failed before, not only faults of the machine, such as a
        missing package or too little memory.
    scores : pathlib.Path, optional
        Folder of the detectors' scores, if not that in `folder`.
    show_progress : bool, default=False
        Whether to show a progress bar on a terminal or in a notebook.

    Returns
    -------
    Results

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import numpy as np
    >>> from sklearn.datasets import load_wine
    >>> from ctad.evaluation import Benchmark, Source, run
    >>> plan = Benchmark(("wines",), ("IsolationForest",), seeds=(0,)).plan()
    >>> X, kind = load_wine(return_X_y=True)
    >>> with TemporaryDirectory() as folder:
    ...     np.savez(Path(folder, "wines.npz"), X=X, y=kind == 0)
    ...     results = run(plan, Path(folder, "results"), Source(Path(folder)))
    ...     print(results.cells.frame()[["calibration", "auc_pr", "base_auc_pr"]].round(1))
       calibration  auc_pr  base_auc_pr
    0         none     0.8          0.8
    1  recommended     0.9          0.8
    """
    source = source or Source()
    results = Results(folder)
    if scores is None:
        check_inside(results.scores, folder)
    with progress_bar(show_progress), results.cells.writing() as add_cells:
        rows = _noted(plan, source, results)
        plan = replace(plan, datasets=tuple(rows))
        jobs = missing_jobs(plan, results, rows, retry_failed=retry_failed)
        if jobs:
            _note_environment(results)
        done, total = 0, sum(map(len, jobs))
        report_progress("Measuring", done, total)
        perform = partial(_perform, source=source, folder=scores or results.scores)
        with closing(in_processes(perform, jobs, n_jobs)) as ended:
            for job, found in ended:
                add_cells(job.fail(found) if isinstance(found, BaseException) else found)
                done += len(job)
                report_progress(str(job), done, total)
    return results


def _perform(job: Job, source: Source, folder: Path) -> Found:
    return job.perform(source, folder)


def _noted(plan: Plan, source: Source, results: Results) -> dict[str, int]:
    """Record the data sets in the results; the number of rows of each that can be loaded."""
    rows = {}
    for number, name in enumerate(plan.datasets):
        report_progress("Reading the data sets", number, len(plan.datasets))
        try:
            dataset = source.load(name)
        except (InputError, OSError) as error:
            warn_user(f"{name} is left out: {error}")
            if isinstance(error, DownloadError):  # without a connection, each would take as long
                source = replace(source, download=False)
            continue
        results.note(dataset)
        _warn_of_columns(dataset)
        rows[dataset.name] = len(dataset.y)
    if not rows:
        raise InputError("none of the data sets can be loaded")
    return rows


def _note_environment(results: Results) -> None:
    """Record the library versions in the results."""
    if environment() not in results.environments.rows():
        with results.environments.writing() as add:
            add([(environment(), Versions(versions_line()))])


def _warn_of_columns(dataset: Dataset) -> None:
    """Warn here about columns that are not used: the worker processes ignore warnings."""
    if isinstance(dataset.X, np.ndarray):
        return
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        TableEncoder().fit(dataset.X.take(np.flatnonzero(~dataset.y)))
    for warning in caught:
        warn_user(f"{dataset.name}: {warning.message}")
