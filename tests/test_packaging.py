"""The wheel works in an empty environment, with the packages it asks for and no others."""

import os
import re
import subprocess
import sys
import venv

import pytest

from .docs.pages import EXAMPLE, ROOT, check_example_output

pytestmark = pytest.mark.packaging


def run(*command, cwd):
    """The output of a command, which must not see the sources."""
    return subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": ""},
    ).stdout


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    """The wheel, built from a source distribution as installers do."""
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT, cwd=folder)
    [wheel] = folder.glob("ctad-*.whl")
    return wheel


@pytest.fixture(scope="session")
def empty_environment(wheel, tmp_path_factory):
    """Python of a new environment with the wheel and its dependencies, in pinned versions."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    install(python, wheel)
    return python


def install(python, requirement):
    constraints = ROOT / "constraints.txt"
    run(python, "-m", "pip", "install", "-q", "-c", constraints, requirement, cwd=python.parent)


def test_the_wheel_runs_the_readmes_example_and_the_command(empty_environment, wheel, tmp_path):
    python, ctad = empty_environment, empty_environment.with_name("ctad")
    assert "ctad/py.typed" in run(python, "-m", "zipfile", "-l", wheel, cwd=tmp_path)
    check_example_output(run(python, "-W", "error", "-c", EXAMPLE, cwd=tmp_path))
    installed = run(python, "-m", "pip", "list", "--format=freeze", cwd=tmp_path)
    assert not {"pandas", "pyod", "torch", "pot"} & set(re.findall(r"^([\w-]+)=", installed, re.M))

    with pytest.raises(subprocess.CalledProcessError) as refused:
        run(ctad, "--help", cwd=tmp_path)
    assert "pip install 'ctad[cli]'" in refused.value.stderr
    install(python, f"{wheel}[cli]")
    run(python, ROOT / "examples" / "orders.py", cwd=tmp_path)
    run(ctad, "fit", "train.csv", "-o", "m.ctad", cwd=tmp_path)
    assert "1,000 rows" in run(ctad, "score", "m.ctad", "new.csv", "-o", "s.parquet", cwd=tmp_path)
    assert "PyOD: pip install 'ctad[pyod]'" in run(ctad, "detectors", cwd=tmp_path)
