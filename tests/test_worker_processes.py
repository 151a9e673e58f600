"""Worker processes that die, or whose parent dies.

The functions here are performed by workers, which import this module: it imports little.
"""

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from ctad._worker_processes import in_processes


def work(job):
    if job == "dies":
        os.kill(os.getpid(), signal.SIGKILL)
    if job == "fails":
        raise ValueError("no")
    return job


def test_only_the_job_whose_process_dies_fails():
    jobs = ["first", "dies", "fails", "third", "fourth"]
    results = {}
    for job, result in in_processes(work, jobs, 2):
        results[job] = result
        time.sleep(0.2)  # the pool breaks meanwhile, and cannot be given the next job
    assert "its process died" in str(results.pop("dies"))
    assert isinstance(results.pop("fails"), ValueError)
    assert results == {job: job for job in ("first", "third", "fourth")}


def test_jobs_that_nobody_waits_for_are_stopped():
    running = in_processes(time.sleep, [0.0, 1000.0], 2)
    assert next(running) == (0.0, None)
    running.close()  # returns without waiting for the second


SCRIPT = """
import ctypes
import sys
import time
from contextlib import closing
from ctad._worker_processes import in_processes

def work(job):
    print(job, flush=True)
    if job == "compiled code":  # no other thread of Python runs meanwhile
        ctypes.PyDLL(None).sleep(1000)
    time.sleep(1000)

if sys.argv[1:] == ["starts"] and __name__ != "__main__":  # a worker imports this module first
    print("starts", flush=True)
    time.sleep(1)
if __name__ == "__main__":
    with closing(in_processes(work, sys.argv[1:], len(sys.argv) - 1)) as results:
        for _ in results:
            pass
"""
needs_proc = pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")


@contextmanager
def working(tmp_path, *jobs):
    """A process with a worker for each job, and the ids of its children."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    with subprocess.Popen(
        [sys.executable, str(script), *jobs],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        text=True,
    ) as process:
        assert {process.stdout.readline().strip() for _ in jobs} == {*jobs}
        children = _children(process.pid)
        assert len(children) > len(jobs)  # and the resource tracker
        yield process, children


@needs_proc
def test_workers_do_not_outlive_a_killed_process(tmp_path):
    with working(tmp_path, "Python", "compiled code") as (process, children):
        process.kill()
    _wait_for_end(children)


@needs_proc
def test_ctrl_c_stops_all_workers_quietly(tmp_path):
    with working(tmp_path, "starts") as (process, children):
        for child in children:
            os.kill(child, signal.SIGINT)
        assert process.stdout.readline() == "starts\n"  # the worker has started all the same
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        errors = process.stderr.read()
    _wait_for_end(children)
    assert errors.count("Traceback") == 1, errors  # of the process itself


def _wait_for_end(processes):
    deadline = time.monotonic() + 60
    while any(_is_alive(process) for process in processes):
        assert time.monotonic() < deadline, "processes are left behind"
        time.sleep(0.02)


def _children(pid):
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for task in tasks for child in task.read_text().split()]


def _is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
