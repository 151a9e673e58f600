"""Errors in the input, and bugs."""

import gzip
import re
import sys
from contextlib import chdir

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pytest
import typer
from sklearn.ensemble import IsolationForest

from ctad import CTAD, CalibratedDetector, cli
from ctad.cli._console import command_output
from ctad.errors import InputError, MissingPackageError

from ..data import normal
from .conftest import link_files, run


@pytest.fixture(scope="module")
def bad_files(cars, tmp_path_factory):
    folder = tmp_path_factory.mktemp("bad")
    with chdir(folder):
        link_files(cars)
    (folder / "one.csv").write_text("a,b\n1,2\n")
    (folder / "empty.csv").write_text("")
    (folder / "header.csv").write_text("a,b\n")
    (folder / "more").mkdir()
    (folder / "more" / "a.csv").write_text("a,b\n1,2\n")
    (folder / "mixed").mkdir()
    (folder / "mixed" / "a.csv").write_text("a;b\n1,5;2\n2,5;3\n")
    (folder / "mixed" / "b.csv").write_text("a;b\n1.5;2\n2.5;3\n")
    (folder / "uneven.csv").write_text("a,b\n1,2\n1,2,3\n")
    (folder / "constant.csv").write_text("a,b\n" + "1,2\n" * 50)
    (folder / "broken.parquet").write_bytes(b"PAR1 and nothing else")
    feather = pa.BufferOutputStream()
    pa.feather.write_feather(pa.table({"a": ["some text"] * 50}), feather, "uncompressed")
    damaged = feather.getvalue().to_pybytes().replace(b"some text", b"\xff\x1b[31m!!!")
    (folder / "damaged.feather").write_bytes(damaged)
    (folder / "blank.csv").write_text("a\n1\n\n0\n\n1\n")
    (folder / "line.csv.gz").write_bytes(gzip.compress(b"1" * 20_000_000, 1))
    (folder / "nul.csv.gz").write_bytes(gzip.compress(bytes(20_000_000), 1))
    (folder / "nul.csv").write_bytes(bytes(1000))
    pd.DataFrame({"a": np.arange(50.0), "l": [[1]] * 50}).to_parquet(folder / "lists.parquet")
    (folder / "huge.csv").write_text("a\n" + "1e308\n-1e308\n" * 50)
    frame = pd.read_csv(folder / "cars.csv", dtype=str)
    frame.loc[3, "Weight_in_lbs"] = "heavy"
    frame.to_csv(folder / "text.csv", index=False)
    CTAD().fit(normal(50, 2)).save(folder / "c.ctad")
    CalibratedDetector(IsolationForest(n_estimators=5)).fit(normal(50, 2)).save(folder / "a.ctad")
    return folder


# what is wrong: (arguments, exit code, message)
WRONG = {
    "no such table": ("score m.ctad no.csv -o x.csv", 1, "no.csv: there is no such"),
    "no such model": ("score no.ctad cars.csv -o x.csv", 1, "no.ctad: No such file"),
    "not a model": ("inspect cars.csv", 1, "cars.csv is not a ctad model file"),
    "no such folder": ("fit cars.csv -o no/m.ctad", 1, "no does not exist"),
    "no such column": (
        "fit cars.csv -o x.ctad --ignore x",
        1,
        "cars.csv: the table lacks column 'x'",
    ),
    "text as scores": (
        "calibrate cars.csv cars.csv -o x.csv --score-column Name",
        1,
        "cars.csv: column 'Name' is of type string, but calibration needs numbers",
    ),
    "no such column, and no rows": (
        "score m.ctad header.csv -o x.csv",
        1,
        "header.csv: the table lacks columns",
    ),
    "the input as the output": ("score m.ctad cars.csv -o ./cars.csv", 1, "is an input file and"),
    "no label column": ("fit cars.csv -o x --label x", 1, "lacks column 'x'"),
    "unknown suffix": ("score m.ctad cars.csv -o x.xlsx", 1, "the suffix determines the format"),
    "too few rows": ("fit one.csv -o x.ctad", 1, "one.csv: 1 normal row is too few"),
    "empty file": ("fit empty.csv -o x.ctad", 1, "empty.csv is empty"),
    "no rows": ("fit header.csv -o x.ctad", 1, "0 normal rows are too few"),
    "no feature": ("fit constant.csv -o x.ctad", 1, "constant.csv: no column"),
    "numbers near the largest float": ("fit huge.csv -o x.ctad", 1, "too large to be squared"),
    "damaged file": ("fit broken.parquet -o x.ctad", 1, "broken.parquet cannot be read as Parquet"),
    "text that is not UTF-8": (
        "fit damaged.feather -o x.ctad",
        1,
        "damaged.feather cannot be read as Arrow or Feather: In column 0: Invalid",
    ),
    "blank lines in a single column": (
        "fit blank.csv -o x.ctad --label a",
        1,
        "blank.csv: 2 rows have no label in column 'a'",
    ),
    "an endless line": ("fit line.csv.gz -o x.ctad", 1, "line.csv.gz has a row of more than 16 MB"),
    "an endless line of NULs": ("fit nul.csv.gz -o x.ctad", 1, "gz is not a CSV file of text"),
    "NULs": ("fit nul.csv -o x.ctad", 1, "nul.csv is not a CSV file of text"),
    "a batch of no rows": ("score m.ctad cars.csv -o x.csv --batch-rows 0", 2, "equal to 1"),
    "a batch of too many rows": (
        f"score m.ctad cars.csv -o x.csv --batch-rows {2**31}",
        2,
        "batch_rows must be an integer from 1 to 2147483647",
    ),
    "a batch of more rows than 64 bits can count": (
        f"fit cars.csv -o x.ctad --batch-rows {2**63}",
        2,
        "batch_rows must be an integer from 1 to 2147483647",
    ),
    "uneven rows": ("fit uneven.csv -o x.ctad", 1, "uneven.csv, line 3: this row has 3 fields"),
    "two decimal signs": ("fit mixed -o x.ctad", 1, "b.csv: the files before it have another"),
    "lists as labels": (
        "fit lists.parquet -o x --label l",
        1,
        "lists.parquet: column 'l' cannot be a label column",
    ),
    "other columns": ("score m.ctad one.csv -o x.csv", 1, "one.csv: the table lacks"),
    "text for a number": (
        "score m.ctad text.csv -o x.csv",
        1,
        "text.csv, line 5: column 'Weight_in_lbs' has 'heavy', expected a number",
    ),
    "a calibrator only": ("score c.ctad cars.csv -o x.csv", 1, "without a detector"),
    "a model of an array": ("score a.ctad cars.csv -o x.csv", 1, "trained on an array"),
    "a model over its table": ("fit cars.csv -o cars.csv", 1, "cars.csv is an input file and"),
    "a model over a folder": ("fit more -o more/a.csv", 1, "more/a.csv is an input file and"),
    "a model as a table": ("fit m.ctad -o x.ctad", 1, "m.ctad is a zip archive"),
    "a model to stdout": ("fit cars.csv -o -", 2, "a model is written to a file"),
    "a folder to stdout": ("score m.ctad more -o -", 1, "more may be several files"),
    "a folder to a file": ("score m.ctad more -o x.csv", 1, "'x.csv' is not a folder"),
    "a pattern to a file": ("score m.ctad *.csv -o m.ctad", 1, "'m.ctad' is not a folder"),
    "two stars": ("score m.ctad **.csv -o x", 1, "** must stand alone between slashes"),
    "no output": ("score m.ctad cars.csv", 2, "Missing option"),
    "no such command": ("train", 2, "No such command 'train'"),
    "no such detector": ("fit cars.csv -o x --detector y", 2, "no detector is"),
    "no such calibration": ("fit cars.csv -o x --calibration y", 2, "'y' is not one of"),
    "a delimiter of two letters": ("fit cars.csv -o x --delimiter ab", 2, "one ASCII character"),
    "a delimiter beyond ASCII": ("fit cars.csv -o x --delimiter é", 2, "one ASCII character"),
    "no such encoding": ("fit cars.csv -o x --encoding koi9", 2, "there is no encoding 'koi9'"),
    "no such option": (
        "fit cars.csv -o x --detector-options trees=3",
        2,
        "IsolationForest has no option 'trees'",
    ),
    "half an option": (
        "fit cars.csv -o x --detector-options trees",
        2,
        "'trees' is not of the form name=value",
    ),
    "an option that scikit-learn refuses": (
        "fit cars.csv -o x --detector-options n_estimators=-3",
        1,
        "n_estimators",
    ),
    "an option that PyOD refuses when it is made": (
        "fit cars.csv -o x --detector knn --detector-options contamination=3",
        2,
        "contamination",
    ),
    "an option that PyOD refuses when it is trained": (
        "fit cars.csv -o x --detector knn --detector-options n_neighbors=many",
        1,
        "KNN",
    ),
    "more neighbours than rows": (
        "fit cars.csv -o x --detector lof --detector-options n_neighbors=0",
        1,
        "LOF",
    ),
    "a seed that is not a number": ("fit cars.csv -o x --seed x", 2, "as an integer"),
    "a seed beyond 32 bits": ("fit cars.csv -o x --seed 4294967296", 2, "equal to 4294967295"),
}


@pytest.mark.parametrize("what", WRONG)
def test_errors_say_what_is_wrong_without_a_traceback(what, bad_files, monkeypatch):
    monkeypatch.chdir(bad_files)
    arguments, code, message = WRONG[what]
    done = run(*arguments.split())
    assert done.code == code
    assert message in re.sub(r"[\s│]+", " ", done.err)
    assert "Traceback" not in done.err
    assert done.out == ""
    assert not list(bad_files.glob("x*"))


def test_debug_shows_the_traceback_of_an_error_in_the_input(bad_files, monkeypatch):
    monkeypatch.chdir(bad_files)
    with pytest.raises(InputError, match="there is no such"):
        run("score", "m.ctad", "no.csv", "-o", "x.csv", "--debug")


@pytest.mark.parametrize("error", [ValueError, TypeError, ImportError, NotImplementedError])
def test_bugs_are_not_reported_as_errors_in_the_input(error, cars, monkeypatch):
    def fail(path):
        raise error("a bug")

    monkeypatch.setattr("ctad.persistence.read_manifest", fail)
    with pytest.raises(error, match="a bug"):
        run("inspect", cars / "m.ctad")


@pytest.mark.parametrize(
    "error",
    [InputError("bad"), MissingPackageError("bad"), OSError("bad"), MemoryError("bad")],
    ids=lambda error: type(error).__name__,
)
def test_errors_about_input_and_installation_have_exit_code_1(error, cars, monkeypatch):
    def fail(path):
        raise error

    monkeypatch.setattr("ctad.persistence.read_manifest", fail)
    done = run("inspect", cars / "m.ctad")
    assert (done.code, done.out, done.err) == (1, "", "Error: bad\n")


def test_an_error_without_a_message_has_a_name(capsys):
    with pytest.raises(typer.Exit), command_output(as_json=False, debug=False):
        raise MemoryError
    assert capsys.readouterr().err == "Error: MemoryError\n"


def test_without_its_libraries_the_command_says_how_to_install_them(monkeypatch):
    monkeypatch.setitem(sys.modules, "ctad.cli._app", None)
    with pytest.raises(ModuleNotFoundError):  # a bug is not hidden
        cli.main()
    monkeypatch.delitem(sys.modules, "ctad.cli._app")
    monkeypatch.setitem(sys.modules, "typer", None)
    with pytest.raises(SystemExit, match=r"needs typer. Install it: pip install 'ctad\[cli\]'"):
        cli.main()
