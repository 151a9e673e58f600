"""Jobs in several processes; a process that dies does not stop the others."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context, parent_process
from typing import TypeVar

Job = TypeVar("Job")
Result = TypeVar("Result")

PR_SET_PDEATHSIG = 1  # from Linux's sys/prctl.h


def in_processes(
    perform: Callable[[Job], Result], jobs: Iterable[Job], n_processes: int
) -> Generator[tuple[Job, Result | BaseException], None, None]:
    """Perform jobs in parallel; yield each with its result or its error, as it ends.

    Closing the generator stops the workers. They also end when this process does, even if it is
    killed. They leave Ctrl-C to this process.

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
                    with _ctrl_c_blocked():  # also in a worker that is started now
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


@contextmanager
def _ctrl_c_blocked() -> Iterator[None]:
    """Postpone Ctrl-C; processes that are started meanwhile never get it."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start() -> None:
    """Prepare a worker process."""
    os.environ["OMP_NUM_THREADS"] = "1"  # for PyTorch, which is not loaded yet
    warnings.simplefilter("ignore")  # the main process has warned
    if sys.platform == "linux":
        # Works also while compiled code keeps Python's threads from running.
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    # Works everywhere, and if the parent ended before this line.
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End this process when its parent is gone: a killed parent cannot stop its workers."""
    parent = parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
