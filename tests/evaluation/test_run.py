"""Runs that can be stopped at any moment, and that no failure stops."""

import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.neighbors import LocalOutlierFactor

from ctad import CTAD
from ctad.calibration import CentroidDistance, MahalanobisDistance
from ctad.datasets import DownloadError
from ctad.evaluation import (
    NO_CALIBRATION,
    RANDOM_SPLIT,
    Calibration,
    Cell,
    Contestant,
    Entry,
    Outcome,
    Plan,
    Protocol,
    Results,
    Source,
    run,
)
from ctad.evaluation._errors import must_retry
from ctad.evaluation._jobs import missing_jobs

from .detectors import Distance, Fails

pytestmark = pytest.mark.slow

IN_ORDER = Protocol("in order", "as in the file", shuffled=False, standardised=False)
PROTOCOLS = (IN_ORDER, RANDOM_SPLIT)
HALF = Calibration("half", CTAD(score_scaling="standard"), weight=0.5)
CALIBRATIONS = (NO_CALIBRATION, Calibration("ctad", CTAD(score_scaling="standard")), HALF)
# One that is known by name, and one that is not.
LOF = Contestant("LocalOutlierFactor")
DISTANCE = Contestant("distance", Distance(), "higher")


def plan_of(*contestants, calibrations=CALIBRATIONS, protocols=(IN_ORDER,), seeds=(0,)):
    return Plan(
        ("tumours", "wines"),
        tuple(
            Entry(protocol, contestant, calibrations, seeds)
            for protocol in protocols
            for contestant in contestants
        ),
    )


PLAIN = plan_of(LOF, calibrations=(NO_CALIBRATION,))


@pytest.fixture(scope="module")
def whole(folder, tmp_path_factory):
    """A run with real processes."""
    plan = plan_of(LOF, DISTANCE, protocols=PROTOCOLS, seeds=(0, 1))
    return plan, run(plan, tmp_path_factory.mktemp("whole"), Source(folder), n_jobs=2)


def test_every_cell_is_measured_once(whole, folder):
    plan, results = whole
    cells = results.cells.rows()
    assert len(cells) == 2 * 2 * 2 * 2 * len(CALIBRATIONS)
    assert len(results.cells.csv_path.read_text().splitlines()) == 1 + len(cells)
    assert all(outcome.error is None for outcome in cells.values())
    before = results.cells.csv_path.read_bytes()
    again = run(plan, results.folder, Source(folder))
    assert again.cells.csv_path.read_bytes() == before


def test_numbers_are_those_of_the_library(whole, wines):
    _, results = whole
    outcome = results.cells.rows()[Cell("wines", "LocalOutlierFactor", "half", "random split", 1)]
    split = RANDOM_SPLIT.split(wines, seed=1)
    lof = LocalOutlierFactor(novelty=True).fit(split.train)
    before, scores = (-lof.score_samples(rows) for rows in (split.train, split.test))
    calibrator = CTAD(weight=0.5, score_scaling="standard", random_state=1)
    calibrated = calibrator.fit(split.train, scores=before).calibrate(scores, split.test)
    for measured, judge, values in (
        (outcome.base_auc_pr, average_precision_score, scores),
        (outcome.auc_pr, average_precision_score, calibrated),
        (outcome.auc_roc, roc_auc_score, calibrated),
    ):
        assert measured == pytest.approx(judge(split.anomalous, values), abs=1e-5)


def test_a_compacted_folder_is_complete(whole, folder, tmp_path):
    plan, results = whole
    for file in results.folder.glob("*.csv"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    compacted = Results(tmp_path)
    compacted.compact()
    run(plan, tmp_path, Source(folder))
    assert {file.suffix for file in tmp_path.iterdir()} == {".parquet"}
    assert compacted.cells.rows() == results.cells.rows()


@pytest.mark.usefixtures("in_this_process")
def test_more_calibrations_need_no_new_training(folder, tmp_path):
    few = plan_of(DISTANCE, calibrations=(NO_CALIBRATION,))
    kept = {
        file: file.stat().st_mtime_ns
        for file in run(few, tmp_path, Source(folder)).scores.iterdir()
    }
    results = run(plan_of(DISTANCE), tmp_path, Source(folder))
    assert kept == {file: file.stat().st_mtime_ns for file in results.scores.iterdir()}
    cells = results.cells.rows()
    for cell, outcome in cells.items():
        assert outcome.base_auc_pr == cells[replace(cell, calibration="none")].auc_pr


@pytest.mark.usefixtures("in_this_process")
def test_scores_can_be_kept_elsewhere(folder, tmp_path):
    run(PLAIN, tmp_path / "first", Source(folder), scores=tmp_path / "scores")
    files = {file: file.stat().st_mtime_ns for file in (tmp_path / "scores").iterdir()}
    assert len(files) == 2
    second = run(PLAIN, tmp_path / "second", Source(folder), scores=tmp_path / "scores")
    assert {file: file.stat().st_mtime_ns for file in (tmp_path / "scores").iterdir()} == files
    assert not second.scores.exists()


def test_columns_that_are_not_used_are_named(tmp_path, monkeypatch):
    monkeypatch.setattr("ctad.evaluation._run.in_processes", lambda *_: (job for job in ()))
    anomalous = np.arange(60) >= 50
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"id": range(60), "x": random.normal(size=60), "one": 1, "y": anomalous})
    frame.assign(plan="a", x2=random.normal(size=60)).to_csv(tmp_path / "mine.csv", index=False)
    with pytest.warns(UserWarning, match=r"mine: .*'id' .*'one' "):
        run(replace(PLAIN, datasets=("mine",)), tmp_path / "results", Source(tmp_path))


@pytest.mark.usefixtures("in_this_process")
def test_a_source_may_be_a_single_file(folder, tmp_path):
    source = Source(folder / "wines.npz")
    assert source.names() == ("wines",)
    assert set(Source(folder).names()) == {"tumours", "wines"}
    assert Source().names() == ()
    cells = run(replace(PLAIN, datasets=source.names()), tmp_path, source).cells.rows()
    assert {cell.dataset for cell in cells} == {"wines"}


@pytest.mark.usefixtures("in_this_process")
def test_failures_are_recorded_and_stop_nothing(folder, tmp_path):
    fails = Contestant("mine", Fails(), "higher")
    results = run(plan_of(fails, LOF), tmp_path, Source(folder))
    cells = results.cells.rows()
    for cell, outcome in cells.items():
        if cell.detector == "mine":
            assert outcome.error == "ValueError: these rows cannot be used"
            assert outcome.auc_pr is None
        else:
            assert outcome.error is None
    plan = plan_of(replace(fails, detector=Distance()), LOF)
    assert run(plan, tmp_path, Source(folder)).cells.rows() == cells  # not tried again
    tried = run(plan, tmp_path, Source(folder), retry_failed=True).cells.rows()
    assert tried.keys() == cells.keys()
    assert all(outcome.error is None for outcome in tried.values())


def test_if_the_process_of_a_job_dies_all_its_results_have_the_error(folder, tmp_path, monkeypatch):
    died = MemoryError("its process died")
    monkeypatch.setattr(
        "ctad.evaluation._run.in_processes",
        lambda perform, jobs, n_processes: ((job, died) for job in jobs),
    )
    cells = run(plan_of(LOF), tmp_path, Source(folder)).cells.rows()
    assert len(cells) == 2 * len(CALIBRATIONS)
    assert {outcome.error for outcome in cells.values()} == {"MemoryError: its process died"}


@pytest.mark.parametrize(
    "error",
    [
        "MemoryError: no",
        "FileNotFoundError: no",
        "NotADirectoryError: mine: there is no such folder.",
        "ModuleNotFoundError: no",
        "MissingPackageError: no",
        "DownloadError: no",
        "RuntimeError: DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes.",
    ],
)
def test_faults_of_the_machine_are_tried_again(error):
    assert must_retry(error, retry_failed=False)


@pytest.mark.parametrize(
    "error", ["ValueError: no", "RuntimeError: no", "Refused: OSError", "print: x"]
)
def test_other_errors_stay(error):
    assert not must_retry(error, retry_failed=False)
    assert must_retry(error, retry_failed=True)


@pytest.mark.usefixtures("in_this_process")
def test_a_run_repeats_faults_of_the_machine_only(folder, tmp_path):
    cells = [Cell(dataset, LOF.name, "none", IN_ORDER.name, 0) for dataset in ("tumours", "wines")]
    lost, wrong = (Outcome("x", error=why) for why in ("MemoryError: no", "ValueError: no"))
    with Results(tmp_path).cells.writing() as add:
        add(zip(cells, (lost, wrong), strict=True))
    outcomes = run(PLAIN, tmp_path, Source(folder)).cells.rows()
    assert [outcomes[cell].error for cell in cells] == [None, "ValueError: no"]


@pytest.mark.usefixtures("in_this_process")
def test_a_name_with_two_blanks_is_measured_once(folder, tmp_path):
    own = tmp_path / "own"
    own.mkdir()
    (own / "my wines  2024.npz").write_bytes((folder / "wines.npz").read_bytes())
    plan = replace(PLAIN, datasets=("my wines  2024",))
    cells = run(plan, tmp_path, Source(own)).cells
    before = cells.csv_path.read_bytes()
    assert run(plan, tmp_path, Source(own)).cells.csv_path.read_bytes() == before


def test_without_a_connection_only_the_first_download_is_tried(tmp_path, monkeypatch):
    asked = []

    def refuse(known):
        asked.append(known.name)
        raise DownloadError(f"{known.name} was not downloaded")

    monkeypatch.setattr("ctad.datasets._download.download_file", refuse)
    monkeypatch.setenv("CTAD_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("CTAD_DATA_DIR", raising=False)
    plan = replace(PLAIN, datasets=("wine", "glass", "musk"))
    with (
        pytest.warns(UserWarning, match="is left out") as warned,
        pytest.raises(ValueError, match="none of the data sets can be loaded"),
    ):
        run(plan, tmp_path)
    assert asked == ["wine"]
    assert len(warned) == 3


@pytest.mark.usefixtures("in_this_process")
def test_a_calibration_that_fails_leaves_the_others(tmp_path):
    constant = np.ones((40, 2))
    constant[-4:] = 5
    np.savez(tmp_path / "constant.npz", X=constant, y=np.arange(40) >= 36)
    calibrations = (
        NO_CALIBRATION,
        Calibration("mahalanobis", MahalanobisDistance()),
        Calibration("centroid", CentroidDistance()),
    )
    plan = Plan(("constant",), (Entry(IN_ORDER, LOF, calibrations, (0,)),))
    cells = run(plan, tmp_path, Source(tmp_path)).cells.rows()
    errors = {cell.calibration: outcome.error for cell, outcome in cells.items()}
    assert errors["none"] is errors["centroid"] is None
    assert "all 18 training rows are equal" in errors["mahalanobis"]


@pytest.mark.usefixtures("in_this_process")
def test_a_data_set_that_cannot_be_loaded_is_left_out(folder, tmp_path):
    with pytest.warns(UserWarning, match="missing is left out"):
        results = run(replace(PLAIN, datasets=("wines", "missing")), tmp_path, Source(folder))
    assert {cell.dataset for cell in results.cells.rows()} == {"wines"}
    with (
        pytest.warns(UserWarning, match="missing is left out"),
        pytest.raises(ValueError, match="none of the data sets can be loaded"),
    ):
        run(replace(PLAIN, datasets=("missing",)), tmp_path, Source(folder))


@pytest.mark.usefixtures("in_this_process")
def test_another_data_set_of_the_same_name_is_refused(folder, tmp_path):
    run(PLAIN, tmp_path, Source(folder))
    other = tmp_path / "other"
    other.mkdir()
    np.savez(
        other / "wines.npz", X=np.random.default_rng(0).normal(size=(50, 2)), y=np.arange(50) < 5
    )
    with pytest.raises(ValueError, match=r"another data set called 'wines'.*choose another folder"):
        run(replace(PLAIN, datasets=("wines",)), tmp_path, Source(other))


@pytest.mark.parametrize("name", ["red\nwines", "\x1b[31mwines", "wines\ud800"])
def test_a_name_that_is_not_text_is_refused(wines, tmp_path, name):
    with pytest.raises(ValueError, match=r"has a line break, or .* in its name: rename the file"):
        Results(tmp_path).note(replace(wines, name=name))


def test_a_name_stands_for_one_thing():
    with pytest.raises(ValueError, match="two different protocols are called 'in order'"):
        plan_of(LOF, protocols=(IN_ORDER, replace(IN_ORDER, shuffled=True)))
    with pytest.raises(ValueError, match="two different contestants are called 'distance'"):
        plan_of(DISTANCE, replace(DISTANCE, polarity="lower"))


def test_quick_detectors_of_all_data_sets_come_before_slow_ones(tmp_path):
    plan = plan_of(DISTANCE, LOF, protocols=PROTOCOLS, seeds=(0, 1))
    rows = {"tumours": 387, "wines": 129}
    jobs = missing_jobs(plan, Results(tmp_path), rows, retry_failed=False)
    names = [[contestant.name for contestant, _ in job.contestants] for job in jobs]
    assert names == [["LocalOutlierFactor"]] * 8 + [["distance"]] * 8
    assert [job.seed for job in jobs[:8]] == [0] * 4 + [1] * 4
    assert [job.dataset for job in jobs[:4]] == ["wines"] * 2 + ["tumours"] * 2
    assert str(jobs[0]) == "wines, in order, seed 0"
    together = missing_jobs(
        replace(plan, slow_apart=False), Results(tmp_path), rows, retry_failed=False
    )
    assert [len(job.contestants) for job in together] == [2] * 8


def test_ctrl_c_between_two_results_stops_the_workers(folder, tmp_path, monkeypatch):
    stopped = []

    def results(perform, jobs, n_processes):
        try:
            yield from ((job, []) for job in jobs)
        finally:
            stopped.append(True)

    def interrupted(doing, done, total):
        if done:
            raise KeyboardInterrupt

    monkeypatch.setattr("ctad.evaluation._run.in_processes", results)
    monkeypatch.setattr("ctad.evaluation._run.report_progress", interrupted)
    with pytest.raises(KeyboardInterrupt):  # its traceback keeps the generator
        run(replace(PLAIN, datasets=("wines",)), tmp_path, Source(folder))
    assert stopped


SCRIPT = """
import sys
from pathlib import Path
import ctad.evaluation._run
from ctad.evaluation import Source, run
from tests.evaluation.test_run import slow_plan
ctad.evaluation._run.in_processes = lambda perform, jobs, n: ((job, perform(job)) for job in jobs)
run(slow_plan(), Path(sys.argv[2]), Source(Path(sys.argv[1])))
"""


def slow_plan(seconds=0.3):
    slow = Contestant("slow", Distance(seconds), "higher")
    return plan_of(slow, LOF, protocols=PROTOCOLS, seeds=(0, 1))


def test_a_killed_run_continues_where_it_was(folder, tmp_path, in_this_process):
    target = tmp_path / "results"
    cells = Results(target).cells
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(folder), str(target)], cwd=Path(__file__).parents[2]
    ) as process:
        while not cells.csv_path.exists() or len(cells.rows()) < 9 * len(CALIBRATIONS):
            assert process.poll() is None
            time.sleep(0.02)
        process.kill()  # while the slow detector is trained
    done = cells.rows()
    wanted = 2 * 2 * 2 * 2 * len(CALIBRATIONS)
    assert 0 < len(done) < wanted
    run(slow_plan(0.0), target, Source(folder))
    rows = cells.rows()
    assert len(rows) == wanted
    assert len(cells.csv_path.read_text().splitlines()) == 1 + wanted  # nothing twice
    assert done.items() <= rows.items()  # nothing is lost
    whole = run(slow_plan(0.0), tmp_path / "whole", Source(folder)).cells.rows()
    for cell, outcome in rows.items():
        assert outcome.auc_pr == whole[cell].auc_pr
