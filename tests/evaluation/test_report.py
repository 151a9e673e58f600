"""Tables, figures and the page of a benchmark."""

import re
import sys
from html.parser import HTMLParser
from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from ctad.evaluation import RANDOM_SPLIT, Benchmark, Cell, Outcome, Results, Source, run
from ctad.evaluation.report import (
    Measurements,
    Reference,
    build_report,
    comparison_picture,
    comparison_table,
    dataset_table,
    summary_table,
)

SHOWN = (RANDOM_SPLIT.name, "paper")
BENCHMARK = Benchmark(
    ("first", "second", "third"), ("LocalOutlierFactor", "IsolationForest"), "paper", (0, 1)
)


@pytest.fixture(scope="session")
def results(tmp_path_factory, jobs_here):
    """A small benchmark."""
    folder = tmp_path_factory.mktemp("data")
    random = np.random.default_rng(0)
    for name in BENCHMARK.datasets:
        X = np.vstack([random.normal(size=(60, 3)), random.normal(2, 2, size=(12, 3))])
        np.savez(folder / f"{name}.npz", X=X, y=np.arange(72) >= 60)
    with jobs_here():
        return run(BENCHMARK.plan(), folder / "results", Source(folder))


@pytest.fixture(scope="module")
def measured(results):
    return Measurements(results, detectors=BENCHMARK.detectors)


@pytest.fixture(scope="module")
def report(results, tmp_path_factory):
    return build_report(results, tmp_path_factory.mktemp("report"), BENCHMARK)


def stored(folder, *rows, datasets=()):
    """Results as given, without any run."""
    results = Results(folder)
    with results.cells.writing() as add:
        add(rows)
    with results.datasets.writing() as add:
        add(datasets)
    return results


def cell(dataset, detector="KNN", calibration="paper", seed=0):
    return Cell(dataset, detector, calibration, RANDOM_SPLIT.name, seed)


def both(dataset, outcome, detector="KNN", seed=0):
    """The same outcome without and with calibration."""
    return [(cell(dataset, detector, name, seed), outcome) for name in ("none", "paper")]


def outcome(after, before):
    return Outcome("x", after, after, after, before, before, before)


def test_a_missing_package_is_named(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("ctad.evaluation.report")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match=r"needs jinja2: pip install 'ctad\[benchmark\]'"):
        import_module("ctad.evaluation.report")


def test_a_picture_is_saved_as_png(measured, tmp_path):
    table = comparison_table(measured, *SHOWN, "auc_pr")
    path = comparison_picture(table, "auc_pr").save_png(tmp_path)
    assert path.name == "comparison_random_split_auc_pr.png"
    assert path.read_bytes().startswith(b"\x89PNG")


def test_a_benchmark_is_found_in_its_results(results):
    found = Benchmark.found_in(results, "paper")
    assert found.datasets == BENCHMARK.datasets
    assert set(found.detectors) == set(BENCHMARK.detectors)
    assert found.seeds == (0, 1)
    with pytest.raises(ValueError, match=r"no results of calibration 'recommended'.*none, paper"):
        Benchmark.found_in(results)


def test_the_summary_is_over_means_of_seeds(measured):
    table = summary_table(measured, *SHOWN, "auc_pr").data
    assert list(table.index) == list(BENCHMARK.detectors)
    own = measured.of(*SHOWN)
    own = own[own["detector"] == "IsolationForest"]
    means = own.groupby("dataset")[["base_auc_pr", "auc_pr"]].mean()
    gain = means["auc_pr"] - means["base_auc_pr"]
    row = table.loc["IsolationForest"]
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


def test_the_comparison_has_averages_and_mean_ranks(measured):
    table = comparison_table(measured, *SHOWN, "auc_roc")
    names = list(BENCHMARK.detectors)
    assert list(table.data) == [*names, *(f"{name}+CTAD" for name in names)]
    assert list(table.data.index) == ["first", "second", "third"]
    assert table.totals.loc["mean rank"].sum() == pytest.approx(1 + 2 + 3 + 4)
    np.testing.assert_allclose(table.totals.loc["average"], table.data.mean())
    assert list(table.as_text().index[-2:]) == ["average", "mean rank"]
    some = comparison_table(measured, *SHOWN, "auc_roc", calibrated=("IsolationForest",))
    assert list(some.data) == [*names, "IsolationForest+CTAD"]


def test_numbers_from_elsewhere_are_shown_beside(measured):
    index = ["first", "second", "third"]
    plain = pd.DataFrame({"IsolationForest": [0.1, 0.2, 0.3], "other": 0.0}, index)
    calibrated = pd.DataFrame({"IsolationForest": [0.2, 0.2, 0.6]}, index)
    reference = Reference("book", plain, calibrated)
    summary = summary_table(measured, *SHOWN, "auc_pr", reference)
    assert summary.data.loc["IsolationForest", "book: gain"] == pytest.approx(0.4 / 3)
    assert summary.data.loc["IsolationForest", "book: wins"] == 2
    assert np.isnan(summary.data.loc["LocalOutlierFactor", "book: gain"])
    assert "The book's columns" in summary.note
    each = dataset_table(measured, *SHOWN, "auc_pr", reference)
    assert each.shown.loc["third", "IsolationForest"].endswith("\n(0.3000 → 0.6000)")
    assert "book: LocalOutlierFactor" not in each.data
    totals = comparison_table(measured, *SHOWN, "auc_pr", reference).totals
    assert totals.loc["book: average", "IsolationForest+CTAD"] == pytest.approx(1 / 3)
    fewer = Reference("book", plain.drop("first"), calibrated.drop("first"))
    assert "book: gain" not in summary_table(measured, *SHOWN, "auc_pr", fewer).data


class Page(HTMLParser):
    """The addresses that a browser would load, and the tags that are not closed."""

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
    assert text.count("<svg") == 2
    identifiers = re.findall(r'\bid="([^"]+)"', text)
    assert len(identifiers) == len(set(identifiers))
    assert not any(" " in identifier for identifier in identifiers)
    for target in re.findall(r'(?:href="#|url\(#)([^")]+)', text):
        assert target in identifiers
    for expected in ("What calibration adds", "All detectors", report.verdict):
        assert expected in page.text


def test_every_table_is_a_csv_and_in_the_markdown(report):
    folder = report.page.parent
    markdown = (folder / "report.md").read_text()
    for table in report.summaries.values():
        saved = pd.read_csv(folder / "tables" / f"{table.name.replace(' ', '_')}.csv", index_col=0)
        assert saved.shape == table.whole().shape
        assert f"### {table.title}" in markdown
    assert len([*(folder / "tables").iterdir()]) == 6
    for file in (folder / "tables").iterdir():
        assert not file.read_text().startswith(","), "the first column has no name"
    pictures = re.findall(r"!\[.*\]\((.*)\)", markdown)
    assert len(pictures) == 2
    assert all((folder / picture).is_file() for picture in pictures)
    # Every line of a table has as many cells as its head.
    for block in re.findall(r"(?:^\|.*\n)+", markdown, re.MULTILINE):
        assert len({line.count(" | ") for line in block.splitlines()[2:]}) == 1


def test_equal_results_give_equal_pages(results, report, tmp_path):
    results.cells.compact()  # another file with the same results, in another order
    again = build_report(results, tmp_path, BENCHMARK)
    assert again.page.read_bytes() == report.page.read_bytes()


def test_only_the_chosen_results_are_shown(results, tmp_path):
    chosen = Benchmark(("first", "third"), ("IsolationForest",), "paper", (1,))
    report = build_report(results, tmp_path, chosen, metrics=("precision_at_n",))
    [table] = report.summaries.values()
    assert list(table.data.index) == ["IsolationForest"]
    text = report.page.read_text()
    assert "Precision at n" in text
    assert "second" not in text
    with pytest.raises(ValueError, match="has no such results"):
        Measurements(results, datasets=("nowhere",))


def test_names_are_shown_as_they_are_and_not_run(tmp_path):
    name = r"<script>alert(1)</script> | b $\frac{$"
    results = stored(tmp_path, *both(name, outcome(0.5, 0.4)))
    report = build_report(results, tmp_path, Benchmark((name,), ("KNN",), "paper"))
    page = Page()
    page.feed(report.page.read_text())
    assert "script" not in report.page.read_text().replace("&lt;script", "").replace("/script", "")
    assert name in page.text
    assert "\\| b" in (tmp_path / "report.md").read_text()


def test_failures_are_counted_and_left_out_on_both_sides(tmp_path):
    rows = [row for n, name in enumerate("abcd") for row in both(name, outcome(0.5 + n / 10, 0.4))]
    rows[-1] = (rows[-1][0], Outcome("x", error="ValueError: too few rows"))
    report = build_report(
        stored(tmp_path, *rows), tmp_path, Benchmark((*"abcd",), ("KNN",), "paper")
    )
    assert report.n_failed == 1
    assert report.summaries["auc_pr"].data.loc["KNN", "data sets"] == 3
    assert "too few rows" in report.page.read_text()


def test_if_all_results_failed_the_page_says_so(tmp_path):
    rows = both("a", Outcome("x", error="ValueError: too few rows"))
    report = build_report(stored(tmp_path, *rows), tmp_path, Benchmark(("a",), ("KNN",), "paper"))
    assert report.verdict == "All results failed, so the gain is unknown."
    assert "too few rows" in report.page.read_text()


@pytest.mark.parametrize(
    ("gains", "verdict"),
    [
        (
            [0.1, 0.2, 0.3],
            "Calibration helps: +0.200 in AUC-PR on average (95 % interval +0.100 to +0.300), with "
            "a gain on 3 of 3 data sets and for 1 of 1 detector.",
        ),
        (
            [-0.1, -0.2, -0.3],
            "Calibration hurts: -0.200 in AUC-PR on average (95 % interval -0.300 to -0.100), with "
            "a gain on 0 of 3 data sets and for 0 of 1 detector.",
        ),
        (
            [0.1, -0.1, 0.06],
            "Calibration makes no clear difference: +0.020 in AUC-PR on average (95 % interval "
            "-0.100 to +0.100), with a gain on 2 of 3 data sets and for 1 of 1 detector.",
        ),
        (
            [0.1],
            "Calibration helped: +0.100 in AUC-PR on average, with a gain on 1 of 1 data set and "
            "for 1 of 1 detector. 3 data sets are needed for a test.",
        ),
        (
            [0.1, -0.3],
            "Calibration did not help: -0.100 in AUC-PR on average, with a gain on 1 of 2 data "
            "sets and for 0 of 1 detector. 3 data sets are needed for a test.",
        ),
    ],
    ids=["helps", "hurts", "unclear", "one data set", "two data sets"],
)
def test_the_verdict_says_whether_it_helps(tmp_path, gains, verdict):
    names = [*"abc"[: len(gains)]]
    rows = [
        row
        for name, gain in zip(names, gains, strict=True)
        for row in both(name, outcome(0.5 + gain, 0.5))
    ]
    benchmark = Benchmark(tuple(names), ("KNN",), "paper", (0,))
    assert build_report(stored(tmp_path, *rows), tmp_path, benchmark).verdict == verdict


def test_constant_scores_are_counted(tmp_path):
    rows = []
    for name, pr, roc in (("a", 0.5, 0.5), ("b", 0.7, 0.5), ("c", 0.6, 0.6), ("d", 0.8, 0.8)):
        rows += both(name, Outcome("x", 0.9, 0.9, 0.9, pr, roc, pr))
    results = Results(tmp_path)
    key, facts = results.datasets._key, results.datasets._value
    # Half of 20 normal rows are for training.
    stored(tmp_path, *rows, datasets=[(key(name), facts(30, 2, 10, "")) for name in "abcd"])
    row = summary_table(Measurements(results), *SHOWN, "auc_pr").data.loc["KNN"]
    assert row["constant score"] == 1
    assert row["gain elsewhere"] == pytest.approx((0.2 + 0.3 + 0.1) / 3)


def test_missing_seeds_are_named(tmp_path):
    rows = [
        row
        for detector, seeds in (("KNN", (0, 1, 2)), ("DRL", (0,)))
        for dataset in "ab"
        for seed in seeds
        for row in both(dataset, outcome(0.9, 0.4), detector, seed)
    ]
    results = stored(tmp_path, *rows, (cell("a", "DRL", seed=1), outcome(0.9, 0.4)))
    note = summary_table(Measurements(results), *SHOWN, "auc_pr").note
    assert note.endswith("Not all 3 seeds yet: DRL (1 to 2).")


def test_a_data_set_called_average_is_not_the_average(tmp_path):
    rows = [*both("average", outcome(0.1, 0.1)), *both("b", outcome(0.3, 0.3))]
    table = comparison_table(Measurements(stored(tmp_path, *rows)), *SHOWN, "auc_pr")
    assert table.data.at["average", "KNN"] == 0.1
    assert table.totals.at["average", "KNN"] == pytest.approx(0.2)


def test_a_baseline_of_zero_has_no_percentage(tmp_path):
    rows = [*both("a", outcome(0.6, 0.0)), *both("b", outcome(0.6, 0.3))]
    table = summary_table(Measurements(stored(tmp_path, *rows)), *SHOWN, "precision_at_n")
    assert table.data.loc["KNN", "gain %"] == pytest.approx(100)
