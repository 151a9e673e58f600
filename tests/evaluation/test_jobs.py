"""What a process does, done in this one."""

import numpy as np
import pytest
from sklearn.ensemble import IsolationForest
from sklearn.neighbors import LocalOutlierFactor

from ctad import CTAD
from ctad.datasets import Dataset, read_dataset
from ctad.evaluation import (
    NONE,
    PROTOCOLS,
    Calibration,
    Contestant,
    Entry,
    GapEntry,
    OwnCalibration,
    Plan,
    Results,
    Source,
    published_settings,
    run,
    transport_by_pot,
)
from ctad.evaluation._jobs import missing_jobs
from ctad.evaluation._runtimes import runtime
from ctad.evaluation._scores import detector_scores
from ctad.evaluation._terms import Terms
from ctad.paper._study import ALTERNATIVES

from .fragile import Refuses


@pytest.fixture(scope="module")
def wines(folder):
    return read_dataset(folder / "wines.npz")


def test_all_calibrations_of_a_job_are_what_a_run_writes(folder, tmp_path):
    calibrations = (NONE, *ALTERNATIVES)
    plan = Plan(
        ("wines",),
        (Entry("honest", Contestant("KNN"), calibrations, (0,)),),
        (GapEntry("honest", (Calibration(),), (0,)),),
    )
    [job] = missing_jobs(plan, Results(tmp_path / "none"), {"wines": 129}, retry_failed=False)
    assert len(job) == len(calibrations) + 1
    assert str(job) == "wines, honest, seed 0"
    found = job.perform(Source(folder), tmp_path / "kept")
    stored = run(plan, tmp_path, Source(folder)).cells.rows()
    assert [cell for cell, _ in found.cells] == list(stored)
    for cell, outcome in found.cells:
        assert outcome[1:7] == pytest.approx(stored[cell][1:7], abs=1e-6)
    [(term, gap)] = found.gaps
    assert term.calibration == Calibration().name
    assert gap.anomalous > gap.normal


def test_a_slow_detector_has_a_job_of_its_own_unless_told_otherwise(tmp_path):
    forest = Contestant("mine", IsolationForest())
    entries = tuple(Entry("honest", one, (NONE,), (0,)) for one in (forest, Contestant("KNN")))
    plan = Plan(("wines",), entries)
    for slow_apart, expected in ((True, [1, 1]), (False, [2])):
        jobs = missing_jobs(
            plan._replace(slow_apart=slow_apart),
            Results(tmp_path),
            {"wines": 1},
            retry_failed=False,
        )
        assert [len(job.contestants) for job in jobs] == expected


def test_terms_of_the_same_calibrator_are_computed_once(wines):
    split = PROTOCOLS["honest"].split(wines, 0)
    terms, calibrator = Terms(split, 0), CTAD()
    first, _ = terms.of(OwnCalibration("a", calibrator))
    assert terms.of(OwnCalibration("b", calibrator, 2.0))[0] is first
    assert terms.of(OwnCalibration("a", CTAD()))[0] is not first


def test_a_job_that_fails_tells_why_for_each_of_its_results(folder, tmp_path):
    entry = Entry("published", Contestant("refuses", Refuses(), "higher"), (NONE,), (0,))
    plan = Plan(("wines",), (entry,), (GapEntry("published", (Calibration(n_centroids=0),), (0,)),))
    jobs = missing_jobs(plan, Results(tmp_path), {"wines": 129}, retry_failed=False)
    gaps_first = [job.perform(Source(folder), tmp_path) for job in jobs]
    assert "n_centroids" in gaps_first[0].gaps[0][1].error
    assert "not to my liking" in gaps_first[1].cells[0][1].error
    lost = [job.fail(MemoryError("all of it")) for job in jobs]
    assert lost[0].gaps[0][1].error == lost[1].cells[0][1].error == "MemoryError: all of it"


def test_scores_of_scikit_learn_are_turned_and_nan_is_infinitely_bad(wines):
    protocol = PROTOCOLS["honest"]
    split = protocol.split(wines, 0)
    forest = Contestant("forest", IsolationForest(n_estimators=20))
    scores = detector_scores(forest, wines, protocol, 0, split, None).scores
    assert scores.test[split.anomalous].mean() > scores.test[~split.anomalous].mean()
    assert len(scores.train) == len(split.train)
    # PyOD's PCA divides by the variance of a column that has none.
    constant = Dataset("constant", np.column_stack([wines.X, np.ones(len(wines.y))]), wines.y)
    split = PROTOCOLS["published"].split(constant, 0)
    scores = detector_scores(
        Contestant("PCA"), constant, PROTOCOLS["published"], 0, split, None
    ).scores
    assert not np.isnan(scores.train).any()
    assert not np.isnan(scores.test).any()


def test_seeds_reach_detectors_that_are_random_and_no_others(wines):
    for protocol in PROTOCOLS.values():
        assert Contestant("IForest").build(protocol, wines, 7).random_state == 7
        assert Contestant("mine", IsolationForest()).build(protocol, wines, 7).random_state == 7
        Contestant("KNN").build(protocol, wines, 7)
        Contestant("lof", LocalOutlierFactor(novelty=True)).build(protocol, wines, 7)


def test_published_settings_are_for_the_papers_data_sets_alone(wines):
    pytest.importorskip("torch")
    assert published_settings("DRL", "breastw")["epochs"] == 20
    assert published_settings("GOAD", None) == {"scaling": "none"}
    assert published_settings("KNN", "wine") == {}
    own = Dataset("wine", wines.X, wines.y)  # not the paper's
    plain = Contestant("DRL").build(PROTOCOLS["honest"], own, 0)
    assert Contestant("DRL").build(PROTOCOLS["published"], own, 0).epochs == plain.epochs


def test_run_times_are_of_the_same_transport(wines):
    split = PROTOCOLS["published"].split(wines, 0)
    calibrator = CTAD(random_state=0).fit(split.train)
    np.testing.assert_allclose(
        transport_by_pot(calibrator, split.test), calibrator.delta(split.test), atol=1e-9
    )
    took = runtime(wines, Contestant("ECOD"))
    assert took.error is None
    assert min(took.detector_ms, took.transport_ms, took.pot_ms) > 0
    assert "not to my liking" in runtime(wines, Contestant("no", Refuses(), "higher")).error
