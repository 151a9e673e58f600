"""Metrics of scores; scikit-learn is the judge."""

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

from ctad.evaluation import measure


@pytest.mark.parametrize("decimals", [0, 12], ids=["ties", "no ties"])
def test_areas_are_those_of_scikit_learn(decimals):
    random = np.random.default_rng(0)
    anomalous = random.uniform(size=200) < 0.2
    scores = np.round(random.normal(size=200) + anomalous, decimals)
    metrics = measure(scores, anomalous)
    assert metrics.auc_pr == pytest.approx(average_precision_score(anomalous, scores))
    assert metrics.auc_roc == pytest.approx(roc_auc_score(anomalous, scores))


def test_infinite_scores_are_equal_and_above_all_others():
    anomalous = np.array([True, True, False, False])
    infinite = measure(np.array([np.inf, 1.0, np.inf, -np.inf]), anomalous)
    assert infinite == measure(np.array([9.0, 1.0, 9.0, 0.0]), anomalous)


def test_precision_at_n_shares_alarms_among_equal_rows():
    anomalous = np.array([True, True, False, False])
    assert measure(np.array([3.0, 2.0, 1.0, 0.0]), anomalous).precision_at_n == 1.0
    assert measure(np.array([3.0, 1.0, 1.0, 1.0]), anomalous).precision_at_n == pytest.approx(2 / 3)
    assert measure(np.full(4, np.inf), anomalous).precision_at_n == pytest.approx(0.5)


def test_nan_is_refused():
    with pytest.raises(ValueError, match="1 of 4 scores are NaN"):
        measure(np.array([3.0, np.nan, 1.0, 0.0]), np.array([True, True, False, False]))
