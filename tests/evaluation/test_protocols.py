"""Splits, preparation, and how score and term are added."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from ctad.datasets import Dataset
from ctad.errors import InputError
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


@pytest.mark.parametrize("shuffled", [True, False])
def test_anomalies_among_the_training_rows_are_not_in_the_test(tumours, shuffled):
    clean = replace(RANDOM_SPLIT, shuffled=shuffled, standardised=False)
    dirty = replace(clean, training_anomalies=0.05)
    n_training = np.count_nonzero(~tumours.y) // 2
    n = round(0.05 * n_training)
    assert dirty.n_training_anomalies(tumours) == n == 9
    before, split, other = clean.split(tumours, 0), dirty.split(tumours, 0), dirty.split(tumours, 1)
    assert len(split.train) == n_training
    np.testing.assert_array_equal(split.train[:-n], before.train[n:])  # the other rows stay
    rows = {tuple(row) for row in tumours.X[tumours.y]}
    assert [tuple(row) in rows for row in split.train] == [False] * (n_training - n) + [True] * n
    assert not {tuple(row) for row in split.train[-n:]} & {tuple(row) for row in split.test}
    assert split.anomalous.sum() == before.anomalous.sum() - n
    np.testing.assert_array_equal(split.test[~split.anomalous], before.test[~before.anomalous])
    assert not np.array_equal(split.train[-n:], other.train[-n:])
    with pytest.raises(InputError, match=r"tumours has 30 anomalies, too few: training needs 36"):
        replace(clean, training_anomalies=0.2).split(tumours, 0)


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
