"""The study behind RelaxedCTAD, and what docs/recommended.md says about its results."""

import re
from dataclasses import astuple
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pandas")
pytest.importorskip("pyod")

from pyod.models.knn import KNN
from studies.paper.protocol import FIRST_HALF
from studies.recommended import dirty, docs_page, tables
from studies.recommended.__main__ import RESULTS
from studies.recommended.agreement import Case, agreement_store, measure_agreement
from studies.recommended.candidates import NOT_CHOSEN, RECOMMENDED, candidates
from studies.recommended.gains import Gains, choosable, left_out_groups, p_value
from studies.recommended.plan import DETECTORS, SPLITS, plans
from studies.recommended.retrained import CrossFitted, Retrained, WeightBySyntheticAnomalies
from studies.recommended.terms import InSample, MoreCentroids, NearestRow, prices

from ctad import RelaxedCTAD
from ctad.calibration._agreement import STUDY
from ctad.datasets import Dataset
from ctad.detectors import make
from ctad.evaluation import (
    RANDOM_SPLIT,
    Calibration,
    Contestant,
    Results,
    Source,
    Values,
    detector_scores,
)
from ctad.transport import RowTransport

from ..data import clusters

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def gains():
    return Gains.of(RESULTS)


@pytest.fixture(scope="module")
def together(gains):
    return docs_page.agreement_and_gain(RESULTS, gains)


def cells_by_name(lines):
    """The cells of a table's rows, by the first of them."""
    rows = [[cell.strip(" *") for cell in line.strip("| ").split(" | ")] for line in lines]
    return {row[0]: row[1:] for row in rows[2:]}


# The page


def test_the_page_is_generated_from_the_stored_results(gains, together):
    generated = "\n".join(docs_page.generated_lines(RESULTS, gains, together))
    assert generated in (ROOT / "docs" / "recommended.md").read_text()


def test_the_picture_is_drawn(together, tmp_path):
    docs_page.draw_picture(together, tmp_path / "picture.png")
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")


def test_no_candidate_is_clearly_better_than_relaxed_ctad(gains):
    means = gains.means(())[choosable()]
    assert means[RECOMMENDED] > means.max() - 0.001


def test_relaxed_ctad_is_ahead_of_the_nearest_training_row(gains):
    for alone, nearest_row, relaxed, *_ in cells_by_name(tables.baseline(gains)).values():
        assert float(relaxed) > float(nearest_row) > float(alone)


def test_the_page_is_right_about_choices_and_the_nearest_training_row(gains):
    rows = cells_by_name(tables.baseline(gains))
    _, nearest_row, _, chosen = rows["random split, standardised"]
    assert float(chosen) > float(nearest_row)
    _, nearest_row, _, chosen = rows["first half, unscaled"]
    assert float(chosen) < float(nearest_row)


def test_data_sets_with_constant_scores_are_counted_and_left_out(gains):
    lines = tables.gains_by_detector(gains)
    [line] = [line for line in lines if line.startswith("| PCA | first half")]
    cells = line.split(" | ")
    constant_on, elsewhere = int(cells[8]), float(cells[9])
    assert constant_on == 4  # cardiotocography, fault, mnist, optdigits
    assert elsewhere < 0.06 < float(cells[4].strip("*"))


@pytest.mark.parametrize("split", SPLITS, ids=lambda split: split.name)
def test_every_detector_gains(gains, split):
    for detector in DETECTORS:
        gain = gains.of_choices(split.name, detector)
        assert len(gain) == 32
        assert gain.mean() > 0
        if split is RANDOM_SPLIT:
            assert p_value(gain) < 0.01  # as the page says


def test_expected_gain_has_the_numbers_of_the_study(together):
    rows = cells_by_name(tables.gains_by_agreement(together))
    assert len(rows) == len(STUDY)
    for (interval, (_, mean, _, wins, losses)), seen in zip(rows.items(), STUDY, strict=True):
        assert float(interval.split(" to ")[1]) == seen.up_to
        assert float(mean) == seen.mean_gain
        assert wins == f"{seen.share_gaining:.0%}"
        assert losses == f"{seen.share_losing:.0%}"


def test_the_readme_has_the_numbers_of_the_study(gains):
    readme = (ROOT / "README.md").read_text()
    for detector in DETECTORS:
        shown = re.search(rf"^\| {detector} \|(.*)\|$", readme, re.M)
        numbers = [float(cell.strip(" *+")) for cell in shown[1].split("|")]
        expected = [
            number
            for split in SPLITS
            for number in (
                gains.plain(split.name, detector).auc_pr.mean(),
                gains.of_choices(split.name, detector).mean(),
            )
        ]
        assert numbers == pytest.approx(expected, abs=0.0006)


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
        results.index.get_level_values("calibration") == "robust"
    )
    results.loc[is_changed, "auc_pr"] += 1000.0
    changed = Gains(results)
    assert changed.choice_without(()) == "robust"
    assert changed.choice_without(("wine",)) != "robust"


def test_weights_and_additions_are_not_chosen():
    assert not {one.name for one in candidates()[NOT_CHOSEN]} & set(choosable())


# The runs


def test_nothing_is_missing_in_the_stored_results():
    datasets = Results(RESULTS).datasets.frame()["name"]
    stored = Results(RESULTS).cells.frame().groupby("protocol").size()
    wanted = {
        protocol: len(datasets) * sum(len(e.calibrations) * len(e.seeds) for e in plan.entries)
        for plan in plans(datasets)
        for protocol in {entry.protocol.name for entry in plan.entries}
    }
    assert stored.to_dict() == wanted
    names = {one.name for group in candidates().values() for one in group}
    assert names <= set(Results(RESULTS).cells.frame()["calibration"])


def test_agreement_is_measured_once(tmp_path):
    folder, scores = tmp_path / "results", tmp_path / "scores"
    random = np.random.default_rng(0)
    is_anomaly = np.arange(80) >= 70
    np.savez(tmp_path / "mine.npz", X=random.normal(size=(80, 3)), y=is_anomaly)
    detectors = ("KNN", "IForest")
    measure_agreement(["mine"], Source(tmp_path), folder, scores, detectors)
    measured = agreement_store(folder).rows()
    assert set(measured) == {
        Case("mine", detector, split.name) for detector in detectors for split in SPLITS
    }
    assert all(-1 <= one.agreement <= 1 for one in measured.values())
    written = agreement_store(folder).parquet_path.stat().st_mtime_ns
    measure_agreement(["mine"], Source(tmp_path / "nowhere"), folder, scores, detectors)
    assert agreement_store(folder).parquet_path.stat().st_mtime_ns == written


# Terms


def test_more_centroids_follow_the_formula_of_relaxed_ctad():
    rows, new = clusters(300), clusters(100, seed=1)
    ours = MoreCentroids(share=1 / 3, random_state=0).fit(rows)
    library = RelaxedCTAD(random_state=0).fit(rows)
    scale = library.n_references_ + 1
    np.testing.assert_allclose(ours.delta(new), scale * library.delta(new))
    np.testing.assert_allclose(ours.training_delta_, scale * library.training_delta_)
    more = MoreCentroids(random_state=0).fit(rows)
    assert len(more.draws_[0][2]) == 200


def test_prices_are_those_of_the_transport_problem():
    """Where a row goes to one centroid as a whole, the total is its cost plus the price."""
    costs = np.random.default_rng(0).random((9, 5))  # K=5 divides M+1=10
    row_costs = np.random.default_rng(1).random((50, 5))
    total = RowTransport(costs).solve(row_costs).total
    ours = (row_costs + prices(costs)).min(axis=1) / 10
    assert np.ptp(total - ours) < 1e-12  # up to the cost of the references


def test_a_training_row_is_not_its_own_nearest_row():
    rows = clusters(50)
    term = NearestRow().fit(rows)
    assert (term.training_delta_ > 0).all()
    assert (term.delta(rows) == 0).all()


def test_in_sample_terms_are_smaller():
    rows = clusters(120)
    in_sample = InSample(RelaxedCTAD(), 0).fit(rows)
    assert not hasattr(in_sample, "training_delta_")
    left_out = RelaxedCTAD(random_state=0).fit(rows).training_delta_
    assert (in_sample.delta(rows) <= left_out).all()


# Ideas that train the detector several times


def test_ideas_start_from_relaxed_ctad():
    """Without an idea, a detector scores as it does with the candidate "recommended"."""
    dataset = Dataset("mine", clusters(200), np.arange(200) > 180)
    split = RANDOM_SPLIT.split(dataset, 0)
    detector = Retrained(make("IForest"), 0).fit(split.train)
    base = detector_scores(Contestant("IForest"), dataset, RANDOM_SPLIT, 0, split)
    calibration = Calibration.named("recommended")
    fitted = calibration.for_seed(0).fit(split.train)
    terms = Values(fitted.training_delta_, fitted.delta(split.test))
    expected = calibration.apply(base.scores, terms, fitted, RANDOM_SPLIT)
    np.testing.assert_allclose(detector.decision_function(split.test), expected)


def test_cross_fitted_scores_are_of_rows_that_the_detector_has_not_seen():
    rows = np.random.default_rng(0).normal(size=(60, 3))
    fitted = CrossFitted(make("KNN", n_neighbors=1), 0).fit(rows)
    assert (fitted.detector_.decision_function(rows) == 0).all()  # its own neighbour
    assert (fitted.known_scores_ > 0).all()


class InfiniteOnManyRows(KNN):
    """As PyOD's PCA may be: infinite scores of all rows, finite ones of fewer rows."""

    def fit(self, X, y=None):
        super().fit(X)
        if len(X) >= 90:
            self.decision_scores_ = np.full(len(X), np.inf)
        return self


def test_infinite_scores_are_not_replaced_by_cross_fitted_ones():
    rows, new = clusters(90), clusters(20, seed=1)
    plain, fitted = (
        kind(InfiniteOnManyRows(), 0).fit(rows).decision_function(new)
        for kind in (Retrained, CrossFitted)
    )
    np.testing.assert_array_equal(plain, fitted)


def test_a_bad_detector_makes_synthetic_anomalies_choose_a_large_weight():
    x = np.random.default_rng(0).normal(size=(300, 1))
    rows = np.hstack([x, -x, x**2])
    bad = make("IForest", n_estimators=3, max_samples=3)
    weights = [WeightBySyntheticAnomalies(bad, seed).fit(rows).weight_ for seed in range(5)]
    assert np.median(weights) > RelaxedCTAD().weight


def test_networks_have_published_settings_on_the_first_half_only():
    first_half, random_split, _ = plans(["wine"])
    for plan, is_published in ((first_half, True), (random_split, False)):
        [drl] = [e.contestant for e in plan.entries if e.contestant.name == "DRL"]
        assert (drl.settings is not None) == is_published
    assert {entry.protocol for entry in first_half.entries} == {FIRST_HALF}


# Anomalies among the training rows


def test_every_cell_of_the_dirty_protocols_has_a_result():
    cells = Results(RESULTS / dirty.FOLDER).cells.rows()
    datasets = {cell.dataset for cell in cells}
    assert len(datasets) == 32
    planned = {
        (dataset, entry.contestant.name, calibration.name, entry.protocol.name, seed)
        for plan in dirty.plans(datasets)
        for dataset in plan.datasets
        for entry in plan.entries
        for calibration in entry.calibrations
        for seed in entry.seeds
    }
    assert {astuple(cell) for cell in cells} == planned
    assert not [outcome.error for outcome in cells.values() if outcome.error]


def test_data_sets_keep_at_least_half_of_their_anomalies():
    enough = {
        name: [share for share in dirty.SHARES if dirty.has_enough_anomalies(name, share)]
        for name in ("wine", "wbc", "breastw")
    }
    # 129 normal rows and 10 anomalies; 357 and 21; 444 and 239.
    assert enough == {
        "wine": [0.0, 0.01, 0.05],
        "wbc": [0.0, 0.01, 0.05],
        "breastw": [0.0, 0.01, 0.05, 0.1],
    }


def test_without_anomalies_the_dirty_protocol_is_the_random_split(gains):
    found = dirty.DirtyGains.of(RESULTS)
    for detector in dirty.CLASSICAL:
        before = gains.of_calibration(RECOMMENDED, RANDOM_SPLIT.name, detector)
        datasets = found.datasets(0.0)
        with_it = found.mean("auc_pr", 0.0, RECOMMENDED, datasets)[detector]
        alone = found.mean("auc_pr", 0.0, "none", datasets)[detector]
        assert with_it - alone == pytest.approx(before.mean(), abs=0.005)
