"""Scores of detectors: their sign, their seeds, and the files that keep them."""

import os
from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import IsolationForest
from sklearn.neighbors import LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ctad import CalibratedDetector, RelaxedCTAD
from ctad.datasets import Dataset
from ctad.evaluation import RANDOM_SPLIT, Contestant, detector_scores

from .detectors import Distance

FOREST = Contestant("forest", IsolationForest(n_estimators=5))


def scores_of(contestant, dataset, protocol=RANDOM_SPLIT, seed=0, folder=None):
    split = protocol.split(dataset, seed)
    return detector_scores(contestant, dataset, protocol, seed, split, folder).scores


def few_trees(dataset):
    return {"n_estimators": len(dataset)}


def test_higher_scores_are_more_anomalous(wines):
    split = RANDOM_SPLIT.split(wines, 0)
    scores = scores_of(Contestant("forest", IsolationForest(n_estimators=20)), wines)
    assert scores.test[split.anomalous].mean() > scores.test[~split.anomalous].mean()
    assert len(scores.train) == len(split.train)


@pytest.mark.parametrize(
    "detector",
    [
        IsolationForest(n_estimators=5, random_state=0),
        LocalOutlierFactor(novelty=True),
        make_pipeline(StandardScaler(), LocalOutlierFactor(novelty=True)),
    ],
)
def test_scores_are_those_of_a_calibrated_detector(wines, detector):
    split = RANDOM_SPLIT.split(wines, 0)
    scores = scores_of(Contestant("any", detector), wines)
    calibrated = CalibratedDetector(detector, RelaxedCTAD(random_state=0)).fit(split.train)
    adapter = calibrated.adapter_
    kept = adapter.kept_training_scores()
    np.testing.assert_array_equal(
        scores.train, adapter.score(split.train) if kept is None else kept
    )
    np.testing.assert_array_equal(scores.test, adapter.score(split.test))


def test_nan_is_infinitely_anomalous(wines):
    # PyOD's PCA divides by the variance of a column that has none.
    pytest.importorskip("pyod")
    constant = Dataset("constant", np.column_stack([wines.X, np.ones(len(wines.y))]), wines.y)
    scores = scores_of(Contestant("PCA"), constant, replace(RANDOM_SPLIT, standardised=False))
    for values in (scores.train, scores.test):
        assert not np.isnan(values).any()
        assert np.isposinf(values).any()


def test_seeds_reach_random_detectors_only(wines):
    pytest.importorskip("pyod")
    for random in (Contestant("IForest"), FOREST):
        assert random.is_random
        assert random.build(wines, 7).random_state == 7
    for contestant in (Contestant("KNN"), Contestant("lof", LocalOutlierFactor(novelty=True))):
        assert not contestant.is_random
        contestant.build(wines, 7)


def test_settings_depend_on_the_data_set(wines):
    for contestant in (
        Contestant("IsolationForest", settings=few_trees),
        Contestant("forest", IsolationForest(), settings=few_trees),
    ):
        assert contestant.build(wines, 0).n_estimators == len("wines")


@pytest.fixture
def kept(wines, tmp_path):
    """A folder with the scores of a detector in a file with an old date."""
    before = scores_of(FOREST, wines, folder=tmp_path)
    [file] = tmp_path.iterdir()
    os.utime(file, (1, 1))
    return tmp_path, file, before


def test_scores_are_kept(wines, kept):
    folder, file, before = kept
    again = scores_of(FOREST, wines, folder=folder)
    np.testing.assert_array_equal(again.test, before.test)
    assert [*folder.iterdir()] == [file]
    assert file.stat().st_mtime == 1


def test_a_damaged_file_is_replaced(wines, kept):
    folder, file, before = kept
    file.write_bytes(file.read_bytes()[:100])
    np.testing.assert_array_equal(scores_of(FOREST, wines, folder=folder).train, before.train)
    np.savez(file.with_suffix(""), train=[0.0], test=[0.0], seconds=[1.0, 1.0])  # of other rows
    np.testing.assert_array_equal(scores_of(FOREST, wines, folder=folder).train, before.train)


def test_other_settings_seeds_data_and_protocols_have_other_files(wines, kept):
    folder, _, _ = kept
    others = (
        {"contestant": Contestant("forest", IsolationForest(n_estimators=6))},
        {"seed": 1},
        {"dataset": Dataset("wines", wines.X + 1, wines.y)},
        {"protocol": replace(RANDOM_SPLIT, standardised=False)},
    )
    for number, other in enumerate(others, start=2):
        scores_of(**{"contestant": FOREST, "dataset": wines, **other}, folder=folder)
        assert len([*folder.iterdir()]) == number


def test_scores_of_the_other_sign_have_another_file(wines, tmp_path):
    high, low = (
        scores_of(Contestant("distance", Distance(), polarity), wines, folder=tmp_path)
        for polarity in ("higher", "lower")
    )
    np.testing.assert_array_equal(high.test, -low.test)
