"""Run a benchmark: compute what is missing, in several processes."""

from __future__ import annotations

import warnings
from functools import partial
from pathlib import Path

import numpy as np

from .._progress import report_progress
from .._warnings import warn_user
from ..datasets import Dataset, DownloadError
from ..errors import InputError
from ..tables import TableEncoder
from ._errors import must_retry
from ._jobs import Found, Job, Source, missing_jobs
from ._plan import Plan
from ._processes import in_processes
from ._results import Results
from ._runtimes import Timed, runtime
from ._scores import Contestant
from ._versions import Versions, environment, versions


def run(
    plan: Plan,
    folder: Path,
    source: Source | None = None,
    *,
    n_jobs: int = 1,
    retry_failed: bool = False,
    scores: Path | None = None,
) -> Results:
    """Measure what a plan asks for and the folder does not have yet.

    Parameters
    ----------
    plan : Plan
    folder : pathlib.Path
        Of results. They are added to its files as they come: stopped at any moment and called
        again, only what is missing is computed.
    source : Source, optional
        Where the data sets are. By default where CTAD_DATA_DIR says; others are downloaded.
    n_jobs : int, default=1
        Processes to use.
    retry_failed : bool, default=False
        Whether to try again all that failed before, not only what the machine may be to blame
        for, such as a package or a file that was missing.
    scores : pathlib.Path, optional
        Folder of the detectors' scores, if not that in `folder`.

    Returns
    -------
    Results
    """
    source = source or Source()
    results = Results(folder)
    with (
        results.cells.writing() as add_cells,
        results.gaps.writing() as add_gaps,
        results.runtimes.writing() as add_runtimes,
    ):
        rows = _noted(plan, source, results)
        plan = plan.only(rows)
        jobs = missing_jobs(plan, results, rows, retry_failed=retry_failed)
        timed = _untimed(plan, results, retry_failed)
        done, total = 0, sum(map(len, jobs)) + len(timed)
        report_progress("Measuring", done, total)
        perform = partial(_perform, source=source, kept=scores or results.scores)
        for job, found in in_processes(perform, jobs, n_jobs):
            if isinstance(found, BaseException):
                found = job.fail(found)
            add_cells(found.cells)
            add_gaps(found.gaps)
            done += len(job)
            report_progress(str(job), done, total)
        for key, contestant in timed.items():  # with nothing else at work
            add_runtimes([(key, runtime(source.load(key.dataset), contestant))])
            done += 1
            report_progress(f"timing {key.detector} on {key.dataset}", done, total)
    return results


def _perform(job: Job, source: Source, kept: Path) -> Found:
    return job.perform(source, kept)


def _noted(plan: Plan, source: Source, results: Results) -> dict[str, int]:
    """Note in the results what the data sets are; the number of rows of each that can be had."""
    rows = {}
    for number, name in enumerate(plan.datasets):
        report_progress("Looking at the data sets", number, len(plan.datasets))
        try:
            dataset = source.load(name)
        except (OSError, ValueError) as error:
            warn_user(f"{name} is left out: {error}")
            if isinstance(error, DownloadError):  # the next would keep one waiting as long
                source = source._replace(download=False)
            continue
        results.note(dataset)
        _tell_of_columns(dataset)
        rows[dataset.name] = len(dataset.y)
    if not rows:
        raise InputError("none of the data sets can be had")
    if environment() not in results.environments.rows():
        with results.environments.writing() as write:
            write([(environment(), Versions(versions()))])
    return rows


def _tell_of_columns(dataset: Dataset) -> None:
    """What becomes of the columns of a table is said here: the processes at work are silent."""
    if isinstance(dataset.X, np.ndarray):
        return
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", UserWarning)
        TableEncoder().fit(dataset.X.take(np.flatnonzero(~dataset.y)))
    for warning in told:
        warn_user(f"{dataset.name}: {warning.message}")


def _untimed(plan: Plan, results: Results, retry_failed: bool) -> dict[Timed, Contestant]:
    done = results.runtimes.rows()
    wanted = {Timed(dataset, contestant.name): contestant for dataset, contestant in plan.runtimes}
    return {
        key: contestant
        for key, contestant in wanted.items()
        if key not in done or must_retry(done[key].error, retry_failed)
    }
