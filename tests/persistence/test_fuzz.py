"""A short run of the fuzzer over all types, and what it must notice."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ctad.persistence._descriptions import DESCRIPTIONS

ROOT = Path(__file__).parents[2]


def fuzz(*options, **environment):
    return subprocess.run(
        [sys.executable, "-m", "tests.persistence.fuzz", *map(str, options)],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=1200,
    )


@pytest.mark.slow
def test_altered_models_of_all_types(tmp_path):
    """The first cases of `make fuzz`. Loops are not compiled, which takes longer than to run them,
    and would not notice an index out of range."""
    run = fuzz("--cases", 2000, "--brief", "--folder", tmp_path, NUMBA_DISABLE_JIT="1")
    assert run.returncode == 0, run.stdout + run.stderr
    state = json.loads((tmp_path / "state.json").read_text())
    assert state["counts"].keys() == DESCRIPTIONS.keys()
    counts = [sum(outcomes.values()) for outcomes in state["counts"].values()]
    assert sum(counts) >= 2000
    assert min(counts) >= 10
    # Every example was scored as it is; of ten altered ones of a type, all may be refused.
    n_scored = sum(outcomes.get("scored", 0) for outcomes in state["counts"].values())
    assert n_scored > 0.2 * sum(counts)
