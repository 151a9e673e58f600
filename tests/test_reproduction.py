"""What docs/reproduction.md says of the results in this repository."""

from pathlib import Path

import pytest

pytest.importorskip("pandas")

from ctad.datasets import KNOWN_DATASETS
from ctad.evaluation import Calibration, Results
from ctad.paper import _printed as printed
from ctad.paper import study_in
from ctad.paper._measured import Measured
from ctad.paper._study import AS_PUBLISHED, CALIBRATED, COMPARED, SEEDS
from ctad.paper._tables import (
    SAME,
    agreement,
    alternatives,
    by_dataset,
    gaps,
    runtimes,
    sensitivity,
    summary,
)

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "reproduction.md"
CLASSICAL = ("OCSVM", "PCA", "IForest", "ECOD", "KNN")
# Data sets with columns that follow from others among the training rows.
DEPENDENT = ["arrhythmia", "cardio", "cardiotocography", "fault"]
DEPENDENT += ["ionosphere", "mnist", "optdigits"]


@pytest.fixture(scope="module")
def measured():
    return Measured(Results(ROOT / "results"))


@pytest.fixture(scope="module")
def study(measured):
    assert set(KNOWN_DATASETS) - measured.of_the_paper == {"amazon", "speech"}
    return study_in(Results(ROOT / "results"))


def test_plain_detectors_have_the_printed_numbers(measured, study):
    table = agreement(measured, study).data["plain: equal"]
    assert table["OCSVM, AUC-PR"] >= 16
    assert table["PCA, AUC-PR"] >= 19
    assert table["ECOD, AUC-PR"] >= 18


def test_the_knn_column_is_plain_knn_where_it_says_calibrated(measured, study):
    table = agreement(measured, study).data.loc["KNN, AUC-PR"]
    assert table["plain: equal"] == 0
    assert table["plain = printed as calibrated"] == 17
    paper = printed.improvement("auc_pr")
    gain = (paper["KNN+CTAD"] - paper["KNN"]).round(4)
    assert gain.isin([0.025, 0.0083]).sum() == 16


def test_half_of_the_ocsvm_column_is_pca(measured):
    paper = printed.improvement("auc_pr").loc[sorted(measured.of_the_paper)]
    assert ((paper["OCSVM"] - paper["PCA"]).abs() < 1.5e-4).sum() == 8
    ours = measured.means("published", AS_PUBLISHED, "base_auc_pr")
    same = {name: (paper["OCSVM"] - ours[name]).abs() <= SAME for name in ("OCSVM", "PCA")}
    assert (~same["OCSVM"]).sum() == 16
    assert (~same["OCSVM"] & same["PCA"]).sum() == 8
    assert ours.loc["satimage-2", ["PCA", "OCSVM"]].tolist() == pytest.approx(
        [0.9194, 0.1376], abs=5e-5
    )


def test_drl_is_printed_unchanged_on_15_data_sets():
    paper = printed.improvement("auc_pr")
    gain = (paper["DRL+CTAD"] - paper["DRL"]).round(4)
    assert ((gain == 0).sum(), (gain < 0).sum()) == (15, 1)
    assert (paper["DRL"][gain == 0] == 1).sum() == 4


def test_the_first_table_does_not_always_follow_from_the_others():
    told = printed.summary()
    for metric, column, detector, wins in (
        ("auc_pr", "pr_win_count", "ECOD", 22),
        ("auc_roc", "roc_win_count", "DRL", 17),
    ):
        paper = printed.improvement(metric)
        assert (paper[detector + "+CTAD"] > paper[detector]).sum() == wins
        assert told.at[detector, column] == f"{wins + 1} / 34"


def test_printed_gaps_are_the_rows_own_cost(measured):
    table = gaps(measured, "published")
    larger, table = table.totals.loc["larger for anomalies on"], table.data
    assert table.loc["wdbc", "uniform own: anomalous"] == pytest.approx(7.7461, abs=5e-5)
    assert table.loc["wine", "uniform own: anomalous"] == pytest.approx(2.5324, abs=5e-5)
    assert table.loc["wdbc", "uniform total: anomalous"] == pytest.approx(101, abs=0.5)
    assert table.loc["wine", "uniform total: anomalous"] == pytest.approx(74, abs=0.5)
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
    assert set(table.index[table["t-test p"] < 0.05]) == {"OCSVM", "ECOD"}
    gains = {"OCSVM": 0.069, "ECOD": 0.050, "KNN": -0.028, "DRL": -0.067}
    assert table["gain"][list(gains)].to_dict() == pytest.approx(gains, abs=5e-4)
    told = {"OCSVM": 0.059, "ECOD": 0.057}
    assert table["paper: gain"][list(told)].to_dict() == pytest.approx(told, abs=6e-4)
    assert table.at["KNN", "wins"] == 12
    assert table.at["PCA", "blind on"] == 4
    assert table.at["PCA", "gain elsewhere"] == pytest.approx(0.004, abs=5e-4)


def test_who_gains_if_nothing_is_looked_at_but_the_row(measured, study):
    table = summary(measured, study, "honest", "auc_pr").data
    assert table["gain"]["ECOD"] == pytest.approx(0.070, abs=5e-4)
    assert table["gain"]["KNN"] == pytest.approx(-0.019, abs=5e-4)
    assert table["gain"]["PCA"] == pytest.approx(0.051, abs=5e-4)
    unclear = table.loc[["OCSVM", "IForest", "MCM", "DRL"]]
    assert ((unclear["95 % from"] < 0) & (unclear["to"] > 0)).all()
    assert table["blind on"]["PCA"] == 2
    assert table["gain elsewhere"]["PCA"] == pytest.approx(0.035, abs=5e-4)
    each = by_dataset(measured, study, "honest", "auc_pr").data
    gain = each["PCA+CTAD"] - each["PCA"]
    assert gain["cardio"] == pytest.approx(0.48, abs=5e-3)
    assert gain.drop(DEPENDENT).mean() == pytest.approx(0.012, abs=5e-4)


def test_settings_make_the_difference_that_is_told(measured, study):
    table = sensitivity(measured, study, "published", "auc_pr").data
    spread = {
        name: table[table.index.str.startswith(f"{name} =")].agg(lambda c: c.max() - c.min())
        for name in ("K", "M", "weight")
    }
    assert spread["M"].max() < 0.0125
    assert (spread["K"].min(), spread["K"].max()) == pytest.approx((0.016, 0.039), abs=5e-4)
    assert spread["weight"]["PCA"] == pytest.approx(0.002, abs=5e-4)
    assert spread["weight"]["ECOD"] == spread["weight"].max() == pytest.approx(0.035, abs=5e-4)
    for detector in ("KNN", "DRL"):
        assert table.loc["weight = 0.1":"weight = 1", detector].is_monotonic_decreasing


@pytest.mark.parametrize("protocol", ["published", "honest"])
def test_simpler_distances_do_better_than_the_papers_term(measured, study, protocol):
    table = alternatives(measured, study, protocol, "auc_pr").data[list(CLASSICAL)]
    papers = table.loc[AS_PUBLISHED.name]
    for rival in ("centroid distance", "mahalanobis"):
        assert (table.loc[Calibration(rival).name] > papers).all()


def test_a_loop_over_pot_takes_hundreds_of_times_as_long(measured):
    assert (runtimes(measured).data["POT / ours"] > 300).all()


def test_every_cell_of_the_study_has_a_result(measured, study):
    assert not len(measured.failed)
    done = Results(ROOT / "results").cells.rows()
    assert all(o.fit_seconds >= 0 and o.score_seconds >= 0 for o in done.values())
    plan = study.plan()
    assert {entry.contestant.name for entry in plan.entries} == {*CALIBRATED, *COMPARED}
    missing = [
        (dataset, entry.contestant.name, calibration.name, entry.protocol, seed)
        for dataset in plan.datasets
        for entry in plan.entries
        for calibration in entry.calibrations
        for seed in entry.seeds
        if (dataset, entry.contestant.name, calibration.name, entry.protocol, seed) not in done
    ]
    assert (len(plan.datasets), study.seeds, missing) == (32, SEEDS, [])
