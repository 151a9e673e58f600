"""What the command imports: a start takes as long as its imports."""

import json
import subprocess
import sys

import pandas as pd
import pytest
from sklearn.ensemble import IsolationForest

from ctad import CalibratedDetector

from ..data import clusters

pytestmark = pytest.mark.slow

# Runs commands one after the other, and prints which of these packages each has imported by then.
RUN = """
import contextlib, io, json, sys
from ctad.cli._app import app
packages = ("sklearn", "scipy", "numba", "pandas", "pyarrow", "pyod", "torch", "matplotlib")
for command in json.loads(sys.argv[1]):
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
        app(command)
    print(json.dumps([command[0], [name for name in packages if name in sys.modules]]))
"""


def test_a_command_imports_what_it_uses(tmp_path):
    model, new, scored = tmp_path / "m.ctad", tmp_path / "new.csv", tmp_path / "scored.csv"
    rows = pd.DataFrame(clusters()).add_prefix("column ")
    rows.to_csv(new, index=False)
    forest = IsolationForest(n_estimators=5, random_state=0)
    CalibratedDetector(forest, random_state=0).fit(rows).save(model)
    commands = [["--help"], ["detectors"], ["inspect", str(model)]]
    commands.append(["score", str(model), str(new), "-o", str(scored)])
    ran = subprocess.run(
        [sys.executable, "-c", RUN, json.dumps(commands)],
        capture_output=True,
        text=True,
        check=True,
    )
    imported = dict(map(json.loads, ran.stdout.splitlines()))
    assert imported["--help"] == imported["detectors"] == imported["inspect"] == []
    assert scored.exists()
    assert not {"pyod", "torch", "matplotlib"} & set(imported["score"])
