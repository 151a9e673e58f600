"""The command in real processes: exit codes, pipes, a terminal."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

BUG = """
import ctad.persistence
from ctad.cli import main
def read_manifest(path): raise TypeError("a bug")
ctad.persistence.read_manifest = read_manifest
main()
"""


def test_exit_codes_of_real_processes(cars):
    def run_process(*command):
        return subprocess.run(command, capture_output=True, text=True)

    bad = run_process(sys.executable, "-m", "ctad", "inspect", str(cars / "cars.csv"))
    assert (bad.returncode, bad.stdout) == (1, "")
    assert bad.stderr.startswith("Error: ")
    assert bad.stderr.count("\n") == 1
    bug = run_process(sys.executable, "-c", BUG, "inspect", str(cars / "m.ctad"))
    assert (bug.returncode, bug.stdout) == (1, "")
    assert bug.stderr.startswith("Traceback ")
    assert bug.stderr.endswith("TypeError: a bug\n")
    command = Path(sys.executable).with_name("ctad")
    assert run_process(command, "score").returncode == 2
    version = run_process(command, "--version")
    assert (version.returncode, version.stderr) == (0, "")
    assert version.stdout.startswith("ctad ")


def test_nobody_reads_the_output(cars):
    """As in `ctad inspect model.ctad | true`."""
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "ctad", "inspect", cars / "m.ctad"]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize(
    "words",
    ["--version", "detectors drl --json", "inspect m.ctad", "score m.ctad cars.csv -o -"],
)
def test_the_disk_of_the_output_is_full(cars, words):
    """As in `ctad inspect model.ctad > /full/disk/file`."""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "ctad", *words.split()],
            **{"cwd": cars, "env": env, "stdout": full, "stderr": subprocess.PIPE, "text": True},
        )
    assert done.returncode == 1
    assert done.stderr == "Error: standard output: No space left on device\n"


def test_standard_output_is_closed(cars):
    """As in `ctad score model.ctad new.csv -o - >&-`."""
    command = f"exec {sys.executable} -m ctad score m.ctad cars.csv -o - >&-"
    done = subprocess.run(["sh", "-c", command], cwd=cars, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1
    assert done.stderr == "Error: standard output: Bad file descriptor\n"


def test_the_reader_of_the_output_closes_it_while_the_input_goes_on(cars):
    """As `head` does: the command ends, without an error. Meanwhile a terminal shows the bar."""
    header, _, rows = (cars / "cars.csv").read_bytes().partition(b"\n")
    terminal, stderr = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "ctad", "score", cars / "m.ctad", "-", "-o", "-", "--batch-rows=99"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=stderr,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "120"},
    ) as process:
        os.close(stderr)
        process.stdin.write(header + b"\n" + rows * 60)  # more than a megabyte, then silence
        process.stdin.flush()
        assert process.stdout.readline().startswith(header)
        process.stdout.close()
        seen = b""
        try:
            while part := os.read(terminal, 4096):
                seen += part
        except OSError:  # the process has ended
            pass
        assert process.wait(10) == 0
    os.close(terminal)
    assert b"Scoring standard input" in seen
    assert b"rows/s" in seen
    assert b"Traceback" not in seen
