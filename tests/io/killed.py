"""Scoring in processes that are killed at a random moment."""

import multiprocessing
import time

from ctad.io import ReadOptions, score_file, score_folder, score_table

from .models import mixed, model

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["tests.io.killed"])  # so that imports are done once

score_table(model(), mixed(10))  # compile


def _work(connection, folder, sources, target):
    connection.send("ready")
    if folder:
        score_folder(model(), sources, target, ReadOptions(20), model_sha256="1")
    else:
        score_file(model(), sources[0], target, ReadOptions(20))


def run(sources, target, *, folder=False, seconds=None):
    """Score in another process, killed after so many seconds; return the seconds it took."""
    ours, theirs = CONTEXT.Pipe()
    process = CONTEXT.Process(target=_work, args=(theirs, folder, sources, target))
    process.start()
    theirs.close()
    assert ours.recv() == "ready"
    start = time.perf_counter()
    process.join(seconds)
    elapsed = time.perf_counter() - start
    if process.is_alive():
        process.kill()
        process.join()
    elif process.exitcode != 0:
        raise RuntimeError(f"it failed with exit code {process.exitcode}")
    process.close()
    ours.close()
    return elapsed
