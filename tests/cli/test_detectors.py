"""ctad detectors, and ctad fit with neural detectors."""

import pytest

from ctad.detectors import KNOWN_DETECTORS

from ..detectors.small import SMALL
from .conftest import run


def test_all_detectors_are_listed(monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    lines = run("detectors").out.splitlines()
    for known in KNOWN_DETECTORS.values():
        assert any(
            line.split()[:2] == [known.name, known.family] and known.library.name in line
            for line in lines
        )
    assert "`ctad detectors NAME` shows parameters, licence and reference." in lines


@pytest.mark.parametrize("name", ["drl", "DRL"])
def test_details_show_the_parameters(name, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    said = [line.split() for line in run("detectors", name).out.splitlines()]
    assert ["n_basis", "5"] in said
    assert ["scaling", "'standard'"] in said
    assert ["name", "DRL"] in said
    assert ["family", "reconstruction"] in said
    assert any(words[:2] == ["licence", "BSD-3-Clause;"] for words in said)
    assert any(words[:2] == ["reference", "Ye,"] and "2025" in words for words in said)


def test_json_has_all_details():
    listed = run("detectors", "--json").json["detectors"]
    assert run("detectors", "knn", "--json").json.items() >= _by_name(listed)["KNN"].items()
    for known, details in zip(KNOWN_DETECTORS.values(), listed, strict=True):
        assert details["name"] == known.name
        assert details["licence"] == known.licence
        assert details["parameters"].keys() == known.parameters.keys()


def _by_name(listed):
    return {details["name"]: details for details in listed}


def test_detectors_that_are_not_installed_say_how_to_install_them(monkeypatch):
    assert "pip install" not in run("detectors").out
    monkeypatch.setattr("ctad.detectors._registry.find_spec", lambda name: None)
    monkeypatch.setenv("COLUMNS", "200")
    assert "PyOD: pip install 'ctad[pyod]'" in run("detectors").out
    done = run("detectors", "drl")
    assert "ctad and PyTorch: pip install 'ctad[deep]'" in done.out
    assert "n_basis" not in done.out
    assert run("detectors", "drl", "--json").json["parameters"] is None


def test_an_unknown_name_is_refused():
    done = run("detectors", "drll")
    assert done.code == 2
    assert "no detector is called 'drll'" in done.err


@pytest.mark.parametrize("name", ["GOAD", "DRL"])
def test_fit_and_score_with_a_neural_detector(name, ctad, in_cars):
    options = ",".join(f"{option}={value}" for option, value in SMALL[name].items())
    fitted = ctad(
        *("fit", "cars.csv", "-o", "n.ctad", "--detector", name.lower()),
        *("--detector-options", options, "--json"),
    )
    assert fitted.json["detector"] == name
    assert [notice[:8] for notice in fitted.json["notices"]] == ["not used"]
    assert ["detector", name] in [
        line.split() for line in ctad("inspect", "n.ctad").out.splitlines()
    ]
    assert ctad("score", "n.ctad", "cars.csv", "-o", "s.csv", "--json").json["rows"] == 406


def test_bad_options_of_a_neural_detector(in_cars):
    fit = ["fit", "cars.csv", "-o", "n.ctad", "--detector", "drl", "--detector-options"]
    done = run(*fit, "epochs=0")
    assert (done.code, done.out) == (1, "")
    assert "epochs must be an integer >= 1, not 0" in done.err
    done = run(*fit, "epoch=1")
    assert done.code == 2
    assert "DRL has no option 'epoch'" in done.err
