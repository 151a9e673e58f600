"""How well scores tell anomalies apart, and how sure one can be of it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, roc_auc_score

from ctad._metrics import Ranking, compare


@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from([0.0, 1.0, 2.0, 3.5, np.inf, -np.inf]), st.booleans(), st.integers(0, 3)
        ),
        min_size=2,
        max_size=30,
    )
)
def test_weighing_rows_is_the_same_as_repeating_them(rows):
    scores, anomalous, counts = (np.array(column) for column in zip(*rows, strict=True))
    repeated = np.repeat(scores, counts), np.repeat(anomalous, counts)
    if len(set(repeated[1])) < 2:
        return
    finite = np.nan_to_num(repeated[0], posinf=9.0, neginf=-9.0)
    precision, roc = Ranking(scores, anomalous).measure(counts)
    assert precision == pytest.approx(average_precision_score(repeated[1], finite))
    assert roc == pytest.approx(roc_auc_score(repeated[1], finite))


def test_intervals_hold_the_truth_about_as_often_as_they_say():
    """Scores of normal and anomalous rows one standard deviation apart: AUC-ROC is 0.7602."""
    truth, held, trials = 0.7602, 0, 200
    for seed in range(trials):
        random = np.random.default_rng(seed)
        anomalous = np.arange(200) < 60
        scores = random.normal(size=200) + anomalous
        compared = compare(scores, scores, anomalous, resamples=200, seed=seed)
        _, low, high = compared["AUC-ROC"].after
        held += low <= truth <= high
        assert compared["AUC-ROC"].gain == (0, 0, 0)
    assert 0.90 <= held / trials <= 0.99
