"""ctad detectors, and fitting them by name."""

import pytest

from ctad.detectors import KNOWN_DETECTORS

from ..detectors.small import SMALL
from .conftest import REAL_TABLES, run


def test_all_are_listed(monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    lines = run("detectors").out.splitlines()
    for known in KNOWN_DETECTORS.values():
        assert any(
            line.split()[:2] == [known.name, known.family] and known.library.name in line
            for line in lines
        )
    assert "`ctad detectors NAME` shows parameters, licence and reference." in lines


@pytest.mark.parametrize("name", ["drl", "DRL"])
def test_one_is_shown_with_its_parameters(name, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    said = [line.split() for line in run("detectors", name).out.splitlines()]
    assert ["n_basis", "5"] in said
    assert ["scaling", "'standard'"] in said
    assert ["name", "DRL"] in said
    assert ["family", "reconstruction"] in said
    assert any(words[:2] == ["licence", "BSD-3-Clause;"] for words in said)
    assert any(words[:2] == ["reference", "Ye,"] and "2025" in words for words in said)


@pytest.mark.parametrize("name", KNOWN_DETECTORS)
def test_a_script_gets_all_about_each(name):
    facts = run("detectors", name, "--json").json
    known = KNOWN_DETECTORS[name]
    assert facts["name"] == known.name
    assert facts["licence"] == known.licence
    assert facts["parameters"].keys() == known.parameters.keys()


def test_one_that_is_not_installed_is_shown_without_parameters(monkeypatch):
    monkeypatch.setattr("ctad.detectors._registry.find_spec", lambda name: None)
    monkeypatch.setenv("COLUMNS", "200")
    done = run("detectors", "drl")
    assert "ctad and PyTorch: pip install 'ctad[deep]'" in done.out
    assert "n_basis" not in done.out
    assert run("detectors", "drl", "--json").json["parameters"] is None


def test_one_that_does_not_exist_is_refused():
    done = run("detectors", "drll")
    assert done.code == 2
    assert "no detector is called 'drll'" in done.err


@pytest.mark.parametrize("name", SMALL)
def test_neural_detectors_are_fitted_and_score_by_name(name, ctad):
    cars = REAL_TABLES["cars"]().frame
    cars.to_csv("cars.csv", index=False)
    options = ",".join(f"{option}={value}" for option, value in SMALL[name].items())
    fitted = ctad(
        *("fit", "cars.csv", "-o", "m.ctad", "--detector", name.lower()),
        *("--detector-options", options, "--json"),
    )
    assert fitted.json["detector"] == name
    assert [notice[:8] for notice in fitted.json["notices"]] == ["not used"]
    assert ["detector", name] in [
        line.split() for line in ctad("inspect", "m.ctad").out.splitlines()
    ]
    assert ctad("score", "m.ctad", "cars.csv", "-o", "s.csv", "--json").json["rows"] == len(cars)


def test_bad_options_of_a_neural_detector_are_told_of(ctad):
    REAL_TABLES["cars"]().frame.to_csv("cars.csv", index=False)
    fit = ["fit", "cars.csv", "-o", "m.ctad", "--detector", "drl", "--detector-options"]
    done = run(*fit, "epochs=0")
    assert (done.code, done.out) == (1, "")
    assert "epochs must be an integer >= 1, not 0" in done.err
    done = run(*fit, "epoch=1")
    assert done.code == 2
    assert "DRL has no option 'epoch'" in done.err
