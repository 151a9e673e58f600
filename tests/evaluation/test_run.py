"""Runs that can be stopped at any moment, and that no failure stops."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import IsolationForest
from sklearn.metrics import average_precision_score, roc_auc_score

from ctad import CTAD
from ctad.datasets import DownloadError, read_dataset
from ctad.detectors import make
from ctad.evaluation import (
    NONE,
    PROTOCOLS,
    Calibration,
    Cell,
    Contestant,
    Entry,
    GapEntry,
    Outcome,
    OwnCalibration,
    Plan,
    Results,
    Source,
    measure,
    run,
)
from ctad.evaluation._errors import must_retry
from ctad.evaluation._jobs import missing_jobs
from ctad.evaluation._processes import in_processes

from .fragile import Dies, Distance, Refuses

CALIBRATIONS = (NONE, Calibration(), Calibration(weight=0.5), Calibration("transport only"))
FOREST = Contestant("forest", IsolationForest(n_estimators=10))
KNN = Contestant("KNN")


def plan_of(*contestants, calibrations=CALIBRATIONS, protocols=("published",), seeds=(0,)):
    return Plan(
        ("tumours", "wines"),
        tuple(
            Entry(protocol, contestant, calibrations, seeds)
            for protocol in protocols
            for contestant in contestants
        ),
        tuple(GapEntry(protocol, (Calibration(),), seeds) for protocol in protocols),
    )


def test_every_cell_is_measured_once(folder, tmp_path):
    plan = plan_of(KNN, FOREST, protocols=PROTOCOLS, seeds=(0, 1))
    results = run(plan, tmp_path, Source(folder), n_jobs=2)
    cells = results.cells.rows()
    assert len(cells) == 2 * 2 * 2 * 2 * len(CALIBRATIONS)
    assert len(results.cells.path.read_text().splitlines()) == 1 + len(cells)
    assert all(outcome.error is None for outcome in cells.values())
    assert len(results.gaps.rows()) == 2 * 2 * 2
    before = results.cells.path.stat().st_mtime_ns
    again = run(plan, tmp_path, Source(folder))
    assert again.cells.rows() == cells
    assert again.cells.path.stat().st_mtime_ns == before


@pytest.mark.usefixtures("in_this_process")
def test_numbers_are_those_of_the_library(folder, tmp_path):
    results = run(plan_of(KNN, seeds=(1,)), tmp_path, Source(folder))
    cell = Cell("wines", "KNN", Calibration().name, "published", 1)
    outcome = results.cells.rows()[cell]
    split = PROTOCOLS["published"].split(read_dataset(folder / "wines.npz"), seed=1)
    scores = make("KNN").fit(split.train).decision_function(split.test)
    term = Calibration().calibrator(seed=1).fit(split.train).delta(split.test)
    unit = [(values - values.min()) / np.ptp(values) for values in (scores, term)]
    assert outcome.base_auc_pr == pytest.approx(
        average_precision_score(split.anomalous, scores), abs=1e-5
    )
    assert outcome.auc_roc == pytest.approx(roc_auc_score(split.anomalous, sum(unit)), abs=1e-5)


@pytest.mark.usefixtures("in_this_process")
def test_more_calibrations_need_no_new_training(folder, tmp_path):
    few = plan_of(FOREST, calibrations=(NONE,))
    kept = {
        file: file.stat().st_mtime_ns
        for file in run(few, tmp_path, Source(folder)).scores.iterdir()
    }
    results = run(plan_of(FOREST), tmp_path, Source(folder))
    assert kept == {file: file.stat().st_mtime_ns for file in results.scores.iterdir()}
    plain = {cell: o for cell, o in results.cells.rows().items() if cell.calibration == "none"}
    for cell, outcome in results.cells.rows().items():
        same = plain[cell._replace(calibration="none")]
        assert outcome.base_auc_pr == same.auc_pr


def test_a_calibrator_of_ones_own_is_judged_like_others(folder, tmp_path):
    term = CTAD(3, random_state=5)
    mine = (OwnCalibration("mine", term), OwnCalibration("mine, halved", term, 0.5))
    plan = plan_of(KNN, calibrations=(NONE, *mine), protocols=("honest",), seeds=(2,))
    cells = run(plan, tmp_path, Source(folder), n_jobs=2).cells.rows()
    split = PROTOCOLS["honest"].split(read_dataset(folder / "wines.npz"), seed=2)
    knn = make("KNN").fit(split.train)
    for name, weight in (("mine", 1.0), ("mine, halved", 0.5)):
        by_hand = CTAD(3, score_scaling="standard", weight=weight, random_state=2)
        by_hand.fit(split.train, scores=knn.decision_scores_)
        calibrated = by_hand.calibrate(knn.decision_function(split.test), split.test)
        expected = average_precision_score(split.anomalous, calibrated)
        assert cells["wines", "KNN", name, "honest", 2].auc_pr == pytest.approx(expected, abs=1e-5)
    assert term.random_state == 5  # it was cloned


@pytest.mark.usefixtures("in_this_process")
def test_scores_can_be_kept_elsewhere(folder, tmp_path):
    plan = plan_of(FOREST, calibrations=(NONE,))
    run(plan, tmp_path / "first", Source(folder), scores=tmp_path / "scores")
    files = {file: file.stat().st_mtime_ns for file in (tmp_path / "scores").iterdir()}
    assert len(files) == 2
    second = run(plan, tmp_path / "second", Source(folder), scores=tmp_path / "scores")
    assert {file: file.stat().st_mtime_ns for file in (tmp_path / "scores").iterdir()} == files
    assert not second.scores.exists()


@pytest.mark.usefixtures("in_this_process")
def test_a_damaged_file_of_scores_is_made_again(folder, tmp_path):
    results = run(plan_of(FOREST, calibrations=(NONE,)), tmp_path, Source(folder))
    before = results.cells.rows()
    results.cells.path.unlink()
    for file in results.scores.iterdir():
        file.write_bytes(file.read_bytes()[:100])
    after = run(plan_of(FOREST, calibrations=(NONE,)), tmp_path, Source(folder)).cells.rows()
    assert [o.auc_pr for o in after.values()] == [before[cell].auc_pr for cell in after]


@pytest.mark.usefixtures("in_this_process")
def test_other_settings_are_not_taken_for_the_same_scores(folder, tmp_path):
    def forest_of(n_trees):
        contestant = Contestant("forest", IsolationForest(n_estimators=n_trees))
        results = run(plan_of(contestant, calibrations=(NONE,)), tmp_path, Source(folder))
        rows = results.cells.rows()
        results.cells.path.unlink()
        return [outcome.auc_pr for outcome in rows.values()]

    assert forest_of(3) != forest_of(100)


@pytest.mark.usefixtures("in_this_process")
def test_scores_of_the_other_sign_are_not_taken_for_the_same(folder, tmp_path):
    def with_polarity(polarity):
        plan = plan_of(Contestant("distance", Distance(), polarity), calibrations=(NONE,))
        kept = tmp_path / "kept"
        results = run(plan, tmp_path / polarity, Source(folder), scores=kept)
        return [outcome.auc_roc for outcome in results.cells.rows().values()]

    assert with_polarity("higher") == pytest.approx([1 - x for x in with_polarity("lower")])


def test_columns_that_are_not_used_are_told_of(tmp_path):
    anomalous = np.arange(60) >= 50
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"id": range(60), "x": random.normal(size=60), "one": 1, "y": anomalous})
    frame.assign(plan="a", x2=random.normal(size=60)).to_csv(tmp_path / "mine.csv", index=False)
    plan = plan_of(KNN, calibrations=(NONE,))._replace(datasets=("mine",))
    with pytest.warns(
        UserWarning, match=r"mine: not used: 'id' \(counts the rows\), 'one' \(const"
    ):
        run(plan, tmp_path / "results", Source(tmp_path))


def test_what_fails_is_recorded_and_stops_nothing(folder, tmp_path):
    refuses = Contestant("refuses", Refuses(), "higher")
    results = run(plan_of(refuses, KNN), tmp_path, Source(folder), n_jobs=2)
    cells = results.cells.rows()
    for cell, outcome in cells.items():
        if cell.detector == "refuses":
            assert outcome.error == "ValueError: these rows are not to my liking"
            assert outcome.auc_pr is None
        else:
            assert outcome.error is None
    plan = plan_of(Contestant("refuses", Distance(), "higher"), KNN)
    assert run(plan, tmp_path, Source(folder)).cells.rows() == cells  # not tried again
    tried = run(plan, tmp_path, Source(folder), retry_failed=True).cells.rows()
    assert tried.keys() == cells.keys()
    assert all(outcome.error is None for outcome in tried.values())


def test_a_process_that_dies_is_blamed_alone(folder, tmp_path):
    dies = Contestant("dies", Dies(), "higher")
    plan = plan_of(dies, FOREST, calibrations=(NONE,))
    cells = run(plan, tmp_path, Source(folder), n_jobs=2).cells.rows()
    assert len(cells) == 2 * 2
    for cell, outcome in cells.items():
        if cell.detector == "dies":
            assert "its process died" in outcome.error
        else:
            assert outcome.error is None


def _dies_if_told(job):
    if job == "dies":
        os.kill(os.getpid(), signal.SIGKILL)
    return job


def test_a_process_that_dies_while_nobody_waits_for_it_stops_nothing():
    results = {}
    for job, result in in_processes(_dies_if_told, ["first", "dies", "third", "fourth"], 2):
        results[job] = result
        time.sleep(0.5)  # the pool breaks meanwhile, and cannot be given the next
    assert isinstance(results.pop("dies"), MemoryError)
    assert results == {job: job for job in ("first", "third", "fourth")}


@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize(
    "error",
    [
        "MemoryError: no",
        "FileNotFoundError: no",
        "NotADirectoryError: mine: there is no such folder.",
        "ModuleNotFoundError: no",
        "DownloadError: no",
        "RuntimeError: DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes.",
    ],
)
def test_errors_that_pass_are_known(error):
    assert must_retry(error, retry_failed=False)


@pytest.mark.parametrize("error", ["ValueError: no", "RuntimeError: no", "Refused: OSError"])
def test_other_errors_stay(error):
    assert not must_retry(error, retry_failed=False)
    assert must_retry(error, retry_failed=True)


def test_what_the_machine_is_to_blame_for_is_tried_again(folder, tmp_path):
    results = run(plan_of(KNN, calibrations=(NONE,)), tmp_path, Source(folder))
    cells = results.cells.rows()
    lost, wrong = (Outcome("x", error=why) for why in ("MemoryError: no", "ValueError: no"))
    results.cells.path.unlink()
    with results.cells.writing() as add:
        add(zip(cells, (lost, wrong), strict=True))
    errors = [
        outcome.error
        for outcome in run(plan_of(KNN, calibrations=(NONE,)), tmp_path, Source(folder))
        .cells.rows()
        .values()
    ]
    assert errors == [None, "ValueError: no"]


@pytest.mark.usefixtures("in_this_process")
def test_a_name_with_two_blanks_is_measured_once(folder, tmp_path):
    own = tmp_path / "own"
    own.mkdir()
    (own / "my wines  2024.npz").write_bytes((folder / "wines.npz").read_bytes())
    plan = plan_of(KNN)._replace(datasets=("my wines  2024",))
    cells = run(plan, tmp_path, Source(own)).cells
    before = cells.path.read_bytes()
    assert run(plan, tmp_path, Source(own)).cells.path.read_bytes() == before


def test_without_a_connection_only_the_first_download_keeps_one_waiting(tmp_path, monkeypatch):
    asked = []

    def refuse(known):
        asked.append(known.name)
        raise DownloadError(f"{known.name} could not be downloaded")

    monkeypatch.setattr("ctad.datasets._loading.download_file", refuse)
    monkeypatch.setenv("CTAD_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("CTAD_DATA_DIR", raising=False)
    plan = plan_of(KNN)._replace(datasets=("wine", "glass", "musk"))
    with (
        pytest.warns(UserWarning, match="is left out") as warned,
        pytest.raises(ValueError, match="none of the data sets"),
    ):
        run(plan, tmp_path)
    assert asked == ["wine"]
    assert len(warned) == 3


@pytest.mark.usefixtures("in_this_process")
def test_a_calibration_that_fails_leaves_the_others(folder, tmp_path):
    constant = np.ones((40, 2))
    constant[-4:] = 5
    own = tmp_path / "own"
    own.mkdir()
    np.savez(own / "constant.npz", X=constant, y=np.arange(40) >= 36)
    calibrations = (NONE, Calibration("mahalanobis"), Calibration("centroid distance"))
    entry = Entry("published", KNN, calibrations, (0,))
    results = run(Plan(("constant",), (entry,)), tmp_path, Source(own))
    errors = {cell.calibration: outcome.error for cell, outcome in results.cells.rows().items()}
    assert errors["none"] is None
    assert errors[Calibration("centroid distance").name] is None
    assert "all 18 training rows are equal" in errors[Calibration("mahalanobis").name]


@pytest.mark.usefixtures("in_this_process")
def test_a_data_set_that_cannot_be_had_is_left_out(folder, tmp_path):
    plan = plan_of(KNN)._replace(datasets=("wines", "missing"))
    with pytest.warns(UserWarning, match="missing is left out"):
        results = run(plan, tmp_path, Source(folder))
    assert {cell.dataset for cell in results.cells.rows()} == {"wines"}
    with (
        pytest.warns(UserWarning, match="missing is left out"),
        pytest.raises(ValueError, match="none of the data sets can be had"),
    ):
        run(plan._replace(datasets=("missing",)), tmp_path, Source(folder))


@pytest.mark.usefixtures("in_this_process")
def test_another_data_set_of_the_same_name_is_refused(folder, tmp_path):
    run(plan_of(KNN), tmp_path, Source(folder))
    other = tmp_path / "other"
    other.mkdir()
    np.savez(
        other / "wines.npz", X=np.random.default_rng(0).normal(size=(50, 2)), y=np.arange(50) < 5
    )
    with pytest.raises(ValueError, match=r"another data set called 'wines'.*choose another folder"):
        run(plan_of(KNN)._replace(datasets=("wines",)), tmp_path, Source(other))


def test_quick_detectors_of_all_data_sets_come_before_slow_ones(folder, tmp_path):
    plan = plan_of(FOREST, KNN, protocols=PROTOCOLS, seeds=(0, 1))
    jobs = missing_jobs(plan, Results(tmp_path), {"tumours": 387, "wines": 129}, retry_failed=False)
    names = [[contestant.name for contestant in job.contestants] for job in jobs]
    assert names == [["KNN"]] * 8 + [["forest"]] * 8
    assert [job.seed for job in jobs[:8]] == [0] * 4 + [1] * 4
    assert [job.dataset for job in jobs[:4]] == ["wines"] * 2 + ["tumours"] * 2


SCRIPT = """
import sys
from pathlib import Path
from ctad.evaluation import Source, run
from tests.evaluation.test_run import slow_plan
if __name__ == "__main__":
    run(slow_plan(), Path(sys.argv[2]), Source(Path(sys.argv[1])), n_jobs=2)
"""


def slow_plan():
    slow = Contestant("slow", Distance(seconds=0.25), "higher")
    return plan_of(slow, KNN, protocols=PROTOCOLS, seeds=(0, 1))


def test_killed_at_any_moment_it_goes_on_where_it_was(folder, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    target = tmp_path / "results"
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    command = [sys.executable, str(script), str(folder), str(target)]
    wanted = 2 * 2 * 2 * 2 * len(CALIBRATIONS)
    lines, kills = 0, 0
    while True:
        process = subprocess.Popen(command, env=environment)
        deadline = time.monotonic() + 60
        # Killed as soon as something new is there.
        while process.poll() is None and time.monotonic() < deadline:
            now = _lines(target / "cells.csv")
            if now > lines and kills < 3:
                process.send_signal(signal.SIGKILL)
                kills += 1
            time.sleep(0.02)
        process.wait(timeout=60)
        now = _lines(target / "cells.csv")
        assert now >= lines  # nothing is lost
        lines = now
        if process.returncode == 0:
            break
    assert kills == 3
    rows = Results(target).cells.rows()
    assert len(rows) == wanted
    assert lines == 1 + wanted  # nothing twice
    whole = run(slow_plan(), tmp_path / "whole", Source(folder), n_jobs=2).cells.rows()
    assert {cell: outcome[1:7] for cell, outcome in rows.items()} == {
        cell: outcome[1:7] for cell, outcome in whole.items()
    }


def _lines(file):
    return file.read_bytes().count(b"\n") if file.exists() else 0


def test_workers_do_not_outlive_the_process_they_work_for(folder, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    target = tmp_path / "results"
    process = subprocess.Popen(
        [sys.executable, str(script), str(folder), str(target)], env=environment
    )
    while _lines(target / "cells.csv") < 2:
        assert process.poll() is None
        time.sleep(0.02)
    workers = _children(process.pid)
    assert workers
    process.kill()
    process.wait()
    deadline = time.monotonic() + 30
    while any(_is_alive(worker) for worker in workers):
        assert time.monotonic() < deadline, "workers are left behind"
        time.sleep(0.1)


def _children(pid):
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for task in tasks for child in task.read_text().split()]


def _is_alive(pid):
    status = Path(f"/proc/{pid}/stat")
    try:
        return status.read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_precision_at_n_shares_alarms_among_equal_rows():
    anomalous = np.array([True, True, False, False])
    assert measure(np.array([3.0, 2.0, 1.0, 0.0]), anomalous).precision_at_n == 1.0
    assert measure(np.array([3.0, 1.0, 1.0, 1.0]), anomalous).precision_at_n == pytest.approx(2 / 3)
    assert measure(np.full(4, np.inf), anomalous).precision_at_n == pytest.approx(0.5)
    with pytest.raises(ValueError, match="1 of 4 scores are not numbers"):
        measure(np.array([3.0, np.nan, 1.0, 0.0]), anomalous)
