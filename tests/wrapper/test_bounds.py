"""The compiled loops of forests and neighbour searches stay inside their arrays."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = ("test_neighbour_scores.py", "test_packed_forest.py")


@pytest.mark.slow
def test_compiled_loops_stay_inside_their_arrays(tmp_path):
    """Their tests pass where compiled code checks every index."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA")}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *(f"tests/wrapper/{name}" for name in FILES)],
        env=kept | {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path)},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout
