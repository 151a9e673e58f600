"""Splits, preparation, and how score and term are added."""

import numpy as np
import pyarrow as pa

from ctad.datasets import Dataset
from ctad.evaluation import RANDOM_SPLIT, Protocol, Values, add_by_training

UNSHUFFLED = Protocol("in order", "as in the file", shuffled=False, standardised=False)


def test_without_shuffling_the_first_half_of_the_normal_rows_is_for_training(tumours):
    split = UNSHUFFLED.split(tumours, seed=3)
    normal = tumours.X[~tumours.y]
    half = len(normal) // 2
    np.testing.assert_array_equal(split.train, normal[:half])
    np.testing.assert_array_equal(split.test, np.vstack([normal[half:], tumours.X[tumours.y]]))
    assert split.anomalous.sum() == 30
    assert split.anomalous[-30:].all()


def test_a_random_split_standardises_by_its_training_rows(tumours):
    split, again, other = (RANDOM_SPLIT.split(tumours, seed) for seed in (0, 0, 1))
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
    split = UNSHUFFLED.split(dataset, seed=0)
    assert split.train.shape == (19, 3)  # a number, and two values of text
    np.testing.assert_array_equal(split.test[-2:, 1:], 0)  # a value that training does not have
    np.testing.assert_array_equal(split.train[:, 0], np.arange(19) % 7)  # not standardised


def test_a_missing_value_does_not_change_the_other_rows():
    amount = np.arange(40.0) % 7
    y = np.repeat([False, True], [38, 2])
    whole = UNSHUFFLED.split(Dataset("whole", amount[:, None], y), seed=0)
    amount[3] = np.nan
    missing = UNSHUFFLED.split(Dataset("missing", pa.table({"amount": amount}), y), seed=0)
    np.testing.assert_array_equal(
        np.delete(missing.train[:, 0], 3), np.delete(whole.train[:, 0], 3)
    )
    np.testing.assert_array_equal(missing.test[:, 0], whole.test[:, 0])


def test_if_all_scores_are_infinite_the_term_decides():
    infinite = Values(np.full(4, np.inf), np.full(3, np.inf))
    terms = Values(np.arange(4.0), np.array([2.0, 0.0, 1.0]))
    np.testing.assert_array_equal(np.argsort(add_by_training(infinite, terms, 1.0)), [1, 2, 0])


def test_an_infinite_score_stays_highest():
    scores = Values(np.arange(4.0), np.array([np.inf, 1.0, 0.0]))
    terms = Values(np.arange(4.0), np.array([1.0, 0.0, 0.0]))
    np.testing.assert_array_equal(np.argsort(-add_by_training(scores, terms, 1.0)), [0, 1, 2])
