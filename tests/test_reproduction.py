"""What docs/reproduction.md says of the results in this repository."""

import doctest
from pathlib import Path

import pytest

pytest.importorskip("pandas")

from ctad.benchmark import Calibration, Results
from ctad.datasets import KNOWN_DATASETS
from ctad.paper import CALIBRATED, COMPARED, Study
from ctad.paper import _printed as printed
from ctad.paper._measured import Measured
from ctad.paper._study import AS_PUBLISHED
from ctad.paper._tables import agreement, alternatives, gaps, runtimes, summary

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "reproduction.md"
CLASSICAL = ("OCSVM", "PCA", "IForest", "ECOD", "KNN")


@pytest.fixture(scope="module")
def measured():
    return Measured(Results(ROOT / "results"))


@pytest.fixture(scope="module")
def study(measured):
    datasets = tuple(measured.datasets["name"])
    assert set(KNOWN_DATASETS) - set(datasets) == {"amazon", "speech"}
    return Study(datasets, CALIBRATED, COMPARED)


def test_plain_detectors_have_the_printed_numbers(measured, study):
    table = agreement(measured, study).data["plain = printed plain"]
    assert table["OCSVM, AUC-PR"] >= 16
    assert table["PCA, AUC-PR"] >= 19
    assert table["ECOD, AUC-PR"] >= 18


def test_the_knn_column_is_plain_knn_where_it_says_calibrated(measured, study):
    table = agreement(measured, study).data.loc["KNN, AUC-PR"]
    assert table["plain = printed plain"] == 0
    assert table["plain = printed +CTAD"] == 17
    paper = printed.improvement("auc_pr")
    gain = (paper["KNN+CTAD"] - paper["KNN"]).round(4)
    assert gain.isin([0.025, 0.0083]).sum() == 16


def test_drl_is_printed_unchanged_on_15_data_sets():
    paper = printed.improvement("auc_pr")
    gain = (paper["DRL+CTAD"] - paper["DRL"]).round(4)
    assert ((gain == 0).sum(), (gain < 0).sum()) == (15, 1)


def test_printed_gaps_are_the_rows_own_cost(measured):
    table = gaps(measured, "published").data
    assert table.loc["wdbc", "uniform own: anomalous"] == pytest.approx(7.7461, abs=5e-5)
    assert table.loc["wine", "uniform own: anomalous"] == pytest.approx(2.5324, abs=5e-5)
    larger = table.loc["sets with a larger mean of anomalies"]
    assert larger["uniform own: %"] == 29
    assert larger["paper: %"] == 30
    assert larger["uniform total: %"] == 26


def test_wdbc_with_ctad_is_as_printed_with_seed_0(measured):
    cells = measured.of("published", AS_PUBLISHED)
    wdbc = cells[(cells.dataset == "wdbc") & (cells.seed == 0)].set_index("detector")["auc_pr"]
    assert wdbc["PCA"] == pytest.approx(0.9909, abs=5e-5)
    assert wdbc["ECOD"] == pytest.approx(0.9698, abs=5e-5)
    assert wdbc["OCSVM"] == pytest.approx(0.9573, abs=5e-5)


def test_who_gains_as_published(measured, study):
    table = summary(measured, study, "published", "auc_pr").data
    significant = set(table.index[table["t-test p"] < 0.05])
    assert significant & {*CLASSICAL, "DRL"} == {"OCSVM", "ECOD"}
    assert table.at["KNN", "gain"] == pytest.approx(-0.028, abs=5e-4)
    assert table.at["DRL", "gain"] == pytest.approx(-0.067, abs=5e-4)


@pytest.mark.parametrize("protocol", ["published", "honest"])
def test_simpler_distances_do_better_than_the_papers_term(measured, study, protocol):
    table = alternatives(measured, study, protocol, "auc_pr").data[list(CLASSICAL)]
    papers = table.loc[AS_PUBLISHED.name]
    for rival in ("centroid distance", "mahalanobis"):
        assert (table.loc[Calibration(rival).name] > papers).all()


def test_a_loop_over_pot_takes_hundreds_of_times_as_long(measured):
    assert (runtimes(measured).data["POT / ours"] > 300).all()


def test_every_cell_has_a_result(measured):
    assert not len(measured.failed)


def test_the_code_on_the_page_runs():
    found, run = doctest.testfile(str(PAGE), module_relative=False)
    assert (found, run > 0) == (0, True)
