"""The content of a report agrees with the results of the detector."""

import html
import warnings

import numpy as np
import pandas as pd
import pytest
from pyod.models.ecod import ECOD
from pyod.models.knn import KNN
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import IsolationForest

from ctad import CTAD, CalibratedDetector, RelaxedCTAD, load
from ctad.calibration import MahalanobisDistance
from ctad.wrapper import report_content


@pytest.fixture(scope="module")
def tables():
    X, benign = load_breast_cancer(return_X_y=True, as_frame=True)
    return X[benign == 1][:250], X[300:].reset_index(drop=True), (1 - benign[300:]).to_numpy()


@pytest.fixture(scope="module")
def detector(tables):
    forest = IsolationForest(n_estimators=50)
    return CalibratedDetector(forest, holdout=0.3, random_state=0).fit(tables[0])


def test_a_report_has_the_results_of_the_detector(detector, tables):
    _, new, y = tables
    report = report_content(detector, new, y, fdr=0.1)
    scored = detector.score_parts(new)
    np.testing.assert_array_equal(report.scores.score, scored.score)
    np.testing.assert_array_equal(report.scores.p_value, scored.p_value)
    np.testing.assert_array_equal(report.selected, detector.select(new, fdr=0.1))
    np.testing.assert_array_equal(report.normal_scores.score, detector.calibration_scores_.score)
    np.testing.assert_array_equal(report.labels, y == 1)
    assert report.title == "IsolationForest, calibrated"
    assert report.facts["Training rows"] == "175"
    assert report.facts["Normal rows held out"] == "75"
    for setting in ("training='mixed'", "n_centroids=300", "weight=2.0"):  # also the usual ones
        assert setting in report.facts["Calibration"]
    assert "holdout=0.3" in report.reproduce
    assert "from sklearn.ensemble import IsolationForest" in report.reproduce


def test_alerts_are_the_highest_scores_explained(detector, tables):
    _, new, y = tables
    report = report_content(detector, new, y)
    scores = detector.anomaly_score(new)
    assert [alert.row for alert in report.alerts] == np.argsort(-scores, kind="stable")[
        :100
    ].tolist()
    explanation = detector.explain(new)
    for place, alert in enumerate(report.alerts):
        assert alert.rank == place + 1
        assert alert.base_part + alert.delta_part == pytest.approx(alert.score, abs=1e-9)
        assert alert.is_anomaly == bool(y[alert.row])
        assert alert.reasons == explanation.reasons(alert.row, 5)
        assert alert.text == explanation.transport_text(alert.row)
    for alert in report.moved_up:
        assert alert.rank < alert.base_rank
    for alert in report.moved_down:
        assert alert.rank > alert.base_rank
    assert len(report.moved_up) == len(report.moved_down) == 10


def test_the_map_has_the_alerts_and_is_the_plane_of_training_rows(detector, tables):
    _, new, _ = tables
    report = report_content(detector, new)
    assert {alert.row for alert in report.alerts} <= set(report.projection.new_rows.tolist())
    assert report.projection.new.shape == (len(report.projection.new_rows), 2)
    assert len(report.projection.centroids) == len(detector.calibrator_.centroids_)
    np.testing.assert_allclose(report.projection.training.mean(axis=0), 0, atol=1e-9)
    assert 0.4 < sum(report.projection.explained_variance) < 1


def test_the_page_is_written_as_one_file(detector, tables, tmp_path):
    _, new, y = tables
    page = detector.report(new, y)
    where = page.save(tmp_path / "report.html")
    assert where.read_text(encoding="utf-8") == page.html
    assert page.html.startswith("<!doctype html>")
    assert repr(page) == f"Page of {len(page.html) / 1e6:.1f} MB: save('report.html')"
    assert html.escape("<!doctype html>") in page._repr_html_()


def test_a_loaded_model_reports_the_same(detector, tables, tmp_path):
    detector.save(tmp_path / "m.ctad")
    loaded = load(tmp_path / "m.ctad")
    assert loaded.report(tables[1]).html == detector.report(tables[1]).html


@pytest.mark.filterwarnings("ignore:ECOD scores a row differently")
@pytest.mark.parametrize(
    ("base", "calibrator"),
    [(ECOD(), None), (KNN(), CTAD()), (KNN(), MahalanobisDistance())],
)
def test_reports_without_rows_held_out(base, calibrator, tables):
    """Also with a batch-dependent detector, and with a term that is not a transport."""
    normal, new, _ = tables
    detector = CalibratedDetector(base, calibrator, random_state=0).fit(normal.to_numpy())
    report = report_content(detector, new.to_numpy())
    assert report.scores.p_value is None
    assert report.selected is None
    assert report.drift.p_value is None
    for alert in report.alerts:
        assert alert.base_part + alert.delta_part == pytest.approx(alert.score, rel=1e-9)
    assert detector.report(new.to_numpy()).html.count("<h2")


def test_one_column_and_one_row():
    random = np.random.default_rng(0)
    detector = CalibratedDetector(KNN(), holdout=0.2, random_state=0)
    detector.fit(random.normal(size=(200, 1)))
    report = report_content(detector, [[9.0]])
    assert len(report.alerts) == 1
    assert report.projection.explained_variance[1] == 0.0
    assert "no row is selected" not in "".join(
        report.notices
    )  # 40 rows held out suffice for one row
    assert detector.report([[9.0]]).html


def test_the_page_says_that_too_few_rows_are_held_out(detector, tables):
    dull = tables[0].sample(5000, replace=True, random_state=0)
    report = report_content(detector, dull, fdr=0.01)
    assert report.fewest_discoveries == 6579  # more than there are: 75 rows held out are too few
    assert "fewer than 6,579 anomalies" in detector.report(dull, fdr=0.01).html


@pytest.mark.filterwarnings("ignore:ECOD scores a row differently")
def test_the_page_says_that_p_values_depend_on_the_batch(tables):
    normal, new, _ = tables
    detector = CalibratedDetector(ECOD(), CTAD(), holdout=0.3, random_state=0).fit(normal)
    [notice] = report_content(detector, new).notices
    assert notice.startswith("ECOD scores a row differently in a different batch: p-values")


def test_rates_are_qualified_if_the_model_does_not_fit(detector, tables):
    _, new, _ = tables
    page = detector.report(new, fdr=0.2).html
    assert "provided that normal rows are still like those in training" in page
    assert "are false alarms (the chosen false discovery rate)" not in page


def test_rows_are_numbered_by_the_index_of_their_table(detector, tables):
    _, new, _ = tables
    report = report_content(detector, new.set_index(np.arange(len(new)) + 70_000))
    assert report.row_number(3) == 70_003
    assert report_content(detector, new).row_numbers is None
    assert report_content(detector, new.set_index(np.array(["a"] * len(new)))).row_numbers is None


def test_the_code_that_reproduces_the_page(detector, tables):
    normal, new, y = tables
    names = {"X_train": normal, "X_new": new, "y": y}
    code = report_content(detector, new, y, fdr=0.2).reproduce
    assert code.endswith('detector.report(X_new, y, fdr=0.2).save("report.html")')
    exec(code.rpartition("\n")[0], names)
    np.testing.assert_array_equal(names["detector"].anomaly_score(new), detector.anomaly_score(new))
    later = CalibratedDetector(KNN(), CTAD()).fit(normal[:100]).conformalize(normal[100:])
    code = report_content(later, new).reproduce
    assert "conformalize(X_normal)" in code
    assert "random_state was not set" in code


def test_labels_without_an_anomaly(detector, tables):
    _, new, _ = tables
    page = detector.report(new, np.zeros(len(new))).html
    assert "Comparison with the labels" not in page


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1, 0], "one label per row"),
        (np.full(269, 2), "1 for anomalies and 0"),
    ],
)
def test_labels_that_do_not_fit_are_refused(detector, tables, y, message):
    with pytest.raises(ValueError, match=message):
        detector.report(tables[1], y)


def test_column_names_are_escaped(tables):
    normal, new, y = tables
    names = {"mean area": "<script>alert(1)</script>", "worst area": '"><img src=x onerror=boo()>'}
    detector = CalibratedDetector(KNN(), CTAD(), holdout=0.3, random_state=0)
    page = detector.fit(normal.rename(columns=names)).report(new.rename(columns=names), y).html
    assert "&lt;script&gt;alert(1)" in page
    for name in names.values():
        assert name not in page


def test_labelled_anomalies_that_were_not_trained_on_are_counted(tables):
    _, new, y = tables
    detector = CalibratedDetector(KNN(), CTAD(), random_state=0).fit(new, y)
    facts = report_content(detector, new).facts
    assert facts["Labelled anomalies, not used"] == f"{y.sum()}"
    assert facts["Training rows"] == f"{(y == 0).sum()}"


def test_a_table_with_text_has_more_features_than_columns():
    table = pd.DataFrame({"a": np.arange(60.0), "b": [1.0] * 60, "plan": ["x", "y", "z"] * 20})
    with pytest.warns(UserWarning, match="not used: 'b'"):
        detector = CalibratedDetector(KNN(), CTAD(), random_state=0).fit(table)
    facts = report_content(detector, table).facts
    assert facts["Columns in use"] == "2: a, plan"
    assert facts["Features"] == "4"
    assert facts["Not used"].startswith("b (")


def test_warnings_of_users_are_notices_and_others_are_passed_on():
    def detector(X):
        for category in (UserWarning, DeprecationWarning):
            warnings.warn(f"a {category.__name__}", category, stacklevel=1)
        return X[:, 0]

    rows = np.random.default_rng(0).normal(size=(50, 2))
    with warnings.catch_warnings(action="ignore"):
        fitted = CalibratedDetector(detector, CTAD(), polarity="higher").fit(rows)
    with pytest.warns(DeprecationWarning, match="a DeprecationWarning") as caught:
        assert report_content(fitted, rows).notices == ["a UserWarning"]
    assert {warning.category for warning in caught} == {DeprecationWarning}


@pytest.mark.slow
def test_a_hundred_thousand_rows_give_a_page_below_8_mb():
    random = np.random.default_rng(0)
    names = [f"measure {i}" for i in range(10)]
    train, new = (pd.DataFrame(random.normal(size=(n, 10)), columns=names) for n in (2000, 100_000))
    detector = CalibratedDetector(
        lambda table: table["measure 0"], RelaxedCTAD(5, n_draws=1), polarity="higher", holdout=0.5
    )
    page = detector.fit(train).report(new, np.arange(100_000) < 500).html
    assert len(page.encode()) < 8e6
