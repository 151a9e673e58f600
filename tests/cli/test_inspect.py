"""ctad inspect"""

import pytest

from ctad import CTAD

from ..data import normal
from ..persistence.files import altered
from .conftest import run


def test_inspect_shows_the_manifest(cars):
    done = run("inspect", cars / "m.ctad")
    for words in ("IsolationForest", "CTAD(", "325", "81", "numpy", "all checksums match"):
        assert words in done.out
    assert ["Year", "date", "date32[day]"] in [line.split() for line in done.out.splitlines()]
    assert run("inspect", cars / "m.ctad", "--json").json["columns"][0]["kind"] == "number"


@pytest.mark.parametrize(
    "change",
    [
        {"columns": [{"name": "x", "kind": 3}]},
        {"columns": [1]},
        {"state": {"detector": 5}},
        {"versions": {"numpy": ["1"]}, "columns": [{"name": "x"}]},
    ],
)
def test_a_manifest_of_another_shape_is_refused(change, cars, tmp_path):
    altered(cars / "m.ctad", tmp_path / "odd.ctad", change)
    done = run("inspect", tmp_path / "odd.ctad")
    assert done.code == 1
    assert "odd.ctad is damaged or was altered" in done.err


def test_control_characters_of_a_manifest_are_not_printed(cars, tmp_path):
    altered(cars / "m.ctad", tmp_path / "odd.ctad", {"created": "\x1b[2Jnow", "ctad": "\x07"})
    assert "\N{REPLACEMENT CHARACTER}[2Jnow" in run("inspect", tmp_path / "odd.ctad").out


def test_inspect_a_calibrator(tmp_path):
    CTAD(weight=0.5).fit(normal(50, 2)).save(tmp_path / "c.ctad")
    assert "weight=0.5" in run("inspect", tmp_path / "c.ctad").out
