"""The paper's split, its sum of score and term, its calibrations and its settings."""

import pickle

import numpy as np
import pytest
from studies.paper.calibrations import ALTERNATIVES, AS_PUBLISHED, SWEEPS, term_alone, transport
from studies.paper.gaps import gap
from studies.paper.protocol import FIRST_HALF, add_by_test_batch
from studies.paper.published_settings import published_settings, with_published_settings
from studies.paper.runtimes import runtime, transport_by_pot
from studies.paper.study import contestant

from ctad import CTAD
from ctad.datasets import Dataset
from ctad.evaluation import RANDOM_SPLIT, Values
from tests.data import clusters


@pytest.fixture(scope="module")
def dataset():
    return Dataset("mine", clusters(120), np.arange(120) >= 100)


def test_training_rows_are_the_first_half_of_the_normal_rows(dataset):
    split = FIRST_HALF.split(dataset, seed=3)
    np.testing.assert_array_equal(split.train, dataset.X[:50])
    np.testing.assert_array_equal(split.test, dataset.X[50:])


def test_score_and_term_are_scaled_over_the_test_rows():
    scores = Values(np.zeros(3), np.array([1.0, 3.0, 2.0]))
    terms = Values(np.zeros(3), np.array([0.0, 10.0, 20.0]))
    np.testing.assert_allclose(add_by_test_batch(scores, terms, 0.5), [0.0, 1.25, 1.0])


def test_infinite_scores_are_highest_and_leave_the_others_apart():
    terms = Values(np.arange(4.0), np.array([1.0, 0.0, 0.0]))
    some = Values(np.arange(4.0), np.array([np.inf, 1.0, 0.0]))
    np.testing.assert_array_equal(np.argsort(-add_by_test_batch(some, terms, 1.0)), [0, 1, 2])
    terms = Values(np.arange(4.0), np.array([2.0, 0.0, 1.0]))
    infinite = Values(np.full(4, np.inf), np.full(3, np.inf))
    np.testing.assert_array_equal(np.argsort(add_by_test_batch(infinite, terms, 1.0)), [1, 2, 0])


def test_names_identify_calibrations():
    swept = [calibration for of in SWEEPS.values() for calibration in of.values()]
    names = {calibration.name for calibration in (*ALTERNATIVES, *swept)}
    assert AS_PUBLISHED.name == transport().name == "ctad uniform own K=5 M=20 weight=1"
    # Each of the three settings has the published value among others.
    assert len(names) == len(ALTERNATIVES) + len(swept) - 3


def test_a_term_can_stand_alone():
    values = Values(np.arange(2.0), np.arange(3.0))
    assert term_alone(values, values, 7.0) is values.test


def test_plans_are_sent_to_other_processes():
    sent = (FIRST_HALF, ALTERNATIVES, with_published_settings("DRL"))
    protocol, calibrations, detector = pickle.loads(pickle.dumps(sent))
    assert protocol == FIRST_HALF
    assert [c.name for c in calibrations] == [c.name for c in ALTERNATIVES]
    assert detector.settings("breastw") == published_settings("DRL", "breastw")


def test_published_settings_are_used_in_the_papers_protocol_only(dataset):
    pytest.importorskip("torch")
    assert published_settings("DRL", "breastw")["epochs"] == 20
    assert published_settings("DRL", "mine") == {}
    assert published_settings("GOAD", "wine") == {"scaling": "none"}
    assert published_settings("KNN", "wine") == {}
    breastw = Dataset("breastw", dataset.X, dataset.y)
    assert contestant("DRL", FIRST_HALF).build(breastw, 0).epochs == 20
    assert contestant("DRL", RANDOM_SPLIT).build(breastw, 0).epochs == 200


def test_run_times_are_of_the_same_transport(dataset):
    split = FIRST_HALF.split(dataset, 0)
    calibrator = CTAD(random_state=0).fit(split.train)
    np.testing.assert_allclose(
        transport_by_pot(calibrator, split.test), calibrator.delta(split.test), atol=1e-9
    )
    took = runtime(dataset, with_published_settings("ECOD"))
    assert min(took.detector_ms, took.transport_ms, took.pot_ms) > 0


def test_a_gap_is_between_the_means_of_the_term(dataset):
    split = FIRST_HALF.split(dataset, 0)
    term = CTAD(signal="own", random_state=4).fit(split.train).delta(split.test)
    found = gap(AS_PUBLISHED, split, seed=4)
    assert found.normal == pytest.approx(term[~split.anomalous].mean())
    assert found.anomalous == pytest.approx(term[split.anomalous].mean())
