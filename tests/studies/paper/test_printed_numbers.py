"""The paper's numbers, as it prints them."""

import pytest
from studies.paper import printed_numbers as printed

from ctad.datasets import KNOWN_DATASETS


@pytest.mark.parametrize("metric", ["auc_pr", "auc_roc"])
def test_tables_have_all_data_sets(metric):
    assert set(printed.improvement(metric).index) == set(KNOWN_DATASETS)
    assert set(printed.comparison(metric).index) == set(KNOWN_DATASETS)
    assert set(printed.gaps().index) == set(KNOWN_DATASETS)


def test_its_first_table_follows_from_its_others():
    summary = printed.summary()
    table = printed.improvement("auc_pr")
    for detector in summary.index:
        gain = table[f"{detector}+CTAD"] - table[detector]
        baseline, improvement = summary.loc[detector, ["pr_baseline", "pr_improvement"]]
        assert table[detector].mean() == pytest.approx(baseline, abs=6e-4)
        assert gain.mean() == pytest.approx(improvement, abs=6e-4)


def test_both_tables_of_a_detector_agree():
    comparison = printed.comparison("auc_pr")
    improvement = printed.improvement("auc_pr")
    shared = [name for name in improvement if name in comparison]
    assert {"KNN", "KNN+CTAD", "DRL", "DRL+CTAD"} <= set(shared)
    assert (comparison[shared] - improvement[shared]).abs().max().max() < 1e-9
