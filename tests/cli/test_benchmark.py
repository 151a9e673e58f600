"""ctad benchmark: does calibration help on one's own data?"""

import numpy as np
import pandas as pd
import pytest

from ctad.evaluation import Results

from .conftest import run


@pytest.fixture(scope="module")
def mine(tmp_path_factory):
    """A user's folder: a table with text in one file, numbers in another."""
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


LABELS = ("--label", "fraud", "--anomalous", "yes")
QUICK = (*LABELS, "--detectors", "ecod,KNN", "--seeds", "1")


@pytest.fixture(scope="module")
def done(mine, tmp_path_factory, jobs_here):
    folder = tmp_path_factory.mktemp("results")
    with jobs_here():
        return folder, run("benchmark", "--data-dir", mine, "-o", folder, *QUICK)


def test_detectors_are_compared_on_a_users_data_sets(done):
    folder, said = done
    assert said.code == 0, said.err
    assert "AUC-PR: what calibration adds (random split)" in said.out
    *_, page, verdict = said.out.splitlines()
    assert page == f"Tables and figures: {folder / 'report.html'}"
    assert verdict.startswith("Calibration ")
    assert " of 2 data sets and for " in verdict
    cells = Results(folder).cells.rows()
    assert {cell.dataset for cell in cells} == {"payments", "numbers"}
    assert {cell.detector for cell in cells} == {"ECOD", "KNN"}
    assert {cell.calibration for cell in cells} == {"none", "recommended"}
    assert {cell.protocol for cell in cells} == {"random split"}
    assert all(outcome.error is None for outcome in cells.values())


def test_the_page_is_rebuilt_without_the_data(done):
    folder, said = done
    page = (folder / "report.html").read_bytes()
    (folder / "report.html").unlink()
    again = run("benchmark", "--from", folder)
    assert again.code == 0, again.err
    assert again.out == said.out
    assert (folder / "report.html").read_bytes() == page


def test_a_script_gets_the_numbers(done):
    folder, _ = done
    values = run("benchmark", "--from", folder, "--json", "--metrics", "precision_at_n").json
    assert values["page"] == str(folder / "report.html")
    assert values["failed"] == 0
    assert values["verdict"].startswith("Calibration ")
    knn = values["summary"]["precision_at_n"]["KNN"]
    assert knn["data sets"] == 2
    assert knn["t-test p"] is None  # too few data sets


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        (("--detectors", "knn,lof"), "no results of LOF with calibration 'recommended'; it has"),
        (("--datasets", "numbers,nosuch"), "no results of nosuch"),
        (("--calibration", "paper"), "no results of calibration 'paper'; it has none, recommended"),
        (("--seeds", "2"), "no results of 2 seeds; it has 1"),
    ],
)
def test_missing_results_are_named(done, asked, reason):
    folder, _ = done
    said = run("benchmark", "--from", folder, *asked)
    assert said.code == 1
    assert reason in said.err


@pytest.mark.usefixtures("in_this_process")
def test_a_single_table_is_enough(mine, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CTAD_DATA_DIR", str(tmp_path))  # the table comes first
    options = (*LABELS, "--seeds", "1", "--calibration", "paper")
    said = run("benchmark", mine / "payments.csv", *options)
    assert said.code == 0, said.err
    cells = Results(tmp_path / "benchmark").cells.rows()
    assert {cell.dataset for cell in cells} == {"payments"}
    assert {cell.detector for cell in cells} == {"IForest", "KNN", "ECOD", "PCA"}
    assert {cell.calibration for cell in cells} == {"none", "paper"}
    assert "1 of 1 data set" in said.out


@pytest.mark.usefixtures("in_this_process")
def test_names_of_data_sets_may_have_commas_and_any_case(mine, tmp_path):
    (tmp_path / "Mine, too.parquet").write_bytes((mine / "numbers.parquet").read_bytes())
    where = ("--data-dir", tmp_path, "-o", tmp_path / "results")
    said = run("benchmark", *where, *QUICK, "--datasets", "mine, TOO")
    assert said.code == 0, said.err
    cells = Results(tmp_path / "results").cells.rows()
    assert {cell.dataset for cell in cells} == {"Mine, too"}
    again = run("benchmark", "--from", tmp_path / "results", "--datasets", "MINE, too")
    assert again.code == 0, again.err


@pytest.mark.usefixtures("in_this_process")
def test_failures_are_counted(tmp_path):
    # Four normal rows, two of them for training: too few for KNN's five neighbours.
    np.savez(tmp_path / "tiny.npz", X=np.arange(12.0).reshape(6, 2), y=[0, 0, 0, 0, 1, 1])
    said = run("benchmark", tmp_path / "tiny.npz", "-o", tmp_path, "--detectors", "knn")
    assert said.code == 0, said.err
    assert "6 results failed: the end of the page says why" in said.out


def test_without_pyod_detectors_of_scikit_learn_are_used(mine, tmp_path, monkeypatch):
    from ctad.cli import _benchmark as benchmark
    from ctad.evaluation import Source

    monkeypatch.setattr(benchmark, "_installed", lambda names: ())
    wanted = benchmark._wanted(Source(mine), [], (), "recommended", None)
    assert wanted.detectors == ("IsolationForest", "LocalOutlierFactor")
    assert wanted.seeds == (0, 1, 2)


def test_a_stopped_run_says_how_to_continue(mine, tmp_path, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("ctad.evaluation._run.in_processes", stop)
    said = run("benchmark", "--data-dir", mine, "-o", tmp_path, *QUICK)
    assert said.code == 130
    assert "Stopped. The same command continues from here." in said.err


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--detectors", "forest"), "forest"),
        (("--metrics", "f1"), "choose from auc_pr, auc_roc, precision_at_n"),
        (("--label", "fraud"), "anomal"),
        (("--from", "nowhere"), "nowhere has no results"),
        (("--datasets", "wyne"), "wyne"),
        (("nowhere.csv",), "nowhere.csv: there is no such file or folder"),
    ],
)
def test_mistakes_are_explained(mine, tmp_path, monkeypatch, arguments, reason):
    monkeypatch.chdir(tmp_path)
    said = run("benchmark", "--data-dir", mine, *arguments)
    assert said.code == 1
    assert reason in said.err


def test_without_data_it_asks_for_some(tmp_path, monkeypatch):
    monkeypatch.delenv("CTAD_DATA_DIR", raising=False)
    said = run("benchmark", "-o", tmp_path)
    assert said.code == 1
    assert "name a labelled table" in said.err
