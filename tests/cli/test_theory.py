"""ctad theory: what can be proved of a model."""

import numpy as np
import pandas as pd
import pytest

from ctad import load
from ctad.theory import separation

from .conftest import run


@pytest.fixture
def tables(ctad):
    random = np.random.default_rng(0)
    pd.DataFrame(random.normal(size=(400, 3)), columns=list("abc")).to_csv("train.csv", index=False)
    new = pd.DataFrame(random.normal(size=(200, 3)), columns=list("abc"))
    new.loc[:19] += 4
    new.assign(odd=np.arange(200) < 20).to_csv("new.csv", index=False)
    ctad("fit", "train.csv", "-o", "m.ctad")
    ctad("fit", "train.csv", "-o", "p.ctad", "--calibration", "paper")
    return new


def test_what_is_sure_without_labels(ctad, tables):
    said = ctad("theory", "m.ctad").out
    for line in ("V_min", "upper", "variance 20", "needed d"):
        assert f"\n{line} " in said
    assert "So the term has little room" in said  # columns are independent
    assert "guaranteed" not in said
    assert "training has seen" not in said
    found = ctad("theory", "p.ctad", "--json").json
    means = [found["bounds"][name] for name in ("paper", "nearest", "lower", "term", "upper")]
    assert means == sorted(means)
    assert found["variance"]["5"] > found["variance"]["80"]
    assert found["separation"] is None


def test_without_rows_held_out_the_diagnostic_says_that_it_is_too_good(ctad, tables):
    ctad("fit", "train.csv", "-o", "n.ctad", "--holdout", "0")
    assert "too good, since training has seen these normal rows" in ctad("theory", "n.ctad").out


def test_what_is_sure_of_labelled_rows(ctad, tables):
    found = ctad("theory", "p.ctad", "new.csv", "--label", "odd", "--json").json
    calibrator = load("p.ctad").calibrator_
    expected = separation(calibrator, tables.to_numpy(), np.arange(200) < 20)
    assert found["separation"] == pytest.approx(expected._asdict())
    assert found["separation"]["guaranteed"] <= found["separation"]["measured"]
    assert len(found["constants"]) == 1
    said = ctad("theory", "m.ctad", "new.csv", "--label", "odd").out
    assert "... and do differ by this" in said
    assert "anomalies are sure to have larger terms" in said
    labels = "--label", "odd", "--anomalous", "False"
    assert "promise nothing" in ctad("theory", "p.ctad", "new.csv", *labels).out


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["m.ctad", "new.csv"], 2, "go together"),
        (["m.ctad", "--label", "odd"], 2, "go together"),
        (["m.ctad", "new.csv", "--label", "a"], 1, "takes the label 'a'"),
        (["m.ctad", "new.csv", "--label", "odd", "--anomalous", "x"], 1, "0 of 200 rows"),
    ],
)
def test_what_is_wrong_is_said(tables, arguments, code, message):
    done = run("theory", *arguments)
    assert done.code == code
    assert message in done.err
