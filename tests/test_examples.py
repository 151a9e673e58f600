"""The example scripts run as they are, and print what their page shows."""

import re
import runpy
import shlex
import warnings
from contextlib import chdir, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import NamedTuple

import matplotlib
import matplotlib.pyplot as plt
import pandas as pd
import pytest
from sklearn.metrics import average_precision_score

from .cli.conftest import run

ROOT = Path(__file__).parents[1]
SECTIONS = (ROOT / "docs" / "examples.md").read_text(encoding="utf-8").split("\n## ")[1:]
NAMES = ("fraud", "sensors", "embeddings", "other_models")
NUMBER = r"\d+(?:\.\d+)?"

matplotlib.use("Agg")  # no windows


class Example(NamedTuple):
    """A script that has run, in a folder of its own, and its section of the page."""

    name: str
    folder: Path
    printed: str
    section: str


@pytest.fixture(scope="module", params=NAMES)
def example(request, tmp_path_factory):
    name, folder, printed = request.param, tmp_path_factory.mktemp("example"), StringIO()
    script = str(ROOT / "examples" / f"{name}.py")
    with (
        pytest.MonkeyPatch.context() as patch,
        warnings.catch_warnings(action="error"),
        chdir(folder),
        redirect_stdout(printed),
    ):
        patch.setattr("sys.argv", [script])
        runpy.run_path(script, run_name="__main__")
    plt.close("all")
    return Example(name, folder, printed.getvalue(), SECTIONS[NAMES.index(name)])


def test_the_page_shows_what_is_printed(example):
    [shown] = re.findall(r"```text\n(.*?)```", example.section, flags=re.DOTALL)
    texts = example.printed, shown
    words, words_shown = (re.sub(NUMBER, "#", text).split() for text in texts)
    numbers, numbers_shown = ([float(n) for n in re.findall(NUMBER, text)] for text in texts)
    assert words == words_shown
    assert numbers == pytest.approx(numbers_shown, abs=0.02)


def test_the_page_has_picture_and_code(example):
    assert f"](examples/{example.name}.png)\n" in example.section
    assert f"```{{literalinclude}} ../examples/{example.name}.py\n" in example.section


def test_the_picture_is_one(example):
    assert example.printed.count(f": {example.name}.png\n") == 1
    picture = f"{example.name}.png"
    for path in (example.folder / picture, ROOT / "docs" / "examples" / picture):
        assert 10_000 < path.stat().st_size < 100_000
        height, width, _ = plt.imread(path, format="png").shape
        assert 900 <= width <= 1200
        assert 250 <= height <= 800


@pytest.mark.parametrize("example", ["other_models"], indirect=True)
def test_the_printed_command_gives_the_same_scores(example):
    [command] = re.findall(r"^ctad (.*)$", example.printed, flags=re.M)
    with chdir(example.folder):
        assert run(*shlex.split(command)).code == 0
        rows = pd.read_csv("calibrated.csv")
    [after] = re.findall(r"after +AUC-PR ([\d.]+)", example.printed)
    by_command = average_precision_score(rows["malignant"], rows["ctad_score"])
    assert by_command == pytest.approx(float(after), abs=0.0005)
