"""What anomalies among the rows held out do to the false-alarm rate: docs/decisions.md."""

import numpy as np
import pytest
from scipy import stats

from ctad.wrapper import ConformalDecisions

REPEATS, N_HELD_OUT, N_NEW = 400, 200, 200
ALARM_RATE = 0.05


def rates(share, anomaly_score):
    """The shares of new normal rows and of new anomalies that raise an alarm, in each repeat."""
    random = np.random.default_rng(0)
    n_anomalies = round(share * N_HELD_OUT)
    alarms = []
    for _ in range(REPEATS):
        normal, new = random.normal(size=N_HELD_OUT - n_anomalies), random.normal(size=N_NEW)
        decisions = ConformalDecisions(np.concatenate([normal, anomaly_score(random, n_anomalies)]))
        anomalies = anomaly_score(random, N_NEW)
        alarms.append([decisions.alarms(one, ALARM_RATE).mean() for one in (new, anomalies)])
    return np.array(alarms).T


def usual(random, n):
    """Anomalies have higher scores than most normal rows."""
    return random.normal(3.0, 1.0, size=n)


def worst(random, n):
    """A detector that gives anomalies the lowest scores."""
    return random.normal(-9.0, 1.0, size=n)


def assert_mean(values, expected):
    """Within the 99.9 % interval of a mean over the repeats."""
    error = stats.norm.ppf(0.9995) * values.std(ddof=1) / np.sqrt(len(values))
    assert values.mean() == pytest.approx(expected, abs=error)


def test_without_anomalies_the_rate_is_exact():
    on_normal, on_anomalies = rates(0.0, usual)
    assert_mean(on_normal, 10 / 201)  # the largest multiple of 1 / (n + 1) up to the rate
    assert on_anomalies.mean() > 0.85


@pytest.mark.parametrize(("share", "rate", "power"), [(0.01, 0.041, 0.89), (0.05, 0.011, 0.73)])
def test_anomalies_with_high_scores_lower_the_rate(share, rate, power):
    """p-values are conservative: fewer false alarms than stated, and fewer anomalies found."""
    on_normal, on_anomalies = rates(share, usual)
    assert on_normal.mean() == pytest.approx(rate, abs=0.003)
    assert on_anomalies.mean() == pytest.approx(power, abs=0.03)


@pytest.mark.parametrize("share", [0.01, 0.05, 0.1])
@pytest.mark.parametrize("anomaly_score", [usual, worst])
def test_whatever_the_anomalies_score_the_rate_is_at_most_this(share, anomaly_score):
    """(n + 1) / (n_normal + 1), about 1 / (1 - share), times the stated rate."""
    on_normal, _ = rates(share, anomaly_score)
    n_normal = N_HELD_OUT - round(share * N_HELD_OUT)
    bound = ALARM_RATE * (N_HELD_OUT + 1) / (n_normal + 1)
    error = stats.norm.ppf(0.9995) * on_normal.std(ddof=1) / np.sqrt(REPEATS)
    assert on_normal.mean() <= bound + error
    if anomaly_score is worst:  # the bound is attained
        assert_mean(on_normal, np.floor(ALARM_RATE * (N_HELD_OUT + 1)) / (n_normal + 1))
