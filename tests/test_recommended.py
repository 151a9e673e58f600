"""What docs/recommended.md says of the study's results in this repository."""

import re
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pandas")
pytest.importorskip("pyod")

from pyod.models.knn import KNN

from ctad.calibration._agreement import STUDY
from ctad.datasets import Dataset
from ctad.detectors import make
from ctad.evaluation import PROTOCOLS, Calibration, Contestant
from ctad.evaluation._scores import detector_scores
from ctad.evaluation._terms import Terms

from .data import clusters

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "recommended.md").read_text()


def of_benchmarks(name):
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        return import_module(name)
    finally:
        sys.path.pop(0)


@pytest.fixture(scope="module")
def report():
    return of_benchmarks("recommended_report")


@pytest.fixture(scope="module")
def retrained():
    return of_benchmarks("retrained")


def table(lines):
    """The cells of a table's rows, by the first of them."""
    rows = [[cell.strip(" *") for cell in line.strip("| ").split(" | ")] for line in lines]
    return {row[0]: row[1:] for row in rows[2:]}


def test_the_page_is_made_of_these_results(report):
    made = (report.verdict, report.folds, report.losses, report.rival, report.parts, report.tried)
    for part in (*made, report.retrained, report.by_agreement):
        assert "\n".join(part()) in PAGE
    assert report.seeds() in PAGE


def test_nothing_that_may_be_chosen_is_clearly_better_than_the_preset(report):
    means = report.mean_gains(())
    assert means["recommended"] > means.max() - 0.001


def test_the_preset_beats_the_rival_on_both_kinds_of_columns(report):
    for alone, rival, preset, *_ in table(report.rival()).values():
        assert float(preset) > float(rival) > float(alone)


def test_choices_made_without_the_data_set_are_set_beside_the_rival(report):
    rows = table(report.rival())
    _, rival, _, unseen = rows["random, standardised"]
    assert float(unseen) > float(rival)
    _, rival, _, unseen = rows["published, as they are"]
    assert float(unseen) < float(rival)  # as the page says


def test_a_blind_detector_is_counted_and_left_out(report):
    rows = [line for line in report.verdict() if line.startswith("| PCA | published")]
    cells = rows[0].split(" | ")
    blind_on, elsewhere = int(cells[8]), float(cells[9])
    assert blind_on == 4  # cardiotocography, fault, mnist, optdigits
    assert elsewhere < 0.06 < float(cells[4].strip("*"))


def test_every_detector_gains_under_both_protocols(report):
    for protocol in report.JUDGED:
        assert report.measured_detectors(protocol) == list(report.DETECTORS)
        for detector in report.DETECTORS:
            gain = report.judged(protocol, detector)
            assert gain.mean() > 0
            if protocol == "honest":
                assert report.p_of(gain) < 0.01  # as the page says


def test_data_sets_that_belong_together_are_left_out_together(report):
    groups = report.groups(["wbc", "wine", "wdbc"])
    assert ("wbc", "wdbc") in groups
    assert ("wine",) in groups
    assert ("wbc",) not in groups


def test_a_choice_does_not_see_what_it_is_judged_by(report, monkeypatch):
    """A variant that is best on one data set alone is not chosen for it."""
    original = report.gains

    def flattered(protocol, detector):
        changed = original(protocol, detector).copy()
        changed.loc["wine", "robust"] += 1000.0
        return changed

    monkeypatch.setattr(report, "gains", flattered)
    assert report.chosen_without(()) == "robust"
    assert report.chosen_without(("wine",)) != "robust"


def test_what_the_library_says_of_agreement_is_what_was_seen(report):
    rows = list(table(report.by_agreement()).items())
    assert len(rows) == len(STUDY)
    for (edges, (_, mean, _, wins, losses)), seen in zip(rows, STUDY, strict=True):
        assert float(edges.split(" to ")[1]) == seen.up_to
        assert float(mean) == seen.mean_gain
        assert wins == f"{seen.share_gaining:.0%}"
        assert losses == f"{seen.share_losing:.0%}"


def test_the_readmes_table_is_the_pages(report):
    readme = (ROOT / "README.md").read_text()
    for detector in report.DETECTORS:
        told = re.search(rf"^\| {detector} \|(.*)\|$", readme, re.M)
        cells = [float(cell.strip(" *+")) for cell in told[1].split("|")]
        expected = [
            number
            for protocol in report.JUDGED
            for plain, gain in [report.plain_and_gain(protocol, detector)]
            for number in (plain.mean(), gain.mean())
        ]
        assert cells == pytest.approx(expected, abs=0.0006)


def test_ideas_start_from_the_preset(retrained):
    """Without an idea, a detector scores as in the study's cells of the preset."""
    protocol, dataset = PROTOCOLS["honest"], Dataset("mine", clusters(200), np.arange(200) > 180)
    split = protocol.split(dataset, 0)
    detector = retrained.Retrained(make("IForest"), 0).fit(split.train)
    base = detector_scores(Contestant("IForest"), dataset, protocol, 0, split, None)
    calibration = Calibration("recommended")
    terms, _ = Terms(split, 0).of(calibration)
    expected = calibration.applied(base.scores, terms, protocol)
    np.testing.assert_allclose(detector.decision_function(split.test), expected)


def test_cross_fitted_scores_are_of_rows_that_the_detector_has_not_seen(retrained):
    rows = np.random.default_rng(0).normal(size=(60, 3))
    detector = make("KNN", n_neighbors=1)
    fitted = retrained.CrossFitted(detector, 0).fit(rows)
    assert (fitted.score_(rows) == 0).all()  # every row is its own neighbour
    assert (fitted.known_ > 0).all()


class BlindOnMany(KNN):
    """Blind as PyOD's PCA may be: of all rows it says nothing, of fewer it does."""

    def fit(self, X, y=None):
        super().fit(X)
        if len(X) >= 90:
            self.decision_scores_ = np.full(len(X), np.inf)
        return self


def test_a_blind_detector_stays_silent_when_cross_fitted(retrained):
    """As with the preset: where all of its scores are infinite, the term speaks."""
    rows, new = clusters(90), clusters(20, seed=1)
    kinds = (retrained.Retrained, retrained.CrossFitted)
    plain, fitted = (kind(BlindOnMany(), 0).fit(rows).decision_function(new) for kind in kinds)
    np.testing.assert_array_equal(plain, fitted)


def test_made_up_anomalies_give_a_bad_detector_little_say(retrained):
    x = np.random.default_rng(0).normal(size=(300, 1))
    rows = np.hstack([x, -x, x**2])
    bad = make("IForest", n_estimators=3, max_samples=3)
    weights = [retrained.WeightBySynthetic(bad, seed).fit(rows).weight_ for seed in range(5)]
    assert np.median(weights) > retrained.PRESET.weight
