"""How the command behaves: help, exit codes, what it says to people and to scripts."""

import json
import re
import shlex
import shutil
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import IsolationForest

from ctad import CTAD, CalibratedDetector, cli
from ctad.calibration import CALIBRATIONS
from ctad.cli._app import app
from ctad.cli._console import Talk, talking
from ctad.cli._options import detector_options

from ..data import normal
from ..persistence.files import altered
from .conftest import REAL_TABLES, run, run_apart, seen_on_a_terminal

ROOT = Path(__file__).parents[2]
COMMANDS = [command.callback.__name__ for command in app.registered_commands]


@pytest.fixture(scope="module")
def cars(tmp_path_factory):
    """A folder with a model and tables of cars, not to be changed."""
    folder = tmp_path_factory.mktemp("cars")
    frame = REAL_TABLES["cars"]().frame
    frame.to_csv(folder / "cars.csv", index=False)
    frame.assign(odd=frame["Cylinders"] == 8, score=1.0).to_csv(folder / "odd.csv", index=False)
    (folder / "labelled").mkdir()
    (folder / "labelled" / "odd.csv").write_bytes((folder / "odd.csv").read_bytes())
    assert run("fit", folder / "cars.csv", "-o", folder / "m.ctad").code == 0
    return folder


EXAMPLES = [
    line for command in app.registered_commands for line in re.findall(r"`(.*?)`", command.epilog)
]


@pytest.fixture(scope="module")
def example_files(tmp_path_factory):
    """A folder with all that the examples of the help name."""
    at = tmp_path_factory.mktemp("examples")
    frame = REAL_TABLES["cars"]().frame.assign(id=range(406), is_fraud=0, score=1.0)
    frame.loc[:20, "is_fraud"] = 1
    for folder in ("incoming", "mine"):
        (at / folder).mkdir()
    for name in ("train", "new", "test", "incoming/a", "mine/cars"):
        frame.to_parquet(at / f"{name}.parquet")
    for name in ("train.csv", "new.csv", "new.csv.gz"):
        frame.to_csv(at / name, index=False)
    fitted = run("fit", at / "train.parquet", "-o", at / "model.ctad", "--label", "is_fraud")
    assert fitted.code == 0
    return at


@pytest.mark.parametrize("line", EXAMPLES)
def test_every_example_of_the_help_runs(line, example_files, tmp_path, monkeypatch):
    monkeypatch.chdir(shutil.copytree(example_files, tmp_path / "copy"))
    if "--from" in line:
        shutil.copytree(ROOT / "results", "results", ignore=shutil.ignore_patterns("scores"))
    words = shlex.split(line)
    if "|" in words:
        done = run_apart(line)
        assert done.returncode == 0, done.stderr
    else:
        done = run(*words[1:])
        assert done.code == 0, done.err
    if "-o" in words and words[words.index("-o") + 1] != "-":
        assert Path(words[words.index("-o") + 1]).exists()


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(command):
    done = run(command, "--help")
    assert done.code == 0
    assert "Usage" in done.out
    assert f"ctad {command}" in done.out.split("Example")[1]


def test_the_help_names_the_calibrations():
    said = re.search(r"How to calibrate:\W+(\w+)\W+\w+\W+or\W+(\w+)", run("fit", "-h").out)
    assert set(said.groups()) == set(CALIBRATIONS)


# what is wrong: (arguments, exit code, message)
WRONG = {
    "no such table": (["score", "m.ctad", "no.csv", "-o", "x.csv"], 1, "no.csv: there is no such"),
    "no such model": (["score", "no.ctad", "cars.csv", "-o", "x.csv"], 1, "no.ctad: No such file"),
    "not a model": (["inspect", "cars.csv"], 1, "cars.csv is not a ctad model file"),
    "no such folder": (["fit", "cars.csv", "-o", "no/m.ctad"], 1, "no does not exist"),
    "no such column": (["fit", "cars.csv", "-o", "x.ctad", "--ignore", "x"], 1, "lacks column 'x'"),
    "no label column": (["fit", "cars.csv", "-o", "x", "--label", "x"], 1, "lacks column 'x'"),
    "odd output": (
        ["score", "m.ctad", "cars.csv", "-o", "x.xlsx"],
        1,
        "the suffix says the format",
    ),
    "too few rows": (["fit", "one.csv", "-o", "x.ctad"], 1, "one.csv: 1 normal row is too few"),
    "no table": (["fit", "empty.csv", "-o", "x.ctad"], 1, "empty.csv"),
    "other columns": (["score", "m.ctad", "one.csv", "-o", "x.csv"], 1, "one.csv: the table lacks"),
    "text for a number": (
        ["score", "m.ctad", "text.csv", "-o", "x.csv"],
        1,
        "text.csv, line 5: column 'Weight_in_lbs' has 'heavy', expected a number",
    ),
    "a calibrator only": (["score", "c.ctad", "cars.csv", "-o", "x.csv"], 1, "without detector"),
    "an array's model": (["score", "a.ctad", "cars.csv", "-o", "x.csv"], 1, "trained on an array"),
    "bad option": (
        ["fit", "cars.csv", "-o", "x", "--detector-options", "n_estimators=-3"],
        1,
        "n_estimators",
    ),
    "no output": (["score", "m.ctad", "cars.csv"], 2, "Missing option"),
    "no such command": (["train"], 2, "No such command 'train'"),
    "no such detector": (["fit", "cars.csv", "-o", "x", "--detector", "y"], 2, "no detector is"),
    "no such preset": (
        ["fit", "cars.csv", "-o", "x", "--calibration", "y"],
        2,
        "'y' is not one of",
    ),
    "no such option": (
        ["fit", "cars.csv", "-o", "x", "--detector-options", "trees=3"],
        2,
        "IsolationForest has no option 'trees'",
    ),
    "a model over its table": (["fit", "cars.csv", "-o", "cars.csv"], 1, "cars.csv is read and"),
    "a model over a folder": (["fit", "more", "-o", "more/a.csv"], 1, "more/a.csv is read and"),
    "a model as a table": (["fit", "m.ctad", "-o", "x.ctad"], 1, "m.ctad is packed as a zip"),
    "a model to nowhere": (["fit", "cars.csv", "-o", "-"], 2, "a model is written to a file"),
    "a folder to stdout": (["score", "m.ctad", "more", "-o", "-"], 1, "more may be several files"),
    "a folder to a file": (["score", "m.ctad", "more", "-o", "x.csv"], 1, "'x.csv' is none"),
    "a folder to no folder": (["score", "m.ctad", "*.csv", "-o", "m.ctad"], 1, "'m.ctad' is none"),
    "an early end": (["fit", "header.csv", "-o", "x.ctad"], 1, "0 normal rows are too few"),
    "a long delimiter": (["fit", "cars.csv", "-o", "x", "--delimiter", "ab"], 2, "nor tab"),
    "half an option": (
        ["fit", "cars.csv", "-o", "x", "--detector-options", "trees"],
        2,
        "'trees' is not of the form name=value",
    ),
    "a seed that is none": (["fit", "cars.csv", "-o", "x", "--seed", "x"], 2, "as an integer"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_is_said_without_a_traceback(what, cars, monkeypatch):
    monkeypatch.chdir(cars)
    (cars / "one.csv").write_text("a,b\n1,2\n")
    (cars / "empty.csv").write_text("")
    (cars / "header.csv").write_text("a,b\n")
    (cars / "more").mkdir(exist_ok=True)
    (cars / "more" / "a.csv").write_text("a,b\n1,2\n")
    frame = pd.read_csv(cars / "cars.csv", dtype=str)
    frame.loc[3, "Weight_in_lbs"] = "heavy"
    frame.to_csv(cars / "text.csv", index=False)
    CTAD().fit(normal(50, 2)).save(cars / "c.ctad")
    CalibratedDetector(IsolationForest()).fit(normal(50, 2)).save(cars / "a.ctad")
    arguments, code, message = WRONG[what]
    done = run(*arguments)
    assert done.code == code
    assert message in re.sub(r"[\s│]+", " ", done.err)
    assert "Traceback" not in done.err
    assert done.out == ""
    assert not list(cars.glob("x*"))


def test_a_run_ends_well_before_its_input_does(cars):
    """Whoever reads has seen enough, while the input goes on."""
    slow = f"(cat {cars}/cars.csv; for i in $(seq 1000); do tail -n +2 {cars}/cars.csv; done)"
    score = f"ctad score {cars}/m.ctad - -o - --batch-rows 100; echo $? >&2"
    for _ in range(2):
        done = run_apart(f"{slow} 2>/dev/null | ({score}) | head -1")
        assert done.stdout.startswith("Name,")
        assert done.stderr == "0\n"


def test_what_is_piped_in_must_be_a_csv(cars, tmp_path):
    pd.read_csv(cars / "cars.csv").to_parquet(tmp_path / "cars.parquet")
    done = run_apart(f"cat {tmp_path}/cars.parquet | ctad score {cars}/m.ctad - -o -")
    assert done.returncode == 1
    assert "must be a CSV: what is piped in is Parquet or Arrow" in done.stderr


def test_the_clock_of_the_bar_starts_with_the_file(monkeypatch):
    times = iter([0.0, 0.0, 2.0, 4.0, 5.0, 9.0, 9.0, 9.0])
    monkeypatch.setattr("ctad.cli._console.monotonic", lambda: next(times))
    rates = []
    monkeypatch.setattr(
        "ctad.cli._console.Progress.update", lambda *_, rate, **__: rates.append(rate)
    )
    with Talk(False, None).progress("Scoring") as watch:
        watch(100, 1, 2, "a")
        watch(200, 2, 2, "a")
        watch(30, 1, 1, "b")
    assert rates == [50, 50, 30]


def test_options_of_a_detector_may_be_lists():
    assert detector_options(["a=[1,2],b=none", "c=x , d=0.5"]) == {
        **{"a": [1, 2], "b": None},
        **{"c": "x", "d": 0.5},
    }


def test_exit_codes_of_the_real_command(cars):
    assert run_apart(f"ctad score {cars}/m.ctad {cars}/cars.csv -o {cars}/s.csv").returncode == 0
    bad = run_apart(f"ctad inspect {cars}/cars.csv")
    assert (bad.returncode, bad.stdout) == (1, "")
    assert bad.stderr.count("\n") == 1
    assert run_apart("ctad score").returncode == 2
    assert run_apart("python -m ctad --version").stdout.startswith("ctad ")


SCRIPTED = {
    "fit": ["fit", "cars.csv", "-o", "j.ctad", "--detector", "ecod"],
    "score": ["score", "m.ctad", "cars.csv", "-o", "j.csv"],
    "calibrate": ["calibrate", "odd.csv", "odd.csv", "-o", "j.csv", "--ignore", "odd"],
    "evaluate": ["evaluate", "m.ctad", "odd.csv", "--label", "odd"],
    "report": ["report", "m.ctad", "odd.csv", "-o", "j.html"],
    "inspect": ["inspect", "m.ctad"],
    "theory": ["theory", "m.ctad"],
    "detectors": ["detectors"],
    "datasets": ["datasets"],
    "paper": [
        *("paper", "--data-dir", "labelled", "--label", "odd", "--detectors", "knn"),
        *("--seeds", "1"),
    ],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_script_gets_one_line_of_json_and_nothing_else(command, cars, monkeypatch):
    monkeypatch.chdir(cars)
    done = run(*SCRIPTED[command], "--json")
    assert done.code == 0
    assert done.err == ""
    result = done.json
    assert {"seconds", "notices"} < result.keys()
    if command == "fit":
        assert [notice[:8] for notice in result["notices"]] == ["not used", "ECOD sco"]


def test_scores_that_depend_on_the_batch_are_told_of(cars, tmp_path):
    assert run("fit", cars / "cars.csv", "-o", tmp_path / "e.ctad", "--detector", "ecod").code == 0
    done = run("score", tmp_path / "e.ctad", cars / "cars.csv", "-o", tmp_path / "s.csv")
    assert "Note: ECOD scores a row differently in a different batch" in done.err


def test_json_goes_to_standard_error_where_the_data_goes_to_standard_output(cars):
    done = run("score", cars / "m.ctad", cars / "cars.csv", "-o", "-", "--json")
    assert done.out.startswith("Name,")
    assert json.loads(done.err)["rows"] == 406


def test_a_person_is_told_what_became_of_the_columns(cars):
    done = run("fit", cars / "cars.csv", "-o", cars / "p.ctad")
    assert done.err == "Note: not used: 'Name' (text that hardly repeats).\n"
    said = [line.split() for line in done.out.splitlines()]
    assert ["Name", "not", "used:", "text", "that", "hardly", "repeats"] in said
    assert ["Horsepower", "number", "2"] in said  # and where it is missing
    assert ["Origin", "category", "3"] in said


def test_inspect_shows_the_manifest(cars):
    done = run("inspect", cars / "m.ctad")
    for words in ("IsolationForest", "CTAD(", "325", "81", "numpy", "all checksums agree"):
        assert words in done.out
    assert ["Year", "date", "date32[day]"] in [line.split() for line in done.out.splitlines()]
    assert run("inspect", cars / "m.ctad", "--json").json["columns"][0]["kind"] == "number"


@pytest.mark.parametrize(
    "odd",
    [
        {"columns": [{"name": "x", "kind": 3}]},
        {"columns": [1]},
        {"state": {"detector": 5}},
        {"versions": {"numpy": ["1"]}, "columns": [{"name": "x"}]},
    ],
)
def test_a_manifest_of_another_shape_is_refused(odd, cars, tmp_path):
    altered(cars / "m.ctad", tmp_path / "odd.ctad", odd)
    done = run("inspect", tmp_path / "odd.ctad")
    assert done.code == 1
    assert "odd.ctad is damaged or was altered" in done.err


def test_a_manifest_does_nothing_to_the_terminal(cars, tmp_path):
    altered(cars / "m.ctad", tmp_path / "odd.ctad", {"created": "\x1b[2Jnow", "ctad": "\x07"})
    assert "\N{REPLACEMENT CHARACTER}[2Jnow" in run("inspect", tmp_path / "odd.ctad").out


def test_inspect_of_a_calibrator(tmp_path):
    CTAD(weight=0.5).fit(normal(50, 2)).save(tmp_path / "c.ctad")
    assert "weight=0.5" in run("inspect", tmp_path / "c.ctad").out


def test_columns_may_be_called_anything(tmp_path):
    odd = "[red]a[/] :smile: <script>"
    random = np.random.default_rng(0)
    pd.DataFrame({odd: random.normal(size=50), "b": 1}).to_csv(tmp_path / "t.csv", index=False)
    done = run("fit", tmp_path / "t.csv", "-o", tmp_path / "m.ctad")
    assert odd in done.out
    assert odd in run("inspect", tmp_path / "m.ctad").out


def test_detectors_are_listed_and_those_not_installed_say_how_to_get_them(monkeypatch):
    done = run("detectors")
    assert "IForest" in done.out
    assert "pip install" not in done.out
    monkeypatch.setattr("ctad.detectors._registry.find_spec", lambda name: None)
    assert "PyOD: pip install 'ctad[pyod]'" in run("detectors").out


@pytest.mark.parametrize(
    ("words", "completions"),
    [
        ("ctad fit --detector ifo", {"iforest"}),
        ("ctad fit --calibration pa", {"paper"}),
        ("ctad ev", {"evaluate"}),
    ],
)
def test_the_shell_completes(words, completions):
    done = run_apart(
        "ctad",
        _CTAD_COMPLETE="complete_bash",
        COMP_WORDS=words,
        COMP_CWORD=str(len(words.split()) - 1),
    )
    assert set(done.stdout.split()) == completions


@pytest.mark.parametrize(
    "arguments",
    [
        ["score", "m.ctad", "cars.csv", "-o", "b.csv", "--batch-rows", "20"],
        ["evaluate", "m.ctad", "odd.csv", "--label", "odd"],
        ["fit", "cars.csv", "-o", "b.ctad"],
    ],
)
def test_a_person_sees_a_bar(arguments, cars):
    """On a terminal, which this gives to the command."""
    seen = seen_on_a_terminal(sys.executable, "-m", "ctad", *arguments, cwd=cars)
    assert b"rows/s" in seen
    assert arguments[0] != "fit" or b"left:" in seen


def test_without_its_libraries_the_command_says_how_to_get_them(monkeypatch):
    monkeypatch.setitem(sys.modules, "ctad.cli._app", None)
    with pytest.raises(ModuleNotFoundError):  # a fault of ours is not hidden
        cli.main()
    monkeypatch.delitem(sys.modules, "ctad.cli._app")
    monkeypatch.setitem(sys.modules, "typer", None)
    with pytest.raises(SystemExit, match=r"needs typer: pip install 'ctad\[cli\]' brings it"):
        cli.main()


def test_faults_of_ours_are_not_taken_for_bad_input():
    with pytest.raises(ZeroDivisionError), talking(False):
        1 / 0  # noqa: B018


def test_a_notice_is_given_once(capsys):
    talk = Talk(as_json=False, output=None)
    talk.notice("a")
    talk.notice("a")
    assert capsys.readouterr().err == "Note: a\n"


def test_help_is_quick_because_it_imports_little():
    code = "import sys; import ctad.cli._app; print({*sys.modules} & {'sklearn', 'pyarrow'})"
    assert run_apart(f'python -c "{code}"').stdout == "set()\n"
