"""Which rows are trained on, which are held out, and which seeds are set."""

import numpy as np
import pytest
from sklearn.ensemble import IsolationForest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import QuantileTransformer, StandardScaler

from ctad.wrapper._seeds import seeded_clone
from ctad.wrapper._training_split import split_rows, training_sample


def random():
    return np.random.RandomState(0)


def test_all_rows_are_trained_on_by_default():
    split = split_rows(5, None, None, random())
    assert split.trained.tolist() == [0, 1, 2, 3, 4]
    assert not len(split.held_out)
    assert split.n_anomalies == 0


def test_normal_rows_are_split_in_their_order():
    anomalous = np.arange(100) % 10 == 0
    split = split_rows(100, anomalous, 0.2, random())
    assert split.n_anomalies == 10
    assert (len(split.trained), len(split.held_out)) == (72, 18)
    together = np.concatenate([split.trained, split.held_out])
    assert np.sort(together).tolist() == np.flatnonzero(~anomalous).tolist()
    for part in (split.trained, split.held_out):
        assert (np.diff(part) > 0).all()


def test_too_few_rows_are_named():
    with pytest.raises(ValueError, match="leaves 3 to train on and 0 to hold out"):
        split_rows(3, None, 0.1, random())
    with pytest.raises(ValueError, match="y labels 1 of 3 rows as normal"):
        split_rows(3, np.array([True, False, True]), None, random())


def test_only_unset_seeds_are_set():
    pipeline = make_pipeline(
        QuantileTransformer(), StandardScaler(), IsolationForest(random_state=5)
    )
    seeded = seeded_clone(pipeline, random())
    assert seeded[0].random_state is not None
    assert seeded[2].random_state == 5
    assert seeded[0].random_state == seeded_clone(pipeline, random())[0].random_state
    assert seeded_clone(pipeline, None)[0].random_state is None
    assert pipeline[0].random_state is None


def test_objects_without_parameters_are_copied():
    class Plain:
        value = 1

    original = Plain()
    assert seeded_clone(original, random()) is not original


def test_the_training_sample_is_limited_in_rows_and_numbers():
    rows = np.arange(3000.0)[:, np.newaxis]
    sample = training_sample(rows)
    assert sample.shape == (2000, 1)
    assert (np.diff(sample[:, 0]) > 0).all()
    assert training_sample(np.zeros((50, 2**17))).shape == (16, 2**17)
    few = training_sample(rows[:5])
    assert few is not rows
    np.testing.assert_array_equal(few, rows[:5])
