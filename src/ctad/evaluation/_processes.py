"""Jobs in several processes, none of which can take the others down with it."""

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

SECONDS_BETWEEN_LOOKS = 1.0


def in_processes(
    perform: Callable[[Job], Result], jobs: Iterable[Job], n_processes: int
) -> Iterator[tuple[Job, Result | BaseException]]:
    """Perform jobs side by side; give each with its result, or what went wrong, as it ends.

    A process that dies, say for want of memory, takes those at work beside it along. These are
    performed once more, one at a time: the one that dies again is the one to blame.
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
    """Stops taking jobs when a process has died."""
    pool = ProcessPoolExecutor(
        n_processes,
        mp_context=get_context("spawn"),  # a copy of a process with threads may wait for them
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
                except BrokenProcessPool as died:  # while nobody waited for a result
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
            process.kill()  # nobody waits for its result any more
        pool.shutdown(cancel_futures=True)


def _start(parent: int) -> None:
    """Make ready a process that works for another."""
    os.environ["OMP_NUM_THREADS"] = "1"  # for PyTorch, which is not loaded yet
    warnings.simplefilter("ignore")  # what there is to say was said when the run began
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    """A process that is killed cannot stop those that work for it: they look for it themselves."""
    while os.getppid() == parent:
        time.sleep(SECONDS_BETWEEN_LOOKS)
    os._exit(1)
