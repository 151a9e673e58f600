"""Tables, figures and pages of a study."""

import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from ctad.benchmark import Calibration, Cell, Outcome, Results
from ctad.paper import build_report
from ctad.paper._measured import Measured
from ctad.paper._report import study_of
from ctad.paper._study import AS_PUBLISHED
from ctad.paper._tables import agreement, alternatives, comparison, gaps, sensitivity, summary


@pytest.fixture(scope="module")
def measured(results):
    return Measured(results)


@pytest.fixture(scope="module")
def study(measured):
    return study_of(measured, AS_PUBLISHED)


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
    assert list(table.data) == ["IForest", "KNN", "ECOD", "KNN+CTAD"]
    assert list(table.per_dataset.index) == ["first", "second", "third"]
    assert table.data.loc["mean rank"].sum() == pytest.approx(1 + 2 + 3 + 4)
    np.testing.assert_allclose(table.data.loc["average"], table.per_dataset.mean())


def test_free_targets_and_the_centroid_distance_are_the_same(measured, study):
    table = alternatives(measured, study, "honest", "auc_pr").data
    free = table.loc[Calibration(target="free").name]
    np.testing.assert_allclose(free, table.loc[Calibration("centroid distance").name], atol=1e-4)
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
        assert saved.shape == table.data.shape
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


def small(folder, *rows):
    """Results as given, without any run."""
    results = Results(folder)
    with results.cells.writing() as add:
        add(rows)
    return results


def cell(dataset, detector="KNN", calibration=AS_PUBLISHED.name, seed=0):
    return Cell(dataset, detector, calibration, "published", seed)


def test_names_are_shown_as_they_are_and_not_run(tmp_path):
    name = "<script>alert(1)</script> | b"
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
        build_report(results, tmp_path, calibration=Calibration(n_centroids=7))


def test_printed_numbers_count_as_met_within_the_seeds(tmp_path):
    # Printed for WDBC: OCSVM .4348, with CTAD .9573.
    outcomes = [
        Outcome("x", 0.90, 0.9, 0.9, 0.4350, 0.9, 0.9),
        Outcome("x", 0.96, 0.9, 0.9, 0.4350, 0.9, 0.9),
    ]
    rows = [(cell("wdbc", "OCSVM", seed=seed), outcome) for seed, outcome in enumerate(outcomes)]
    measured = Measured(small(tmp_path, *rows))
    table = agreement(measured, study_of(measured, AS_PUBLISHED)).data
    assert list(table.loc["OCSVM, AUC-PR"]) == [1, 1, 1, 0]
