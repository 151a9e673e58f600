"""AUC-PR, AUC-ROC and their curves with bootstrap intervals; scikit-learn is the judge."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import (
    average_precision_score,
    precision_recall_curve,
    roc_auc_score,
    roc_curve,
)

from ctad._metrics import SHARES, Ranking, compare, curves_of


@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from([0.0, 1.0, 2.0, 3.5, np.inf, -np.inf]), st.booleans(), st.integers(0, 3)
        ),
        min_size=2,
        max_size=30,
    )
)
def test_row_weights_are_the_same_as_repeated_rows(rows):
    scores, anomalous, counts = (np.array(column) for column in zip(*rows, strict=True))
    repeated = np.repeat(scores, counts), np.repeat(anomalous, counts)
    if len(set(repeated[1])) < 2:
        return
    finite = np.nan_to_num(repeated[0], posinf=9.0, neginf=-9.0)
    precision, roc = Ranking(scores, anomalous).measure(counts)
    assert precision == pytest.approx(average_precision_score(repeated[1], finite))
    assert roc == pytest.approx(roc_auc_score(repeated[1], finite))


def test_intervals_contain_the_truth_about_as_often_as_they_should():
    """Scores of normal and anomalous rows one standard deviation apart: AUC-ROC is 0.7602."""
    truth, held, trials = 0.7602, 0, 150
    for seed in range(trials):
        random = np.random.default_rng(seed)
        anomalous = np.arange(200) < 60
        scores = random.normal(size=200) + anomalous
        compared = compare(scores, scores, anomalous, resamples=100, seed=seed)
        _, low, high = compared["AUC-ROC"].after
        held += low <= truth <= high
        assert compared["AUC-ROC"].gain == (0, 0, 0)
    assert 0.90 <= held / trials <= 0.99


def labelled(rows=400, ties=False):
    random = np.random.default_rng(rows)
    anomalous = np.arange(rows) < rows // 8
    scores = random.normal(size=rows) + 1.5 * anomalous
    return np.round(scores) if ties else scores, anomalous


@pytest.mark.parametrize("ties", [False, True])
def test_curves_are_those_of_scikit_learn(ties):
    scores, anomalous = labelled(ties=ties)
    curves = curves_of(scores, anomalous, resamples=20, seed=0)
    false, found, _ = roc_curve(anomalous, scores, drop_intermediate=False)
    for share, value in zip(SHARES, curves["AUC-ROC"].value, strict=True):
        # Where the curve rises straight up, its upper end.
        expected = found[false == share].max(initial=np.interp(share, false, found))
        assert value == pytest.approx(expected)
    precision, recall, _ = precision_recall_curve(anomalous, scores)
    for share, value in zip(SHARES[1:], curves["AUC-PR"].value[1:], strict=True):
        enough = np.flatnonzero(recall >= share - 1e-9)[-1]
        assert value == pytest.approx(precision[enough])


@pytest.mark.parametrize("rows", [16, 400])
def test_bands_contain_their_curve(rows):
    curves = curves_of(*labelled(rows), resamples=200, seed=0)
    for _, value, low, high in curves.values():
        assert ((low >= 0) & (low <= high) & (high <= 1)).all()
        assert ((low <= value) & (value <= high)).mean() > 0.9


def test_infinite_scores_have_curves():
    scores = np.array([np.inf, np.inf, 1.0, -np.inf])
    curves = curves_of(scores, np.array([True, False, True, False]), resamples=20, seed=0)
    assert curves["AUC-ROC"].value[[0, -1]] == pytest.approx([0, 1])
    assert curves["AUC-PR"].value[[1, -1]] == pytest.approx([0.5, 2 / 3])
