"""Worker processes that die, or whose parent dies.

The functions here are performed by workers, which import this module: it imports little.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

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
import time
from ctad._worker_processes import in_processes
if __name__ == "__main__":
    for job, _ in in_processes(time.sleep, [0, 1000], 1):
        print("started", flush=True)
"""


def test_workers_do_not_outlive_the_process_they_work_for(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"started\n"
        workers = _children(process.pid)
        assert workers
        process.kill()
    deadline = time.monotonic() + 30
    while any(_is_alive(worker) for worker in workers):
        assert time.monotonic() < deadline, "workers are left behind"
        time.sleep(0.05)


def _children(pid):
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for task in tasks for child in task.read_text().split()]


def _is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
