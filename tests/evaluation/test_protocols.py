"""Splits, preparation, and how score and term are added."""

import numpy as np
import pyarrow as pa
import pytest

from ctad import CTAD
from ctad.datasets import Dataset, read_dataset
from ctad.evaluation import PROTOCOLS, Calibration, Values

PUBLISHED, HONEST = PROTOCOLS["published"], PROTOCOLS["honest"]


@pytest.fixture
def tumours(folder):
    return read_dataset(folder / "tumours.npz")


def test_published_learns_from_the_first_half_of_the_normal_rows_as_they_are(tumours):
    split = PUBLISHED.split(tumours, seed=3)
    normal = tumours.X[~tumours.y]
    half = len(normal) // 2
    np.testing.assert_array_equal(split.train, normal[:half])
    np.testing.assert_array_equal(split.test, np.vstack([normal[half:], tumours.X[tumours.y]]))
    assert split.anomalous.sum() == 30
    assert split.anomalous[-30:].all()


def test_honest_learns_from_a_random_half_and_standardises_by_it(tumours):
    split, again, other = (HONEST.split(tumours, seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(split.train, again.train)
    assert not np.array_equal(split.train, other.train)
    np.testing.assert_allclose(split.train.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(split.train.std(axis=0), 1)
    assert len(split.train) + len(split.test) == len(tumours.y)
    # No row is on both sides, in spite of the shuffling.
    both = np.vstack([split.train, split.test])
    assert len(np.unique(both, axis=0)) == len(np.unique(tumours.X, axis=0))


def test_a_table_with_text_is_encoded_by_its_training_rows():
    table = pa.table({"amount": np.arange(40.0) % 7, "plan": ["a", "b"] * 19 + ["new", "new"]})
    dataset = Dataset("mixed", table, np.repeat([False, True], [38, 2]))
    split = PUBLISHED.split(dataset, seed=0)
    assert split.train.shape == (19, 3)  # a number, and two values of text
    np.testing.assert_array_equal(split.test[-2:, 1:], 0)  # a value never seen
    np.testing.assert_array_equal(split.train[:, 0], np.arange(19) % 7)  # as it is


def test_one_gap_does_not_change_the_other_rows_under_the_published_protocol():
    amount = np.arange(40.0) % 7
    y = np.repeat([False, True], [38, 2])
    whole = PUBLISHED.split(Dataset("whole", amount[:, None], y), seed=0)
    amount[3] = np.nan
    gap = PUBLISHED.split(Dataset("gap", pa.table({"amount": amount}), y), seed=0)
    np.testing.assert_array_equal(np.delete(gap.train[:, 0], 3), np.delete(whole.train[:, 0], 3))
    np.testing.assert_array_equal(gap.test[:, 0], whole.test[:, 0])


def test_adding_by_the_test_batch_is_the_papers_way():
    scores = Values(np.zeros(3), np.array([1.0, 3.0, 2.0]))
    terms = Values(np.zeros(3), np.array([0.0, 10.0, 20.0]))
    np.testing.assert_allclose(PUBLISHED.add(scores, terms, 0.5), [0.0, 1.25, 1.0])


def test_adding_by_training_is_what_the_library_does(tumours):
    split = HONEST.split(tumours, seed=0)
    scores = Values(split.train[:, 0] ** 2, split.test[:, 0] ** 2)
    calibration = Calibration(weight=0.7)
    calibrator = calibration.calibrator(seed=5).fit(split.train)
    terms = Values(calibrator.delta(split.train), calibrator.delta(split.test))
    theirs = CTAD(signal="own", weight=0.7, score_scaling="standard", random_state=5)
    theirs.fit(split.train, scores=scores.train)
    np.testing.assert_allclose(
        calibration.applied(scores, terms, HONEST), theirs.calibrate(scores.test, split.test)
    )


@pytest.mark.parametrize("protocol", PROTOCOLS.values(), ids=PROTOCOLS)
def test_a_detector_that_scores_all_rows_infinite_leaves_the_term_alone(protocol):
    infinite = Values(np.full(4, np.inf), np.full(3, np.inf))
    terms = Values(np.arange(4.0), np.array([2.0, 0.0, 1.0]))
    calibrated = protocol.add(infinite, terms, 1.0)
    np.testing.assert_array_equal(np.argsort(calibrated), [1, 2, 0])


def test_one_infinite_score_stays_on_top_and_the_others_tell_rows_apart():
    scores = Values(np.arange(4.0), np.array([np.inf, 1.0, 0.0]))
    terms = Values(np.arange(4.0), np.array([1.0, 0.0, 0.0]))
    for protocol in PROTOCOLS.values():
        np.testing.assert_array_equal(np.argsort(-protocol.add(scores, terms, 1.0)), [0, 1, 2])


def test_names_tell_calibrations_apart():
    different = [
        Calibration(),
        Calibration(signal="total"),
        Calibration(target="free"),
        Calibration(n_centroids=6),
        Calibration(n_references=21),
        Calibration(weight=0.9),
        Calibration("none"),
        Calibration("transport only"),
        Calibration("transport only", signal="total"),
        Calibration("centroid distance"),
        Calibration("centroid distance", n_centroids=6),
        Calibration("mahalanobis"),
        Calibration("mahalanobis", weight=0.5),
        Calibration("algorithm 1"),
        Calibration("recommended"),
    ]
    assert len({calibration.name for calibration in different}) == len(different)


def test_algorithm_1_is_the_plain_sum(tumours):
    split = PUBLISHED.split(tumours, seed=0)
    calibrator = Calibration("algorithm 1").calibrator(seed=0).fit(split.train)
    scores = Values(np.zeros(len(split.train)), np.arange(float(len(split.test))))
    terms = Values(calibrator.delta(split.train), calibrator.delta(split.test))
    theirs = CTAD(random_state=0).fit(split.train)
    np.testing.assert_array_equal(
        Calibration("algorithm 1").applied(scores, terms, PUBLISHED),
        theirs.calibrate(scores.test, split.test),
    )
