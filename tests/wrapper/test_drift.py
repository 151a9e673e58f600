"""Whether the model still fits: false alarms as rare as stated, changes found and named."""

import numpy as np
import pandas as pd
import pytest
from pyod.models.knn import KNN
from sklearn.ensemble import IsolationForest
from sklearn.exceptions import NotFittedError

from ctad import CalibratedDetector, RelaxedCTAD


def normal_rows(random, n):
    return random.normal(size=(n, 4)) @ np.array(
        [[1, 0.5, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0.9], [0, 0, 0, 1]]
    )


@pytest.mark.filterwarnings("ignore:The model does not fit")
@pytest.mark.parametrize("n_new", [8, 300])
def test_data_that_fits_is_seldom_said_not_to(n_new):
    alarms, n_seeds, error = 0, 100, 0.1
    for seed in range(n_seeds):
        random = np.random.default_rng(seed)
        detector = CalibratedDetector(
            KNN(), RelaxedCTAD(n_centroids=5, n_draws=1), holdout=0.3, random_state=seed
        )
        detector.fit(normal_rows(random, 300))
        alarms += not detector.monitor(normal_rows(random, n_new), alpha=error).still_fits
    assert alarms / n_seeds <= error + 3 * np.sqrt(error * (1 - error) / n_seeds)
    if n_new == 300:
        assert alarms > 0  # it is no test that never fails


@pytest.fixture(scope="module")
def detector():
    X = normal_rows(np.random.default_rng(0), 1000)
    return CalibratedDetector(IsolationForest(), holdout=0.2, random_state=0).fit(X)


def test_a_model_that_fits(detector, recwarn):
    fit = detector.monitor(normal_rows(np.random.default_rng(1), 500))
    assert fit.still_fits
    assert fit.text == "The model still fits the data."
    assert fit.p_value > 0.005
    assert fit.alpha == 0.01
    assert sorted(drift.column for drift in fit.drifts) == [f"column {i}" for i in range(4)]
    assert not recwarn.list


def test_changed_columns_are_named_and_nothing_is_blocked(detector):
    new = normal_rows(np.random.default_rng(1), 500)
    new[:, 2] += 1.0
    with pytest.warns(UserWarning, match="because of column 'column 2'"):
        fit = detector.monitor(new)
    assert not fit.still_fits
    first, second = fit.drifts[:2]
    assert (first.column, first.has_changed, second.has_changed) == ("column 2", True, False)
    assert first.statistic > 0.3
    assert first.p_value < 1e-10


def test_other_relations_between_columns_show_in_the_scores(detector):
    """Each column for itself is as before: only the scores can tell."""
    new = normal_rows(np.random.default_rng(1), 500)
    new[:, 3] = new[::-1, 3]
    with pytest.warns(UserWarning, match="does not fit the data any more: scores are higher"):
        fit = detector.monitor(new)
    assert fit.p_value < 0.005
    assert not any(drift.has_changed for drift in fit.drifts)


def test_rows_too_much_like_the_middle_do_not_fit_either(detector):
    with pytest.warns(UserWarning, match="scores are lower"):
        detector.monitor(0.1 * normal_rows(np.random.default_rng(1), 500))


def test_many_changed_columns_are_counted():
    random = np.random.default_rng(0)
    detector = CalibratedDetector(KNN(), random_state=0).fit(random.normal(size=(300, 20)))
    with pytest.warns(UserWarning, match=r"because of columns ('column \d+', ){4}.* and 15 more\."):
        fit = detector.monitor(random.normal(size=(300, 20)) + 2)
    assert fit.p_value is None  # no rows were held out


def test_columns_of_tables_are_compared_in_any_of_their_numbers():
    random = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "amount": random.lognormal(size=800),
            "plan": random.choice(["a", "b", "c"], 800, p=[0.6, 0.3, 0.1]),
            "day": pd.Timestamp("2026-01-05") + pd.to_timedelta(random.integers(0, 5, 800), "D"),
        }
    )
    detector = CalibratedDetector(IsolationForest(), holdout=0.2, random_state=0).fit(table[:500])
    assert detector.monitor(table[500:]).still_fits
    with pytest.warns(UserWarning, match="because of column 'plan'"):
        fit = detector.monitor(table[500:].assign(plan="c"))
    assert fit.drifts[0].column == "plan"
    assert len(fit.drifts) == 3


def test_a_rare_value_that_is_less_rare_is_seen():
    random = np.random.default_rng(0)
    table = pd.DataFrame(
        {"a": random.normal(size=2000), "plan": random.choice(["x", "y"], 2000, p=[0.98, 0.02])}
    )
    detector = CalibratedDetector(IsolationForest(), random_state=0).fit(table)
    new = pd.DataFrame(
        {"a": random.normal(size=500), "plan": random.choice(["x", "y"], 500, p=[0.92, 0.08])}
    )
    with pytest.warns(UserWarning, match="because of column 'plan'"):
        assert not detector.monitor(new)


def test_nothing_is_monitored_before_fit():
    with pytest.raises(NotFittedError):
        CalibratedDetector(KNN()).monitor([[0.0]])
