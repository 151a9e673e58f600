"""ctad theory: what can be proved about a model."""

import numpy as np
import pandas as pd
import pytest

from ctad import load
from ctad.theory import separation

from .conftest import SMALL_FOREST, link_files, run


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("theory")
    random = np.random.default_rng(0)
    train = pd.DataFrame(random.normal(size=(400, 3)), columns=list("abc"))
    train.to_csv(folder / "train.csv", index=False)
    new = pd.DataFrame(random.normal(size=(200, 3)), columns=list("abc"))
    new.loc[:19] += 4
    new.assign(odd=np.arange(200) < 20).to_csv(folder / "new.csv", index=False)
    fit = ("fit", folder / "train.csv", *SMALL_FOREST, "-o")
    assert run(*fit, folder / "m.ctad").code == 0
    assert run(*fit, folder / "p.ctad", "--calibration", "paper").code == 0
    return folder


@pytest.fixture
def new_rows(ctad, files):
    link_files(files)
    return pd.read_csv("new.csv")[["a", "b", "c"]]


def test_bounds_without_labels(ctad, new_rows):
    said = ctad("theory", "m.ctad").out
    for line in ("V_min", "upper", "variance 20", "needed d"):
        assert f"\n{line} " in said
    assert "lower bound: a d, the near view" in said
    assert "upper bound: a d, or a cost of the wide view, if larger" in said
    assert "upper bound: lower + G" in ctad("theory", "p.ctad").out
    assert "This is low: columns are nearly independent" in said
    assert "\nguaranteed " not in said
    assert "too optimistic" not in said
    assert ctad("theory", "m.ctad", "--json").json["lipschitz"] > 0
    found = ctad("theory", "p.ctad", "--json").json
    means = [found["bounds"][name] for name in ("paper", "nearest", "lower", "term", "upper")]
    assert means == sorted(means)
    assert found["variance"]["5"] > found["variance"]["80"]
    assert found["separation"] is None


def test_without_rows_held_out_the_numbers_are_too_optimistic(ctad, new_rows):
    ctad("fit", "train.csv", "-o", "n.ctad", "--holdout", "0", *SMALL_FOREST)
    assert "These numbers are too optimistic" in ctad("theory", "n.ctad").out


def test_bounds_with_labels(ctad, new_rows):
    found = ctad("theory", "p.ctad", "new.csv", "--label", "odd", "--json").json
    calibrator = load("p.ctad").calibrator_
    expected = separation(calibrator, new_rows.to_numpy(), np.arange(200) < 20)
    assert found["separation"] == pytest.approx(vars(expected))
    assert found["separation"]["guaranteed"] <= found["separation"]["measured"]
    assert len(found["constants"]) == 1
    said = ctad("theory", "m.ctad", "new.csv", "--label", "odd").out
    assert "... and differ by this" in said
    assert "are guaranteed to have larger terms on average" in said
    labels = "--label", "odd", "--anomalous", "False"
    assert "guarantee nothing" in ctad("theory", "p.ctad", "new.csv", *labels).out


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["m.ctad", "new.csv"], 2, "given together"),
        (["m.ctad", "--label", "odd"], 2, "given together"),
        (["m.ctad", "new.csv", "--label", "a"], 1, "label column 'a'"),
        (["m.ctad", "new.csv", "--label", "odd", "--anomalous", "x"], 1, "0 of 200 rows"),
    ],
)
def test_errors_say_what_is_wrong(new_rows, arguments, code, message):
    done = run("theory", *arguments)
    assert done.code == code
    assert message in done.err
