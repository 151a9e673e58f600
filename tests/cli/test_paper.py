"""ctad paper: a study by one command."""

import json
import os

import numpy as np
import pandas as pd
import pytest

from ctad.evaluation import Calibration, Results

from .conftest import run


@pytest.fixture(scope="module")
def mine(tmp_path_factory):
    """A user's own folder: a table with text in one file, numbers in another."""
    folder = tmp_path_factory.mktemp("mine")
    random = np.random.default_rng(0)
    anomalous = np.arange(80) >= 70
    frame = pd.DataFrame(
        {
            "amount": random.normal(size=80) + 4 * anomalous,
            "share": random.uniform(size=80),
            "plan": random.choice(["a", "b"], 80),
            "fraud": np.where(anomalous, "yes", "no"),
        }
    )
    frame.to_csv(folder / "payments.csv", index=False)
    frame.drop(columns="plan").to_parquet(folder / "numbers.parquet")
    return folder


OWN = ("--label", "fraud", "--anomalous", "yes", "--detectors", "ecod,KNN", "--seeds", "1")


@pytest.fixture(scope="module")
def done(mine, tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    return folder, run("paper", "--data-dir", mine, "-o", folder, *OWN)


def test_a_users_own_data_sets_are_judged(done):
    folder, said = done
    assert said.code == 0, said.err
    assert "AUC-PR: what calibration adds, honest protocol" in said.out
    assert f"Tables and figures: {folder / 'report.html'}" in said.out
    cells = Results(folder).cells.rows()
    assert {cell.dataset for cell in cells} == {"payments", "numbers"}
    assert {cell.detector for cell in cells} == {"ECOD", "KNN"}
    assert {cell.protocol for cell in cells} == {"published", "honest"}
    assert all(outcome.error is None for outcome in cells.values())
    assert "paper:" not in said.out  # it has no numbers of these


def test_pages_are_rebuilt_without_the_data(done):
    folder, said = done
    page = (folder / "report.html").read_bytes()
    (folder / "report.html").unlink()
    again = run("paper", "--from", folder)
    assert again.code == 0, again.err
    assert again.out == said.out
    assert (folder / "report.html").read_bytes() == page


def test_a_script_gets_the_numbers(done):
    folder, _ = done
    said = run("paper", "--from", folder, "--json", "--metrics", "precision_at_n")
    values = json.loads(said.out)
    assert values["page"] == str(folder / "report.html")
    assert values["failed"] == 0
    assert values["summary"]["honest_precision_at_n"]["KNN"]["data sets"] == 2


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        (("--detectors", "knn,lof"), "no results of LOF with calibration 'ctad uniform own"),
        (("--datasets", "numbers,nosuch"), "no results of nosuch"),
        (("--weight", "0.3", "--protocol", "honest"), "no results of honest"),
        (("--seeds", "2"), "no results of 2 seeds"),
    ],
)
def test_what_results_do_not_have_is_told(done, asked, reason):
    folder, _ = done
    said = run("paper", "--from", folder, *asked)
    assert said.code == 1
    assert reason in said.err
    assert "it has those of" in said.err


@pytest.mark.usefixtures("in_this_process")
def test_data_sets_are_found_in_upper_or_lower_case_and_with_commas(mine, tmp_path):
    (tmp_path / "Mine, too.parquet").write_bytes((mine / "numbers.parquet").read_bytes())
    where = ("--data-dir", tmp_path, "-o", tmp_path / "results", "--protocol", "honest")
    said = run("paper", *where, *OWN, "--datasets", "mine, TOO", "--calibration", "recommended")
    assert said.code == 0, said.err
    cells = Results(tmp_path / "results").cells.rows()
    assert {cell.dataset for cell in cells} == {"Mine, too"}
    again = run(
        "paper", "--from", tmp_path / "results", "--datasets", "MINE, too", "--calibration", "paper"
    )
    assert again.code == 0, again.err


@pytest.mark.usefixtures("in_this_process")
def test_another_calibration_is_another_main_table(mine, done):
    folder, _ = done
    before = len(Results(folder).cells.rows())
    chosen = ("--target", "free", "--centroids", "7", "--weight", "2", "--protocol", "honest")
    said = run("paper", "--data-dir", mine, "-o", folder, *OWN, *chosen)
    assert said.code == 0, said.err
    name = Calibration(target="free", n_centroids=7, weight=2).name
    assert len([cell for cell in Results(folder).cells.rows() if cell.calibration == name]) == 4
    assert len(Results(folder).cells.rows()) > before
    assert name in (folder / "report.md").read_text()
    recommended = run("paper", "--from", folder, "--calibration", "recommended")
    assert "Calibration: recommended." in (folder / "report.md").read_text()
    assert recommended.code == 0


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--detectors", "forest"), "forest"),
        (("--protocol", "fair"), "choose of published, honest"),
        (("--metrics", "f1"), "choose of auc_pr, auc_roc, precision_at_n"),
        (("--label", "fraud"), "Say which value means anomaly"),
        (("--from", "nowhere"), "nowhere has no results"),
        (("--datasets", "wyne"), "wyne"),
    ],
)
def test_mistakes_are_told(mine, tmp_path, monkeypatch, arguments, reason):
    monkeypatch.chdir(tmp_path)
    said = run("paper", "--data-dir", mine, *arguments)
    assert said.code == 1
    assert reason in said.err


DATA = os.environ.get("CTAD_DATA_DIR")


@pytest.mark.skipif(not DATA, reason="CTAD_DATA_DIR is not set")
def test_printed_numbers_of_the_paper_are_met(tmp_path):
    said = run(
        *("paper", "--data-dir", DATA, "--datasets", "wdbc,wine", "-o", tmp_path),
        *("--detectors", "pca,ecod,ocsvm", "--seeds", "1", "--protocol", "published"),
    )
    assert said.code == 0, said.err
    results = Results(tmp_path)
    ours = {
        (cell.dataset, cell.detector): (outcome.base_auc_pr, outcome.auc_pr)
        for cell, outcome in results.cells.rows().items()
        if cell.calibration == Calibration().name
    }
    assert ours["wdbc", "PCA"] == pytest.approx((0.9833, 0.9909), abs=1e-4)
    assert ours["wdbc", "ECOD"] == pytest.approx((0.7734, 0.9698), abs=1e-4)
    assert ours["wdbc", "OCSVM"] == pytest.approx((0.4348, 0.9573), abs=1e-4)
    own_costs = {
        term.dataset: gap.anomalous / 5
        for term, gap in results.gaps.rows().items()
        if term.calibration == Calibration().name
    }
    assert own_costs == {
        "wdbc": pytest.approx(7.7461, abs=5e-5),
        "wine": pytest.approx(2.5324, abs=5e-5),
    }
