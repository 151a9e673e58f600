"""Real tables with text and missing values, and a way to run the command on them."""

import json
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import pandas as pd
import pytest
from rich.progress import Progress as RichProgress
from typer.testing import CliRunner

from ctad.cli._app import app

BUNDLED = files("vega_datasets") / "_data"
SMALL_FOREST = ("--detector-options", "n_estimators=10")


@dataclass(frozen=True)
class RealTable:
    """A table, and what is known about its columns."""

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


@dataclass(frozen=True)
class Done:
    """Exit code and output of a run of the command."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        assert self.out.count("\n") == 1
        return json.loads(self.out)


def run(*words, stdin=None, env=None):
    """Run the command in this process."""
    result = CliRunner().invoke(app, [str(word) for word in words], input=stdin, env=env)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Done(result.exit_code, result.stdout, result.stderr)


@pytest.fixture
def ctad(tmp_path, monkeypatch):
    """Run the command in an empty folder; it has to succeed."""
    monkeypatch.chdir(tmp_path)

    def run_successfully(*words, **options):
        done = run(*words, **options)
        assert done.code == 0, done.err
        return done

    return run_successfully


@pytest.fixture
def terminal(monkeypatch):
    """The environment for a run whose output is taken for a terminal."""

    def update(progress, *args, update=RichProgress.update, **fields):
        update(progress, *args, **fields)
        progress.refresh()  # not only ten times per second

    monkeypatch.setattr(RichProgress, "update", update)
    return {"FORCE_COLOR": "1", "TERM": "xterm", "COLUMNS": "120"}


@pytest.fixture(scope="session")
def cars(tmp_path_factory):
    """A folder with tables of cars and a model of them, for reading only.

    `odd.csv` has labels in column "odd" and scores of another program in column "score".
    """
    folder = tmp_path_factory.mktemp("cars")
    frame = REAL_TABLES["cars"]().frame
    frame.to_csv(folder / "cars.csv", index=False)
    frame.assign(odd=frame["Cylinders"] == 8, score=1.0).to_csv(folder / "odd.csv", index=False)
    assert run("fit", folder / "cars.csv", "-o", folder / "m.ctad", *SMALL_FOREST).code == 0
    return folder


@pytest.fixture
def in_cars(cars, ctad):
    """Links in the current folder to the files of `cars`."""
    link_files(cars)


def link_files(folder):
    """Link the files of a folder, which tests share, into the current folder."""
    for file in folder.iterdir():
        Path(file.name).symlink_to(file)
