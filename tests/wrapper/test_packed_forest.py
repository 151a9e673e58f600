"""Isolation forests on packed trees: the same scores as scikit-learn's, for any rows."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyod.models.iforest import IForest
from sklearn.ensemble import IsolationForest
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from ctad.wrapper._packed_forest import ROWS_PER_CALL, ForestScorer, PackedForest

from ..data import clusters

X_TRAIN, X_NEW = clusters(300), clusters(500, seed=1) * 2


def rows_that_test_every_comparison(forest, rows):
    """Rows with values at the thresholds, next to them, equal, huge and tiny."""
    thresholds = np.concatenate([tree.tree_.threshold for tree in forest.estimators_])
    at_thresholds = np.resize(thresholds, rows.shape)
    return np.concatenate(
        [
            rows,
            at_thresholds,
            np.nextafter(at_thresholds, np.inf),
            np.nextafter(at_thresholds.astype(np.float32), np.float32(-np.inf)),
            np.full((1, rows.shape[1]), 3e38),
            np.full((1, rows.shape[1]), -3e38),
            np.full((1, rows.shape[1]), 1e-45),
            np.zeros((1, rows.shape[1])),
        ]
    )


@given(
    seed=st.integers(0, 2**32 - 1),
    n_rows=st.integers(2, 40),
    n_columns=st.integers(1, 5),
    n_estimators=st.integers(1, 6),
    max_samples=st.sampled_from([2, 3, 16, 1.0]),
    max_features=st.sampled_from([1, 0.6, 1.0]),
    scale=st.sampled_from([1e-40, 1e-3, 1.0, 1e37]),
    decimals=st.sampled_from([0, 1, 17]),
)
def test_scores_are_those_of_scikit_learn(
    seed, n_rows, n_columns, n_estimators, max_samples, max_features, scale, decimals
):
    random = np.random.default_rng(seed)
    rows = random.normal(size=(n_rows, n_columns)).round(decimals) * scale
    forest = IsolationForest(
        n_estimators=n_estimators,
        max_samples=min(max_samples, n_rows),
        max_features=max_features,
        random_state=int(seed),
    ).fit(rows)
    new = rows_that_test_every_comparison(forest, rows)
    packed = PackedForest.of(forest)
    expected = -forest.score_samples(new)
    for dtype in (np.float64, np.float32):
        np.testing.assert_array_equal(packed.score(new.astype(dtype)), expected)


def test_a_row_has_the_same_bits_in_any_batch_and_with_any_number_of_threads():
    packed = PackedForest.of(IsolationForest(n_estimators=20, random_state=0).fit(X_TRAIN))
    rows = np.resize(X_NEW, (ROWS_PER_CALL * 2 + 100, X_NEW.shape[1]))
    scores = packed.score(rows)
    np.testing.assert_array_equal(scores[: len(X_NEW)], scores[len(X_NEW) : 2 * len(X_NEW)])
    alone = [packed.score(row[np.newaxis])[0] for row in rows[:130]]
    np.testing.assert_array_equal(alone, scores[:130])
    np.testing.assert_array_equal(packed.score(rows[:130][::-1])[::-1], scores[:130])
    np.testing.assert_array_equal(packed.score(np.asfortranarray(rows)), scores)
    np.testing.assert_array_equal(packed.score(rows, n_jobs=2), scores)


@pytest.mark.interpreted
@pytest.mark.parametrize(
    ("detector", "method"),
    [
        (IsolationForest(n_estimators=9, random_state=0), "score_samples"),
        (
            FrozenEstimator(IsolationForest(n_estimators=9, random_state=0).fit(X_TRAIN)),
            "score_samples",
        ),
        (
            make_pipeline(StandardScaler(), IsolationForest(n_estimators=9, random_state=0)),
            "score_samples",
        ),
        (IForest(9, contamination=0.2, random_state=0), "decision_function"),
        (make_pipeline(StandardScaler(), IForest(9, random_state=0)), "decision_function"),
    ],
)
def test_a_detector_is_scored_as_by_its_own_method(detector, method):
    detector.fit(X_TRAIN, None)
    scores = ForestScorer(detector, method)(X_NEW)
    np.testing.assert_array_equal(scores, getattr(detector, method)(X_NEW))


@pytest.mark.parametrize("detector", [IsolationForest(n_estimators=9), IForest(9)])
def test_a_forest_that_is_fitted_again_is_packed_again(detector):
    method = "score_samples" if isinstance(detector, IsolationForest) else "decision_function"
    scorer = ForestScorer(detector.fit(X_TRAIN), method)
    before = scorer(X_NEW)
    detector.fit(X_TRAIN * 3)
    again = scorer(X_NEW)
    assert not np.allclose(before, again)
    np.testing.assert_array_equal(again, getattr(detector, method)(X_NEW))


def test_a_warm_start_without_new_trees_is_seen():
    forest = IsolationForest(n_estimators=10, warm_start=True, random_state=0).fit(X_TRAIN[:50])
    scorer = ForestScorer(forest, "score_samples")
    scorer(X_NEW)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # no new trees
        forest.fit(X_TRAIN)
    np.testing.assert_array_equal(scorer(X_NEW), forest.score_samples(X_NEW))


class Doubled(Pipeline):
    def score_samples(self, X):
        return 2 * super().score_samples(X)


class Counting(FunctionTransformer):
    calls = 0

    def transform(self, X):
        Counting.calls += 1
        return np.asarray(X, dtype=int)  # the packed forest leaves integers to the detector


def test_steps_before_the_forest_run_once():
    steps = Counting(), IsolationForest(n_estimators=9, random_state=0)
    detector = make_pipeline(*steps).fit(X_TRAIN)
    Counting.calls = 0
    scores = ForestScorer(detector, "score_samples")(X_NEW)
    assert Counting.calls == 1
    np.testing.assert_array_equal(scores, detector.score_samples(X_NEW))


def test_packed_trees_are_not_pickled():
    scorer = ForestScorer(IsolationForest(random_state=0).fit(X_TRAIN), "score_samples")
    before = len(pickle.dumps(scorer))
    scores = scorer(X_NEW)
    pickled = pickle.dumps(scorer)
    assert len(pickled) == before
    np.testing.assert_array_equal(pickle.loads(pickled)(X_NEW), scores)


class OwnForest(IsolationForest):
    def score_samples(self, X):
        return np.zeros(len(X))


def test_other_detectors_and_rows_are_left_to_the_detector():
    forest = IsolationForest(n_estimators=9, random_state=0).fit(X_TRAIN)
    scorer = ForestScorer(forest, "score_samples")
    missing = X_NEW.copy()
    missing[3, 1] = np.nan
    as_lists = X_NEW.tolist()
    for rows in (missing, X_NEW * 1e300, X_NEW[:, :2], X_NEW[:0], X_NEW.astype(int), as_lists):
        assert scorer(rows) is None
    for unfitted in (IsolationForest(), IForest()):
        for method in ("score_samples", "decision_function"):
            assert ForestScorer(unfitted, method)(X_NEW) is None
    doubled = Doubled([("forest", forest)])
    assert ForestScorer(doubled, "score_samples")(X_NEW) is None
    named = IsolationForest(n_estimators=9).fit(pd.DataFrame(X_TRAIN).add_prefix("column "))
    assert ForestScorer(named, "score_samples")(X_NEW) is None
    assert ForestScorer(forest, "decision_function")(X_NEW) is None
    assert ForestScorer(OwnForest(n_estimators=9).fit(X_TRAIN), "score_samples")(X_NEW) is None
    one_row_per_tree = IsolationForest(n_estimators=3, max_samples=1, random_state=0).fit(X_TRAIN)
    assert ForestScorer(one_row_per_tree, "score_samples")(X_NEW) is None
