"""Drift: false alarms are as rare as stated, changes are found and named."""

import numpy as np
import pandas as pd
import pytest
from pyod.models.knn import KNN
from sklearn.ensemble import IsolationForest
from sklearn.exceptions import NotFittedError

from ctad import CTAD, CalibratedDetector, RelaxedCTAD
from ctad.wrapper._drift import drift_from_training

QUICK = RelaxedCTAD(n_centroids=20, n_draws=1)


def normal_rows(random, n):
    return random.normal(size=(n, 4)) @ np.array(
        [[1, 0.5, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0.9], [0, 0, 0, 1]]
    )


# Rows and scores alone


def drift(rows, sample, scores=None, normal=None, alpha=0.01):
    sources = [f"column {i}" for i in range(rows.shape[1])]
    return drift_from_training(rows, sample, sources, scores, normal, alpha)


@pytest.mark.slow
@pytest.mark.parametrize("n_new", [8, 300])
def test_the_false_alarm_rate_is_at_most_alpha(n_new):
    n_repeats, alpha, alarms = 200, 0.1, 0
    for seed in range(n_repeats):
        random = np.random.default_rng(seed)
        sample, new = normal_rows(random, 200), normal_rows(random, n_new)
        known, scores = random.normal(size=90), random.normal(size=n_new)
        alarms += not drift(new, sample, scores, known, alpha)
    assert alarms / n_repeats <= alpha + 3 * np.sqrt(alpha * (1 - alpha) / n_repeats)
    assert alarms > 0  # the test is not one that never fails


def test_two_values_are_compared_by_their_shares():
    now, then = np.array([[0.0]] * 40 + [[1.0]] * 60), np.array([[0.0]] * 90 + [[1.0]] * 10)
    [changed] = drift(now, then).drifts
    assert changed.statistic == pytest.approx(0.5)
    assert changed.has_changed
    [constant] = drift(np.ones((5, 1)), np.ones((5, 1))).drifts
    assert (constant.statistic, constant.p_value, constant.has_changed) == (0.0, 1.0, False)


def test_the_most_changed_feature_of_a_column_counts():
    random = np.random.default_rng(0)
    sample, new = random.normal(size=(300, 3)), random.normal(size=(300, 3))
    new[:, 1] += 2
    result = drift_from_training(new, sample, ["a", "a", "b"], None, None, 0.01)
    assert [(d.column, d.has_changed) for d in result.drifts] == [("a", True), ("b", False)]
    assert result.drifts[0].statistic > 0.5
    assert result.p_value is None


# CalibratedDetector.monitor


@pytest.fixture(scope="module")
def detector():
    X = normal_rows(np.random.default_rng(0), 1000)
    forest = IsolationForest(n_estimators=50)
    calibrator = RelaxedCTAD(training="normal")
    return CalibratedDetector(forest, calibrator, holdout=0.2, random_state=0).fit(X)


def test_rows_like_those_of_training_fit(detector, recwarn):
    result = detector.monitor(normal_rows(np.random.default_rng(1), 500))
    assert result.still_fits
    assert result.text == "The model still fits the data."
    assert result.p_value > 0.005
    assert result.alpha == 0.01
    assert sorted(drift.column for drift in result.drifts) == [f"column {i}" for i in range(4)]
    assert not recwarn.list


def test_changed_columns_are_named_in_a_warning(detector):
    new = normal_rows(np.random.default_rng(1), 500)
    new[:, 2] += 1.0
    with pytest.warns(UserWarning, match="because of column 'column 2'"):
        result = detector.monitor(new)
    assert not result.still_fits
    first, second = result.drifts[:2]
    assert (first.column, first.has_changed, second.has_changed) == ("column 2", True, False)
    assert first.statistic > 0.3
    assert first.p_value < 1e-10


def test_other_relations_between_columns_show_in_the_scores(detector):
    """Each single column is distributed as before."""
    new = normal_rows(np.random.default_rng(1), 500)
    new[:, 3] = new[::-1, 3]
    with pytest.warns(UserWarning, match="does not fit the data any more: scores are higher"):
        result = detector.monitor(new)
    assert result.p_value < 0.005
    assert not any(drift.has_changed for drift in result.drifts)


def test_scores_that_are_too_low_are_drift_too(detector):
    with pytest.warns(UserWarning, match="scores are lower"):
        detector.monitor(0.1 * normal_rows(np.random.default_rng(1), 500))


def test_many_changed_columns_are_counted():
    random = np.random.default_rng(0)
    detector = CalibratedDetector(KNN(), QUICK, random_state=0).fit(random.normal(size=(300, 20)))
    with pytest.warns(UserWarning, match=r"because of columns ('column \d+', ){4}.* and 15 more\."):
        result = detector.monitor(random.normal(size=(300, 20)) + 2)
    assert result.p_value is None  # no rows were held out


def test_columns_of_tables_are_compared_by_all_of_their_features():
    random = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "amount": random.lognormal(size=800),
            "plan": random.choice(["a", "b", "c"], 800, p=[0.6, 0.3, 0.1]),
            "day": pd.Timestamp("2026-01-05") + pd.to_timedelta(random.integers(0, 5, 800), "D"),
        }
    )
    detector = CalibratedDetector(KNN(), QUICK, holdout=0.2, random_state=0).fit(table[:500])
    assert detector.monitor(table[500:]).still_fits
    with pytest.warns(UserWarning, match="because of column 'plan'"):
        result = detector.monitor(table[500:].assign(plan="c"))
    assert result.drifts[0].column == "plan"
    assert len(result.drifts) == 3


def test_a_rare_value_that_becomes_less_rare_is_drift():
    random = np.random.default_rng(0)
    table = pd.DataFrame(
        {"a": random.normal(size=2000), "plan": random.choice(["x", "y"], 2000, p=[0.98, 0.02])}
    )
    detector = CalibratedDetector(KNN(), CTAD(), random_state=0).fit(table)
    new = pd.DataFrame(
        {"a": random.normal(size=500), "plan": random.choice(["x", "y"], 500, p=[0.92, 0.08])}
    )
    with pytest.warns(UserWarning, match="because of column 'plan'"):
        assert not detector.monitor(new)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The model does not fit")
def test_monitor_has_the_stated_false_alarm_rate():
    n_repeats, alpha, alarms = 40, 0.1, 0
    for seed in range(n_repeats):
        random = np.random.default_rng(seed)
        detector = CalibratedDetector(KNN(), CTAD(), holdout=0.3, random_state=seed)
        detector.fit(normal_rows(random, 300))
        alarms += not detector.monitor(normal_rows(random, 300), alpha=alpha)
    assert alarms / n_repeats <= alpha + 3 * np.sqrt(alpha * (1 - alpha) / n_repeats)


def test_nothing_is_monitored_before_fit():
    with pytest.raises(NotFittedError):
        CalibratedDetector(KNN()).monitor([[0.0]])
