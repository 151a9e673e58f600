"""Jobs in several processes; a process that dies does not stop the others."""

from __future__ import annotations

import os
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import TypeVar

Job = TypeVar("Job")
Result = TypeVar("Result")

SECONDS_BETWEEN_CHECKS = 1.0


def in_processes(
    perform: Callable[[Job], Result], jobs: Iterable[Job], n_processes: int
) -> Iterator[tuple[Job, Result | BaseException]]:
    """Perform jobs in parallel; yield each with its result or its error, as it ends.

    A process that dies, say for lack of memory, ends those that work beside it. Their jobs are
    performed once more, one at a time: the job whose process dies again is at fault.
    """
    suspects: list[Job] = []
    queue = iter(jobs)
    while True:
        suspects_of_pool: list[Job] = []
        for job, result in _in_pool(perform, queue, n_processes):
            if isinstance(result, BrokenProcessPool):
                suspects_of_pool.append(job)
            else:
                yield job, result
        if not suspects_of_pool:
            break
        suspects += suspects_of_pool
    for suspect in suspects:
        for job, result in _in_pool(perform, iter([suspect]), 1):
            if isinstance(result, BrokenProcessPool):
                result = MemoryError("its process died; is there too little memory?")
            yield job, result


def _in_pool(
    perform: Callable[[Job], Result], jobs: Iterator[Job], n_processes: int
) -> Iterator[tuple[Job, Result | BaseException]]:
    """Perform jobs until there are no more, or until a process has died."""
    pool = ProcessPoolExecutor(
        n_processes,
        mp_context=get_context("spawn"),  # a forked process may wait for threads it does not have
        initializer=_start,
        initargs=(os.getpid(),),
    )
    running: dict[Future[Result], Job] = {}
    is_broken = False
    try:
        while True:
            while not is_broken and len(running) < n_processes:
                job = next(jobs, None)
                if job is None:
                    break
                try:
                    running[pool.submit(perform, job)] = job
                except BrokenProcessPool as died:  # since the last result
                    is_broken = True
                    yield job, died
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                error = future.exception()
                is_broken = is_broken or isinstance(error, BrokenProcessPool)
                yield running.pop(future), future.result() if error is None else error
    finally:
        for process in list((pool._processes or {}).values()) if running else []:
            process.kill()  # its result is no longer needed
        pool.shutdown(cancel_futures=True)


def _start(parent: int) -> None:
    """Prepare a worker process."""
    os.environ["OMP_NUM_THREADS"] = "1"  # for PyTorch, which is not loaded yet
    warnings.simplefilter("ignore")  # the main process has warned
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    """End this process when its parent is gone: a killed parent cannot stop its workers."""
    while os.getppid() == parent:
        time.sleep(SECONDS_BETWEEN_CHECKS)
    os._exit(1)
