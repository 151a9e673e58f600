"""The example scripts run as they are, and print what README and their page show."""

import re
import shlex
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
import pytest
from sklearn.metrics import average_precision_score

from .cli.conftest import run
from .docs.pages import PAGES, README, ROOT, assert_same_output
from .scripts import run_script

pytestmark = pytest.mark.slow

SECTIONS = PAGES["examples"].text.split("\n## ")[1:]
SCRIPTS = ROOT / "examples"
NAMES = ("fraud", "sensors", "embeddings", "other_models")


@dataclass(frozen=True)
class Example:
    """A script that has run in its own folder, and its section of the page."""

    name: str
    folder: Path
    printed: str
    section: str


@pytest.fixture(scope="module", params=NAMES)
def example(request, tmp_path_factory):
    name, folder = request.param, tmp_path_factory.mktemp("example")
    with chdir(folder):
        printed = run_script(SCRIPTS / f"{name}.py")
    return Example(name, folder, printed, SECTIONS[NAMES.index(name)])


def test_the_page_shows_what_is_printed(example):
    [shown] = re.findall(r"```text\n(.*?)```", example.section, flags=re.DOTALL)
    assert_same_output(example.printed, shown)


def test_the_page_has_picture_and_code(example):
    assert f"](examples/{example.name}.png)\n" in example.section
    assert f"```{{literalinclude}} ../examples/{example.name}.py\n" in example.section


def test_the_picture_has_a_sensible_size(example):
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


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """The folder and the output of `make demo`."""
    folder = tmp_path_factory.mktemp("demo")
    with chdir(folder):
        return folder, run_script(SCRIPTS / "demo.py")


def test_the_demo_writes_a_picture_and_a_report_and_says_how_to_open_it(demo):
    folder, printed = demo
    picture, page = folder / "demo.png", folder / "report.html"
    assert f": {picture}\n" in printed
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.stat().st_size > 20_000
    assert printed.strip().endswith(f"Open it in a browser: {page.as_uri()}")
    assert "Comparison with the labels" in page.read_text(encoding="utf-8")


def test_the_readme_shows_the_table_of_the_demo(demo):
    _, printed = demo
    rows = re.findall(r"(\w+) \(\w+\) +([\d.]+) → ([\d.]+) +([\d.]+) → ([\d.]+)", printed)
    shown = re.findall(r"^\| (\w+) \([\w-]+\) \|(.*)\|$", README.text, flags=re.M)
    assert len(rows) == len(shown) == 5
    for (name, *numbers), (name_shown, cells) in zip(rows, shown, strict=True):
        assert name == name_shown
        assert [float(n) for n in numbers] == pytest.approx(
            [float(n) for n in re.findall(r"[\d.]+", cells)], abs=0.002
        )
