"""ctad inspect"""

import pytest

from ctad import CTAD, CalibratedDetector

from ..data import normal
from ..persistence.files import altered
from .conftest import run


def test_inspect_shows_the_manifest(cars):
    done = run("inspect", cars / "m.ctad")
    for words in ("IsolationForest", "CTAD(", "325", "81", "numpy", "all checksums match"):
        assert words in done.out
    assert ["Year", "date", "date32[day]"] in [line.split() for line in done.out.splitlines()]
    encoder = run("inspect", cars / "m.ctad", "--json").json["model"]["fitted"]["encoder_"]
    assert encoder["fitted"]["columns"][0]["kind"] == "number"


@pytest.mark.parametrize(
    "change",
    [
        {"model": 1},
        {"versions": {"numpy": ["1"]}},
        {"trusted": [1]},
        {"one_more": 1},
    ],
)
def test_a_manifest_of_another_shape_is_refused(change, cars, tmp_path):
    altered(cars / "m.ctad", tmp_path / "odd.ctad", change)
    done = run("inspect", tmp_path / "odd.ctad")
    assert done.code == 1
    assert "odd.ctad is damaged or was altered" in done.err


@pytest.mark.parametrize(
    "model",
    [
        {},
        {"fitted": {"encoder_": {"fitted": {"columns": [1]}}, "n_held_out": "x"}},
        {"type": 1, "parameters": {"steps": [1, [], [{}]]}, "fitted": {"calibrator_": []}},
    ],
)
def test_a_model_of_another_shape_is_shown_as_far_as_possible(model, cars, tmp_path):
    altered(cars / "m.ctad", tmp_path / "odd.ctad", {"model": model})
    done = run("inspect", tmp_path / "odd.ctad")
    assert done.code == 0
    assert "all checksums match" in done.out


def test_a_function_is_named(tmp_path):
    def middle(X):
        return abs(X).sum(axis=1)

    path = tmp_path / "f.ctad"
    CalibratedDetector(middle, CTAD(), polarity="higher").fit(normal(50, 2)).save(path)
    assert "the function middle, which is not in the file" in run("inspect", path).out


def test_long_texts_are_cut(cars, tmp_path):
    altered(cars / "m.ctad", tmp_path / "long.ctad", {"created": "yesterday " * 10**6})
    assert len(run("inspect", tmp_path / "long.ctad").out) < 10_000


def test_types_that_need_trust_are_shown(cars, tmp_path):
    altered(cars / "m.ctad", tmp_path / "odd.ctad", {"trusted": ["my_package.MyDetector"]})
    shown = " ".join(run("inspect", tmp_path / "odd.ctad").out.split())
    assert "types without a description: my_package.MyDetector. Such a file can run code" in shown


def test_control_characters_of_a_manifest_are_not_printed(cars, tmp_path):
    altered(cars / "m.ctad", tmp_path / "odd.ctad", {"created": "\x1b[2Jnow", "ctad": "\x07"})
    assert "\N{REPLACEMENT CHARACTER}[2Jnow" in run("inspect", tmp_path / "odd.ctad").out


def test_inspect_a_calibrator(tmp_path):
    CTAD(weight=0.5).fit(normal(50, 2)).save(tmp_path / "c.ctad")
    assert "weight=0.5" in run("inspect", tmp_path / "c.ctad").out
