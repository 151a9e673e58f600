"""Tables, figures and page of the paper's study, and its command."""

import numpy as np
import pytest
from studies.paper.__main__ import main
from studies.paper.calibrations import AS_PUBLISHED
from studies.paper.gaps import gap_store
from studies.paper.protocol import FIRST_HALF
from studies.paper.report import build_chapters, measurements, paper_datasets, summary
from studies.paper.study import Study
from studies.paper.tables import (
    agreement_table,
    alternatives_table,
    gap_table,
    reference,
    sensitivity_table,
)

from ctad.datasets import KNOWN_DATASETS
from ctad.evaluation import Cell, Outcome, Results

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def study(small_results):
    return Study.found_in(small_results)


@pytest.fixture(scope="module")
def measured(small_results, study):
    return measurements(small_results, study)


def test_a_study_is_found_in_its_results(study, small_study):
    assert study == small_study


def test_a_study_is_stored_as_parquet(small_results):
    files = {file.name for file in small_results.folder.iterdir() if file.is_file()}
    assert files >= {"cells.parquet", "gaps.parquet"}
    assert not [name for name in files if name.endswith(".csv")]


def test_all_alternatives_are_compared(measured):
    table = alternatives_table(measured, "random split", "auc_pr").data
    assert set(table.index) >= {
        *("none", "paper", "mahalanobis weight=1"),
        *("ctad free own K=5 M=20 weight=1", "centroid distance K=5 weight=1"),
    }
    assert list(table) == ["ECOD", "KNN", "mean"]


def test_settings_are_changed_one_at_a_time(measured):
    table = sensitivity_table(measured, "first half", "auc_pr")
    assert list(table.data.index[:3]) == ["K = 3", "K = 5", "K = 10"]
    assert len(table.data) == 7 + 7 + 10
    np.testing.assert_array_equal(table.data.loc["K = 5"], table.data.loc["M = 20"])
    np.testing.assert_array_equal(table.data.loc["K = 5"], table.data.loc["weight = 1"])
    assert "(ECOD 3, KNN 3)" in table.note


def test_gaps_divide_own_costs_by_k(small_results, study):
    table = gap_table(small_results.folder, "random split", study, []).data
    own = [
        gap.normal
        for term, gap in gap_store(small_results.folder).rows().items()
        if (term.dataset, term.protocol) == ("first", "random split")
        and term.calibration == AS_PUBLISHED.name
    ]
    assert table.loc["first", "uniform own: normal"] == pytest.approx(np.mean(own) / 5)


def test_the_command_builds_the_page_from_results(small_results, tmp_path, capsys):
    main(["--from", str(small_results.folder), "-o", str(tmp_path)])
    assert f"Tables and figures: {tmp_path / 'report.html'}" in capsys.readouterr().out
    text = (tmp_path / "report.md").read_text()
    for title in ("The method", "Ways to calibrate", "Other settings", "Transport terms"):
        assert f"## {title}" in text
    assert "paper: " not in text  # it has no numbers for these data sets
    assert len([*(tmp_path / "figures").iterdir()]) == 1 + 2 + 2 + 1 + 2


def test_the_command_shows_what_is_asked_for(small_results, tmp_path):
    options = ["--datasets", "first,third", "--detectors", "knn", "--seeds", "1"]
    options += ["--protocol", "random-split"]
    main(["--from", str(small_results.folder), "-o", str(tmp_path), *options])
    text = (tmp_path / "report.md").read_text()
    assert "second" not in text
    assert "ECOD" not in text
    assert "first half" not in text


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--datasets", "first,fourth"), "fourth: not among first, second, third"),
        (("--detectors", "pca"), "PCA: not among ECOD, KNN"),
    ],
)
def test_the_command_names_results_that_are_missing(small_results, options, reason):
    with pytest.raises(SystemExit, match=reason):
        main(["--from", str(small_results.folder), *options])


def test_the_command_refuses_a_folder_without_results(tmp_path):
    with pytest.raises(SystemExit, match="has no results"):
        main(["--from", str(tmp_path)])


def test_the_command_runs_what_is_missing(small_results, data, monkeypatch, tmp_path):
    """Here nothing is missing: no job is started, and no file of results changes."""
    folder = tmp_path / "results"
    folder.mkdir()
    for file in small_results.folder.glob("*.parquet"):
        (folder / file.name).write_bytes(file.read_bytes())
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    monkeypatch.setattr("studies.paper.__main__.build_chapters", lambda *_: [])
    main(["--data-dir", str(data), "-o", str(folder), "--detectors", "ecod,knn", "--seeds", "2"])
    assert before == {name: (folder / name).read_bytes() for name in before}
    assert not [*folder.glob("*.csv")]


def cell(dataset, detector, seed=0):
    return Cell(dataset, detector, AS_PUBLISHED.name, FIRST_HALF.name, seed)


def stored_as(folder, dataset, rows, facts=None):
    """Results as given; by default the data set is the paper's."""
    results = Results(folder)
    known = KNOWN_DATASETS[dataset]
    with results.cells.writing() as add:
        add(rows)
    with results.datasets.writing() as add:
        facts = facts or (known.samples, known.dims, known.anomalies, known.values_sha256)
        add([(results.datasets._key(dataset), results.datasets._value(*facts))])
    return results


def test_printed_numbers_are_equal_or_inside_the_range(tmp_path):
    # Printed for WDBC: OCSVM .4348, with CTAD .9573.
    outcomes = [Outcome("x", after, 0.9, 0.9, 0.4350, 0.9, 0.9) for after in (0.90, 0.96)]
    rows = [(cell("wdbc", "OCSVM", seed), outcome) for seed, outcome in enumerate(outcomes)]
    results = stored_as(tmp_path, "wdbc", rows)
    table = agreement_table(measurements(results, Study.found_in(results)), ["wdbc"]).data
    assert list(table.loc["OCSVM, AUC-PR"]) == [1, 1, 1, 0, 1, 0]


def test_another_data_set_of_the_same_name_is_not_compared_with_the_paper(tmp_path):
    rows = [(cell("wdbc", "KNN"), Outcome("x", 0.9, 0.9, 0.9, 0.4, 0.9, 0.9))]
    known = KNOWN_DATASETS["wdbc"]
    shape = (known.samples, known.dims, known.anomalies)
    for folder, facts, found in (
        ("theirs", None, ["wdbc"]),
        ("other values", (*shape, "0" * 64), []),
        ("other shape", (9, 2, 1, known.values_sha256), []),
    ):
        results = stored_as(tmp_path / folder, "wdbc", rows, facts)
        study = Study.found_in(results)
        assert paper_datasets(results, study) == found
        table = summary(measurements(results, study), FIRST_HALF.name, "auc_pr", found).data
        assert ("paper: baseline" in table) == bool(found)


def test_the_papers_numbers_are_by_detector():
    numbers = reference("auc_pr", ["wdbc"])
    assert numbers.plain.loc["wdbc", "OCSVM"] == 0.4348
    assert numbers.calibrated.loc["wdbc", "OCSVM"] == 0.9573
    assert set(numbers.plain) > set(numbers.calibrated)


def test_failures_are_a_chapter(tmp_path):
    rows = [
        (cell("wdbc", "KNN"), Outcome("x", 0.9, 0.9, 0.9, 0.4, 0.9, 0.9)),
        (cell("wdbc", "PCA"), Outcome("x", error="ValueError: no")),
    ]
    results = stored_as(tmp_path, "wdbc", rows)
    with gap_store(tmp_path).writing():
        pass
    chapters = {
        chapter.name: chapter for chapter in build_chapters(results, Study.found_in(results))
    }
    assert chapters["failures"].tables[0].data["error"].tolist() == ["ValueError: no"]
    assert "sensitivity" not in chapters
