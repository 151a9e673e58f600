"""Three real tables with text and gaps, and a way to run the command on them."""

import json
import os
import pty
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import pytest
from typer.testing import CliRunner

from ctad.cli._app import app

BUNDLED = files("vega_datasets") / "_data"


class RealTable(NamedTuple):
    """A table, and what is known of its columns."""

    frame: pd.DataFrame
    kinds: dict  # of the columns in use
    not_used: set


def _cars():
    cars = pd.read_json(str(BUNDLED / "cars.json"))
    return RealTable(
        cars.assign(Year=pd.to_datetime(cars["Year"])),
        {
            **dict.fromkeys(["Miles_per_Gallon", "Cylinders", "Displacement"], "number"),
            **dict.fromkeys(["Horsepower", "Weight_in_lbs", "Acceleration"], "number"),
            "Year": "date",
            "Origin": "category",
        },
        {"Name"},
    )


def _airports():
    return RealTable(
        pd.read_csv(str(BUNDLED / "airports.csv")),
        {
            **dict.fromkeys(["state", "country"], "category"),
            **dict.fromkeys(["latitude", "longitude"], "number"),
        },
        {"iata", "name", "city"},
    )


def _riots():
    return RealTable(
        pd.read_csv(str(BUNDLED / "la-riots.csv"), parse_dates=["death_date"]),
        {
            **dict.fromkeys(["gender", "race", "type"], "category"),
            **dict.fromkeys(["age", "longitude", "latitude"], "number"),
            "death_date": "date",
        },
        {"first_name", "last_name", "address", "neighborhood"},
    )


REAL_TABLES = {"cars": _cars, "airports": _airports, "riots": _riots}


@pytest.fixture(params=REAL_TABLES)
def real_table(request):
    return REAL_TABLES[request.param]()


class Done(NamedTuple):
    """What a run of the command left."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        assert self.out.count("\n") == 1
        return json.loads(self.out)


def run(*words):
    """Run the command in this process."""
    result = CliRunner().invoke(app, [str(word) for word in words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Done(result.exit_code, result.stdout, result.stderr)


def run_apart(command, **options):
    """Run a line of a shell in a process of its own."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        command,
        shell=True,
        capture_output=True,
        text=True,
        env={**os.environ, "PATH": path, **options},
    )


@pytest.fixture
def ctad(tmp_path, monkeypatch):
    """Run the command in an empty folder; it has to succeed."""
    monkeypatch.chdir(tmp_path)

    def run_well(*words):
        done = run(*words)
        assert done.code == 0, done.err
        return done

    return run_well


def seen_on_a_terminal(*command, cwd=None):
    """What a command that ends well writes to standard error, if that is a terminal."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        command,
        cwd=cwd,
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "120"},
    ) as process:
        os.close(theirs)
        seen = b""
        try:
            while part := os.read(ours, 4096):
                seen += part
        except OSError:  # the other end is closed
            pass
    os.close(ours)
    assert process.returncode == 0
    return seen
