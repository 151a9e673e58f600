"""Compiled loops stay inside their arrays, whatever they get."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
def test_compiled_loops_stay_inside_their_arrays(tmp_path):
    """In a process whose compiled code checks every index, and is not kept for other processes."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA")}
    done = subprocess.run(
        [sys.executable, "-m", "tests.transport.hostile_inputs"],
        env=kept | {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path)},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
