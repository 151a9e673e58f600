"""ctad evaluate: metrics before and after calibration."""

import pandas as pd
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

from ctad import load

from .conftest import REAL_TABLES, SMALL_FOREST, link_files, run


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A model of European and Japanese cars; American ones are the anomalies."""
    folder = tmp_path_factory.mktemp("evaluate")
    cars = REAL_TABLES["cars"]().frame
    foreign = cars["Origin"] == "USA"
    cars.assign(odd=foreign).drop(columns="Origin").to_csv(folder / "cars.csv", index=False)
    cars.assign(unsure=foreign.where(cars.index > 5)).to_csv(folder / "origins.csv", index=False)
    options = ("-o", folder / "m.ctad", "--label", "odd", "--holdout", 0, *SMALL_FOREST)
    assert run("fit", folder / "cars.csv", *options).code == 0
    return folder


@pytest.fixture
def model(ctad, files):
    link_files(files)
    return load("m.ctad")


def test_the_metrics_are_those_of_scikit_learn(ctad, model):
    cars = pd.read_csv("cars.csv", parse_dates=["Year"])
    scored = model.score_parts(cars)
    result = ctad("evaluate", "m.ctad", "cars.csv", "--label", "odd", "--json").json
    assert (result["rows"], result["anomalies"]) == (406, 254)
    shown = ctad("evaluate", "m.ctad", "cars.csv", "--label", "odd").out
    for name, measure in (("AUC-PR", average_precision_score), ("AUC-ROC", roc_auc_score)):
        before, after = (measure(cars["odd"], s) for s in (scored.base_score, scored.score))
        assert result[name]["before"]["value"] == pytest.approx(before)
        assert result[name]["after"]["value"] == pytest.approx(after)
        assert result[name]["gain"]["value"] == pytest.approx(after - before)
        assert f"{name}".ljust(9) + f"{before:.3f} (" in shown
        for part in ("before", "after", "gain"):
            interval = result[name][part]
            assert interval["low"] < interval["value"] < interval["high"]
    assert "406 rows, 254 of them anomalies; in brackets the 95 % interval over 1,000" in shown


def test_labels_may_be_words(ctad, model):
    cars = pd.read_csv("origins.csv", parse_dates=["Year"])
    words = ("--label", "Origin", "--anomalous", "USA")
    result = ctad("evaluate", "m.ctad", "origins.csv", *words, "--json").json
    expected = roc_auc_score(cars["Origin"] == "USA", model.anomaly_score(cars))
    assert result["AUC-ROC"]["after"]["value"] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("label", "message"),
    [
        (["--label", "nothing"], "origins.csv: the table lacks column 'nothing'"),
        (["--label", "nothing"], "'Origin', 'unsure'\n"),
        (["--label", "Origin"], "has 'Europe'. Say which value means anomaly: --anomalous VALUE, "),
        (["--label", "Origin", "--anomalous", "Mars"], "0 of 406 rows are labelled anomalous"),
        (["--label", "unsure"], "6 rows have no label in column 'unsure'"),
    ],
)
def test_unusable_labels_are_refused(model, label, message):
    done = run("evaluate", "m.ctad", "origins.csv", *label)
    assert done.code == 1
    assert message in done.err


def test_a_model_trained_on_the_label_column_is_not_evaluated(ctad, model):
    ctad("fit", "cars.csv", "-o", "cheat.ctad", *SMALL_FOREST)
    done = run("evaluate", "cheat.ctad", "cars.csv", "--label", "odd")
    assert done.code == 1
    assert "cheat.ctad was trained on the label column 'odd' as a feature" in done.err
