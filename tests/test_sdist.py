"""The source distribution contains what its tests need."""

import os
import subprocess
import sys
import tarfile
import venv
from pathlib import Path
from sysconfig import get_path

import pytest

ROOT = Path(__file__).parents[1]

pytestmark = pytest.mark.packaging


def run(*command, cwd):
    """The output of a command; a failure shows all of it."""
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        # Fewer random examples: what they check does not depend on the distribution.
        env={**os.environ, "PYTHONPATH": "", "CTAD_TEST_EXAMPLES": "15"},
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def sdist(tmp_path_factory):
    """The unpacked source distribution and its archive."""
    folder = tmp_path_factory.mktemp("sdist")
    run(
        sys.executable,
        "-m",
        "build",
        "--sdist",
        "--no-isolation",
        "--outdir",
        folder,
        ROOT,
        cwd=ROOT,
    )
    [archive] = folder.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        opened.extractall(folder, filter="data")
    [unpacked] = (path for path in folder.iterdir() if path.is_dir())
    return unpacked, archive


@pytest.fixture(scope="module")
def python(sdist, tmp_path_factory):
    """Python of a new environment with ctad from the archive.

    CI also installs all packages it depends on anew, which takes a minute. Elsewhere they are those
    of this environment.
    """
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    install = (python, "-m", "pip", "install", "--quiet")
    if os.environ.get("CI"):
        constrained = (*install, "--constraint", ROOT / "constraints.txt")
        run(*constrained, "torch==2.13.0", cwd=folder)  # as in the Makefile
        run(*constrained, f"{sdist[1]}[dev]", cwd=folder)
        return python
    find = "import sysconfig; print(sysconfig.get_path('purelib'))"
    packages = Path(run(python, "-c", find, cwd=folder).strip())
    # A line of a .pth file adds a folder without its .pth files, so without the editable ctad.
    (packages / "dependencies.pth").write_text(get_path("purelib"))
    run(*install, "--no-deps", "--no-build-isolation", sdist[1], cwd=folder)
    return python


def test_it_contains_no_data_and_no_caches(sdist):
    suffixes = {path.suffix for path in sdist[0].rglob("*") if path.is_file()}
    assert not suffixes & {".npz", ".mat", ".pyc", ".csv.gz"}
    size = sdist[1].stat().st_size
    assert size < 8e6, f"{size:,} bytes"


def test_its_quick_tests_pass(sdist, python):
    unpacked, _ = sdist
    imported = run(python, "-c", "import ctad; print(ctad.__file__)", cwd=unpacked.parent)
    assert Path(imported.strip()).is_relative_to(python.parents[1])
    command = (
        "-m",
        "pytest",
        "-q",
        "-m",
        "not slow and not packaging",
        "--numprocesses",
        "2",
        "--dist",
        "loadfile",
        "tests",
    )
    output = run(python, *command, cwd=unpacked)
    assert " passed" in output
