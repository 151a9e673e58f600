"""Tables, figures and pages of a study."""

import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from ctad.datasets import KNOWN_DATASETS
from ctad.evaluation import Calibration, Cell, Outcome, Results
from ctad.paper import build_report, study_in
from ctad.paper._measured import Measured
from ctad.paper._study import AS_PUBLISHED
from ctad.paper._tables import agreement, alternatives, comparison, gaps, sensitivity, summary


@pytest.fixture(scope="module")
def measured(results):
    return Measured(results)


@pytest.fixture(scope="module")
def study(results):
    return study_in(results)


@pytest.fixture(scope="module")
def report(results, tmp_path_factory):
    return build_report(results, tmp_path_factory.mktemp("report"))


def test_the_study_is_found_in_the_results(study):
    assert study.datasets == ("first", "second", "third")
    assert study.detectors == ("IForest", "KNN")
    assert study.compared == ("ECOD",)
    assert study.protocols == ("published", "honest")
    assert study.seeds == (0, 1)


def test_the_summary_is_over_means_of_seeds(measured, study):
    table = summary(measured, study, "honest", "auc_pr").data
    cells = measured.cells
    own = cells[
        (cells.protocol == "honest")
        & (cells.detector == "IForest")
        & (cells.calibration == AS_PUBLISHED.name)
    ]
    means = own.groupby("dataset")[["base_auc_pr", "auc_pr"]].mean()
    gain = means["auc_pr"] - means["base_auc_pr"]
    row = table.loc["IForest"]
    assert row["data sets"] == 3
    assert row["baseline"] == pytest.approx(means["base_auc_pr"].mean())
    assert row["gain"] == pytest.approx(gain.mean())
    assert row["gain %"] == pytest.approx(100 * (gain / means["base_auc_pr"]).mean())
    assert row["wins"] == (gain > 0).sum()
    # One-tailed and paired.
    assert row["t-test p"] == pytest.approx(
        stats.ttest_1samp(gain, 0, alternative="greater").pvalue
    )
    assert row["95 % from"] <= row["gain"] <= row["to"]
    assert not [column for column in table if column.startswith("paper")]  # not its data sets


def test_comparison_has_averages_and_mean_ranks(measured, study):
    table = comparison(measured, study, "published", "auc_roc")
    assert list(table.data) == ["IForest", "KNN", "ECOD", "IForest+CTAD", "KNN+CTAD"]
    assert list(table.data.index) == ["first", "second", "third"]
    assert table.totals.loc["mean rank"].sum() == pytest.approx(1 + 2 + 3 + 4 + 5)
    np.testing.assert_allclose(table.totals.loc["average"], table.data.mean())
    assert list(table.as_text().index[-2:]) == ["average", "mean rank"]


def test_all_alternatives_are_compared(measured, study):
    table = alternatives(measured, study, "honest", "auc_pr").data
    assert Calibration(target="free").name in table.index
    assert Calibration("centroid distance").name in table.index
    assert set(table.index) >= {"none", "algorithm 1", "recommended", "mahalanobis weight=1"}


def test_settings_are_swept_one_at_a_time(measured, study):
    table = sensitivity(measured, study, "published", "auc_pr").data
    assert list(table.index[:3]) == ["K = 3", "K = 5", "K = 10"]
    assert len(table) == 7 + 7 + 10
    np.testing.assert_array_equal(table.loc["K = 5"], table.loc["M = 20"])
    np.testing.assert_array_equal(table.loc["K = 5"], table.loc["weight = 1"])


def test_gaps_divide_own_costs_by_k(measured, results):
    table = gaps(measured, "honest").data
    rows = results.gaps.rows()
    own = [
        gap.normal
        for term, gap in rows.items()
        if (term.dataset, term.protocol, term.calibration) == ("first", "honest", AS_PUBLISHED.name)
    ]
    assert table.loc["first", "uniform own: normal"] == pytest.approx(np.mean(own) / 5)


class Page(HTMLParser):
    """What a browser would load, and whether tags are closed."""

    def __init__(self):
        super().__init__()
        self.loads, self.open, self.text = [], [], ""

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("src", "href", "xlink:href") and not value.startswith(("#", "data:")):
                self.loads.append(value)
        if tag not in ("meta", "br", "img", "link"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def test_the_page_is_whole_and_loads_nothing(report):
    page = Page()
    text = report.page.read_text()
    page.feed(text)
    assert page.loads == []
    assert page.open == []
    assert text.count("<svg") >= 7
    identifiers = re.findall(r'\bid="([^"]+)"', text)
    assert len(identifiers) == len(set(identifiers))
    for target in re.findall(r'(?:href="#|url\(#)([^")]+)', text):
        assert target in identifiers
    for heading in ("What calibration adds", "Ways to calibrate", "Other settings", "All methods"):
        assert heading in page.text


def test_every_table_is_a_csv_and_in_the_markdown(report):
    folder = report.page.parent
    markdown = (folder / "report.md").read_text()
    for table in report.tables:
        saved = pd.read_csv(folder / "tables" / f"{table.name}.csv", index_col=0)
        assert saved.shape == table.whole().shape
        assert f"### {table.title}" in markdown
    pictures = re.findall(r"!\[.*\]\((.*)\)", markdown)
    assert len(pictures) >= 7
    assert all((folder / picture).is_file() for picture in pictures)
    # Every line of a table has as many cells as its head.
    for block in re.findall(r"(?:^\|.*\n)+", markdown, re.MULTILINE):
        assert len({line.count(" | ") for line in block.splitlines()[2:]}) == 1


def test_the_same_results_give_the_same_files(results, report, tmp_path):
    again = build_report(results, tmp_path)
    assert again.page.read_bytes() == report.page.read_bytes()


def small(folder, *rows, datasets=()):
    """Results as given, without any run; the data sets are said to be the paper's."""
    results = Results(folder)
    with results.cells.writing() as add:
        add(rows)
    with results.datasets.writing() as add:
        for name in datasets:
            known = KNOWN_DATASETS[name]
            facts = (known.samples, known.dims, known.anomalies, known.values_sha256)
            add([((name,), facts)])
    return results


def cell(dataset, detector="KNN", calibration=AS_PUBLISHED.name, seed=0):
    return Cell(dataset, detector, calibration, "published", seed)


def test_names_are_shown_as_they_are_and_not_run(tmp_path):
    name = r"<script>alert(1)</script> | b $\frac{$"
    outcome = Outcome("x", 0.5, 0.5, 0.5, 0.4, 0.4, 0.4)
    rows = [(cell(name, calibration=c), outcome) for c in ("none", AS_PUBLISHED.name)]
    report = build_report(small(tmp_path, *rows), tmp_path)
    page = Page()
    page.feed(report.page.read_text())
    assert "script" not in report.page.read_text().replace("&lt;script", "").replace("/script", "")
    assert name in page.text
    assert "\\| b" in (tmp_path / "report.md").read_text()


def test_a_failure_is_told_and_left_out_on_both_sides(tmp_path):
    rows = []
    for number, dataset in enumerate("abcd"):
        outcome = Outcome("x", 0.5 + 0.1 * number, 0.5, 0.5, 0.4, 0.4, 0.4)
        rows += [(cell(dataset, calibration=c), outcome) for c in ("none", AS_PUBLISHED.name)]
    rows[-1] = (rows[-1][0], Outcome("x", error="ValueError: too few rows"))
    report = build_report(small(tmp_path, *rows), tmp_path)
    assert report.n_failed == 1
    tables = {table.name: table for table in report.tables}
    assert tables["summary_published_auc_pr"].data.loc["KNN", "data sets"] == 3
    assert "too few rows" in report.page.read_text()


def test_a_calibration_without_results_is_an_error_that_lists_those_there_are(results, tmp_path):
    with pytest.raises(ValueError, match=r"no results of 'ctad uniform own K=7.*mahalanobis"):
        study_in(results, Calibration(n_centroids=7))


def test_printed_numbers_are_met_by_a_seed_or_inside_the_range(tmp_path):
    # Printed for WDBC: OCSVM .4348, with CTAD .9573.
    outcomes = [
        Outcome("x", 0.90, 0.9, 0.9, 0.4350, 0.9, 0.9),
        Outcome("x", 0.96, 0.9, 0.9, 0.4350, 0.9, 0.9),
    ]
    rows = [(cell("wdbc", "OCSVM", seed=seed), outcome) for seed, outcome in enumerate(outcomes)]
    results = small(tmp_path, *rows, datasets=["wdbc"])
    table = agreement(Measured(results), study_in(results)).data
    assert list(table.loc["OCSVM, AUC-PR"]) == [1, 1, 1, 0, 1, 0]


def test_another_data_set_of_the_same_name_is_not_compared_with_the_paper(tmp_path):
    outcome = Outcome("x", 0.9, 0.9, 0.9, 0.4, 0.9, 0.9)
    rows = [(cell("wdbc", calibration=c), outcome) for c in ("none", AS_PUBLISHED.name)]
    own, theirs = (
        build_report(small(tmp_path / name, *rows, datasets=datasets), tmp_path / name)
        for name, datasets in (("own", []), ("theirs", ["wdbc"]))
    )
    assert "rebuilt" in theirs.page.read_text()
    assert "0.9323" in theirs.page.read_text()  # printed for KNN
    assert "0.9323" not in own.page.read_text()
    assert "paper: " not in own.page.read_text()


def test_a_detector_that_gives_all_rows_one_score_is_called_blind(tmp_path):
    rows = []
    for dataset, pr, roc in (("a", 0.5, 0.5), ("b", 0.7, 0.5), ("c", 0.6, 0.6), ("d", 0.8, 0.8)):
        outcome = Outcome("x", 0.9, 0.9, 0.9, pr, roc, pr)
        rows += [(cell(dataset, calibration=c), outcome) for c in ("none", AS_PUBLISHED.name)]
    results = small(tmp_path, *rows)
    with results.datasets.writing() as add:  # half of 20 normal rows are learnt from
        add([((name,), (30, 2, 10, "")) for name in "abcd"])
    row = summary(Measured(results), study_in(results), "published", "auc_pr").data.loc["KNN"]
    assert row["blind on"] == 1
    assert row["gain elsewhere"] == pytest.approx((0.2 + 0.3 + 0.1) / 3)


def test_seeds_that_are_missing_are_told(tmp_path):
    outcome = Outcome("x", 0.9, 0.9, 0.9, 0.4, 0.9, 0.9)
    rows = [
        (cell(dataset, detector, c, seed), outcome)
        for detector, seeds in (("KNN", (0, 1, 2)), ("DRL", (0,)))
        for dataset in "ab"
        for seed in seeds
        for c in ("none", AS_PUBLISHED.name)
    ]
    results = small(tmp_path, *rows, (cell("a", "DRL", seed=1), outcome))
    note = summary(Measured(results), study_in(results), "published", "auc_pr").note
    assert note.endswith("Not all 3 seeds yet: DRL (1 to 2).")


def test_a_data_set_called_average_is_not_the_average(tmp_path):
    rows = [
        (cell(name, calibration=c), Outcome("x", value, value, value, value, value, value))
        for name, value in (("average", 0.1), ("b", 0.3))
        for c in ("none", AS_PUBLISHED.name)
    ]
    results = small(tmp_path, *rows)
    table = comparison(Measured(results), study_in(results), "published", "auc_pr")
    assert table.data.at["average", "KNN"] == 0.1
    assert table.totals.at["average", "KNN"] == pytest.approx(0.2)


def test_of_nothing_there_is_no_percentage(tmp_path):
    rows = [
        (cell(name, calibration=c), Outcome("x", 0.6, 0.6, 0.6, before, before, before))
        for name, before in (("a", 0.0), ("b", 0.3))
        for c in ("none", AS_PUBLISHED.name)
    ]
    results = small(tmp_path, *rows)
    row = summary(Measured(results), study_in(results), "published", "precision_at_n").data.loc[
        "KNN"
    ]
    assert row["gain %"] == pytest.approx(100)


def test_how_many_data_sets_a_setting_was_tried_on_is_told(measured, study):
    assert "(IForest 3, KNN 3)" in sensitivity(measured, study, "published", "auc_pr").note


def test_every_csv_names_its_first_column(report):
    for file in (report.page.parent / "tables").glob("*.csv"):
        assert not file.read_text().startswith(","), file.name


def test_a_preset_has_no_settings_to_sweep(results, tmp_path):
    study = study_in(results, Calibration("recommended"))
    assert all("K=10" not in c.name for entry in study.plan().entries for c in entry.calibrations)
    report = build_report(results, tmp_path, study)
    assert not any(table.name.startswith("sensitivity") for table in report.tables)
    assert (
        "'recommended' adds score and term in its own way" in (tmp_path / "report.md").read_text()
    )


def test_only_what_was_asked_for_is_shown(results, study, tmp_path):
    asked = study._replace(datasets=("first", "third"), detectors=("KNN",), compared=(), seeds=(1,))
    report = build_report(results, tmp_path, asked)
    tables = {table.name: table.data for table in report.tables}
    assert list(tables["datasets_honest_auc_pr"].index) == ["first", "third"]
    assert list(tables["summary_honest_auc_pr"].index) == ["KNN"]
    assert "second" not in report.page.read_text()
