"""Results, notes and the progress bar, for people and for scripts."""

import json
from io import StringIO

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from ctad._progress import Progress
from ctad.cli._console import CommandOutput
from ctad.cli._progress_bar import ProgressBar

from .conftest import SMALL_FOREST, run
from .test_help import COMMANDS

FOR_SCRIPTS = {
    "fit": "fit cars.csv -o j.ctad --detector ecod",
    "score": "score m.ctad cars.csv -o j.csv",
    "calibrate": "calibrate odd.csv odd.csv -o j.csv --ignore odd",
    "evaluate": "evaluate m.ctad odd.csv --label odd --resamples 50",
    "report": "report m.ctad odd.csv -o j.html",
    "inspect": "inspect m.ctad",
    "theory": "theory m.ctad",
    "detectors": "detectors",
    "datasets": "datasets",
    "benchmark": "benchmark odd.csv --label odd --detectors knn --seeds 1",
}


@pytest.mark.parametrize("command", COMMANDS)
def test_scripts_get_one_line_of_json_and_nothing_else(command, in_cars, in_this_process):
    done = run(*FOR_SCRIPTS[command].split(), "--json", env={"FORCE_COLOR": "1"})
    assert done.code == 0
    assert done.err == ""
    result = done.json
    assert {"seconds", "notices"} < result.keys()
    if command == "fit":
        assert [notice[:8] for notice in result["notices"]] == ["not used", "ECOD sco"]


def test_json_goes_to_standard_error_if_the_data_goes_to_standard_output(cars):
    done = run("score", cars / "m.ctad", cars / "cars.csv", "-o", "-", "--json")
    assert done.out.startswith("Name,")
    assert json.loads(done.err)["rows"] == 406


def test_a_note_says_if_scores_depend_on_the_batch(in_cars):
    assert run("fit", "cars.csv", "-o", "e.ctad", "--detector", "ecod").code == 0
    done = run("score", "e.ctad", "cars.csv", "-o", "s.csv")
    assert "Note: ECOD scores a row differently in a different batch" in done.err


def test_fit_shows_the_kinds_of_the_columns(in_cars):
    done = run("fit", "cars.csv", "-o", "p.ctad", *SMALL_FOREST)
    assert done.err == "Note: not used: 'Name' (text that hardly repeats).\n"
    lines = [line.split() for line in done.out.splitlines()]
    assert ["Name", "not", "used:", "text", "that", "hardly", "repeats"] in lines
    assert ["Horsepower", "number", "2"] in lines  # and whether it is missing
    assert ["Origin", "category", "3"] in lines


def test_columns_may_have_any_name(tmp_path):
    odd = "[red]a[/] :smile: <script>"
    random = np.random.default_rng(0)
    pd.DataFrame({odd: random.normal(size=50), "b": 1}).to_csv(tmp_path / "t.csv", index=False)
    done = run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.ctad", *SMALL_FOREST)
    assert odd in done.out
    assert odd in run("inspect", tmp_path / "m.ctad").out


def test_a_note_is_printed_once(capsys):
    out = CommandOutput()
    out.note("a")
    out.note("a")
    assert capsys.readouterr().err == "Note: a\n"


class Bar(ProgressBar):
    """A bar on a terminal whose lines can be read."""

    def __init__(self):
        self._screen = StringIO()
        console = Console(file=self._screen, force_terminal=True, width=120, color_system=None)
        super().__init__(console, enabled=True)

    def line(self, *now):
        self.show(Progress(*now))
        start = self._screen.tell()
        self._bar.refresh()
        self._screen.seek(start)
        text = self._screen.read().rpartition("\r")[2]
        return text.replace("\x1b[2K", "").partition("left:")[0]


@pytest.fixture
def bar(monkeypatch):
    bar = Bar()
    bar.seconds = 0.0
    monkeypatch.setattr("ctad.cli._progress_bar.monotonic", lambda: bar.seconds)
    yield bar
    bar.stop()


def test_the_bar_shows_rows_per_second_of_each_file(bar):
    assert "rows" not in bar.line("Scoring a", 0, 200, 0)
    bar.seconds = 2.0
    line = bar.line("Scoring a", 100, 200, 100)
    assert "Scoring a" in line
    assert "50 %, 100 rows, 50 rows/s" in line
    bar.seconds = 4.0
    assert "100 %, 200 rows, 50 rows/s" in bar.line("Scoring a", 200, 200, 200)
    bar.seconds = 5.0
    bar.line("Scoring b", 0, 200, 0)
    bar.seconds = 6.0
    assert " 30 rows, 30 rows/s" in bar.line("Scoring b", 30, 200, 30)


def test_the_bar_of_a_pipe_has_no_percentage(bar):
    bar.line("Scoring standard input", 0, None, 0)
    bar.seconds = 1.0
    line = bar.line("Scoring standard input", 5000, None, 70)
    assert " 70 rows, 70 rows/s" in line
    assert "%" not in line


def test_the_bar_counts_steps_and_returns_to_the_outer_one(bar):
    assert "Training on 9 rows" in bar.line("Training on 9 rows", 0, None)
    assert "1/4" in bar.line("Finding centroids", 1, 4)
    assert "Training on 9 rows" in bar.line("Finding centroids", 4, 4)
    bar.line("Training on 9 rows", 1, 1)
    assert "4/4" in bar.line("Finding centroids", 4, 4)


def test_the_description_may_change_within_a_step(bar):
    bar.line("KNN on wine", 1, 4)
    task = bar._task
    assert "2/4" in bar.line("LOF on wine", 2, 4)
    assert bar._task == task
    assert "1/4" in bar.line("KNN on wine", 1, 4)
    assert bar._task != task


@pytest.mark.parametrize(
    ("arguments", "steps"),
    [
        ("score m.ctad cars.csv -o b.csv --batch-rows 100", ["Scoring cars.csv", "rows/s"]),
        ("evaluate m.ctad odd.csv --label odd --resamples 50", ["Scoring odd.csv", "Resampling"]),
        ("fit cars.csv -o b.ctad", ["Reading cars.csv", "Training IsolationForest on 406 rows"]),
        ("report m.ctad cars.csv -o b.html", ["Reading cars.csv", "Explaining 406 rows"]),
    ],
)
def test_commands_show_a_bar_on_a_terminal(arguments, steps, in_cars, terminal):
    done = run(*arguments.split(), env=terminal)
    assert done.code == 0
    for step in steps:
        assert step in done.err
    assert not any(step in done.out for step in steps)
