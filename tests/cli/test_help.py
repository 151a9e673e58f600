"""Help, the examples in it, and completion by the shell."""

import gzip
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ctad.calibration import CALIBRATIONS
from ctad.cli._app import app
from ctad.cli._options import detector_options

from .conftest import REAL_TABLES, SMALL_FOREST, run

COMMANDS = [command.callback.__name__ for command in app.registered_commands]
EXAMPLES = [
    line for command in app.registered_commands for line in re.findall(r"`(.*?)`", command.epilog)
]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(command):
    done = run(command, "--help")
    assert done.code == 0
    assert "Usage" in done.out
    assert "--debug" in done.out
    assert f"ctad {command}" in done.out.split("Example")[1]


def test_without_arguments_the_command_shows_its_help():
    assert "Usage: ctad" in run().err + run().out
    assert "--debug" in run("--help").out


def test_the_help_names_the_calibrations():
    named = re.search(r"How to calibrate:\W+(\w+)\W+\w+\W+or\W+(\w+)", run("fit", "-h").out)
    assert set(named.groups()) == set(CALIBRATIONS)


@pytest.fixture(scope="module")
def example_files(tmp_path_factory):
    """A folder with all files of the examples."""
    folder = tmp_path_factory.mktemp("examples")
    frame = REAL_TABLES["cars"]().frame.head(150).assign(id=range(150), is_fraud=0, score=1.0)
    frame.loc[:20, "is_fraud"] = 1
    for name in ("incoming", "mine"):
        (folder / name).mkdir()
    for name in ("train", "new", "test", "incoming/a", "mine/cars"):
        frame.to_parquet(folder / f"{name}.parquet")
    for name in ("train.csv", "new.csv", "new.csv.gz", "table.csv"):
        frame.to_csv(folder / name, index=False)
    words = ("-o", folder / "model.ctad", "--label", "is_fraud", *SMALL_FOREST)
    assert run("fit", folder / "train.parquet", *words).code == 0
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("line", EXAMPLES)
def test_examples_run(line, example_files, tmp_path, monkeypatch, in_this_process):
    monkeypatch.chdir(shutil.copytree(example_files, tmp_path / "copy"))
    words = shlex.split(line)
    rows = None
    if "|" in words:  # zcat FILE | ctad ... | head
        rows = gzip.decompress(Path(words[1]).read_bytes())
        words = words[3:-2]
    done = run(*words[1:], stdin=rows)
    assert done.code == 0, done.err
    if "-o" in words and words[words.index("-o") + 1] != "-":
        assert Path(words[words.index("-o") + 1]).exists()


@pytest.mark.parametrize(
    ("words", "completions"),
    [
        ("ctad fit --detector ifo", {"iforest"}),
        ("ctad fit --calibration pa", {"paper"}),
        ("ctad fit --training n", {"normal"}),
        ("ctad datasets wi", {"wilt", "wine"}),
        ("ctad ev", {"evaluate"}),
    ],
)
def test_the_shell_completes(words, completions):
    done = run(
        env={
            "_CTAD_COMPLETE": "complete_bash",
            "COMP_WORDS": words,
            "COMP_CWORD": str(len(words.split()) - 1),
        }
    )
    assert set(done.out.split()) == completions


def test_help_is_quick_because_it_imports_little():
    code = "import sys, ctad.cli._app; print({*sys.modules} & {'sklearn', 'pyarrow', 'numpy'})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "set()\n"


def test_options_of_a_detector_may_be_lists():
    assert detector_options(["a=[1,2],b=none", "c=x , d=0.5"]) == {
        **{"a": [1, 2], "b": None},
        **{"c": "x", "d": 0.5},
    }
