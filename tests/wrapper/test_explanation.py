"""Explanations: exact parts, in the columns' own units."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyod.models.ecod import ECOD
from pyod.models.iforest import IForest
from pyod.models.knn import KNN
from sklearn.base import clone
from sklearn.ensemble import IsolationForest

from ctad import CTAD, CalibratedDetector, RelaxedCTAD, load
from ctad.calibration import CentroidDistance, MahalanobisDistance, NeighbourDistance, TransportOnly
from ctad.wrapper import ConformalDecisions, InputConverter
from ctad.wrapper._explanation import explain_rows


def orders(n, seed=0):
    random = np.random.default_rng(seed)
    amount = random.lognormal(4, 0.5, n)
    return pd.DataFrame(
        {
            "amount": np.where(random.random(n) < 0.1, np.nan, amount),
            "items": random.integers(1, 9, n),
            "plan": random.choice(["basic", "plus"], n, p=[0.8, 0.2]),
            "paid": random.random(n) < 0.9,
            "when": pd.Timestamp("2026-01-01") + pd.to_timedelta(random.integers(0, 9000, n), "h"),
        }
    )


@pytest.fixture(scope="module")
def detector():
    forest = IsolationForest(n_estimators=20)
    return CalibratedDetector(forest, holdout=0.2, random_state=0).fit(orders(600))


@pytest.fixture(scope="module")
def odd():
    """Three orders: an ordinary one, a huge one, one of a plan never seen."""
    table = orders(600, seed=1).dropna().head(3).reset_index(drop=True)
    table.loc[1, "amount"] = 9300.0
    table["plan"] = ["basic", "basic", "gold"]
    return table


CALIBRATORS = [
    RelaxedCTAD(50),
    CTAD(),
    CTAD(20, 30, target="sizes", signal="own", score_scaling="standard"),
    CTAD(target="free", n_draws=3, score_scaling="unit"),
    CentroidDistance(score_scaling="robust"),
    MahalanobisDistance(score_scaling="robust"),
    NeighbourDistance(0.05, score_scaling="robust"),
    TransportOnly(),
]


@pytest.mark.parametrize("calibrator", CALIBRATORS, ids=str)
def test_the_parts_sum_to_the_score(calibrator):
    """Of scores that no detector made."""
    random = np.random.default_rng(0)
    X, new, scores = (
        random.normal(size=(300, 5)),
        2 * random.normal(size=(40, 5)),
        random.random(40),
    )
    calibrator = clone(calibrator).fit(X, scores=random.random(300))
    explanation = explain_rows(
        new,
        new,
        scores,
        calibrator=calibrator,
        converter=InputConverter(tuple("abcde")),
        training_sample=X,
        detector_name="mine",
        normal_scores=np.arange(9.0),
    )
    close = {"rtol": 0, "atol": 1e-9}
    delta = calibrator.delta(new)
    np.testing.assert_allclose(explanation.delta, delta, **close)
    np.testing.assert_allclose(explanation.score, calibrator.combine(scores, delta), **close)
    np.testing.assert_allclose(
        explanation.base_part + explanation.delta_part, explanation.score, **close
    )
    np.testing.assert_allclose(
        explanation.column_parts.sum(axis=1) + explanation.references_part, delta, **close
    )
    np.testing.assert_array_equal(explanation.base_score, scores)
    np.testing.assert_array_equal(
        explanation.p_value, ConformalDecisions(np.arange(9.0)).p_values(explanation.score)
    )
    assert "from mine, which gives" in explanation.text(0)
    assert explanation.transport_text(0) in explanation.text(0).replace("\n  ", "\n")


@pytest.mark.filterwarnings("ignore:ECOD scores a row differently")
@pytest.mark.parametrize("base", [IForest(10), ECOD()], ids=lambda d: type(d).__name__)
def test_explained_scores_are_those_of_the_detector(base):
    random = np.random.default_rng(0)
    X, new = random.normal(size=(300, 5)), 2 * random.normal(size=(40, 5))
    detector = CalibratedDetector(base, random_state=0).fit(X)
    explanation, parts = detector.explain(new), detector.score_parts(new)
    np.testing.assert_allclose(explanation.score, parts.score, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(explanation.base_score, parts.base_score)


def test_the_parts_of_tables_sum_to_the_score(detector, odd):
    explanation = detector.explain(odd)
    assert explanation.columns == ("amount", "items", "plan", "paid", "when")
    np.testing.assert_allclose(explanation.column_parts.sum(axis=1), explanation.delta, atol=1e-9)
    np.testing.assert_array_equal(explanation.score, detector.anomaly_score(odd))
    np.testing.assert_array_equal(explanation.p_value, detector.p_value(odd))
    for row in range(3):
        assert sum(reason.share for reason in explanation.reasons(row)) == pytest.approx(1)


def test_reasons_in_the_columns_own_units(detector, odd):
    explanation = detector.explain(odd)
    huge = explanation.reasons(1)[0]
    assert (huge.column, huge.value) == ("amount", "9,300")
    low, high = map(float, huge.usual.split(" to "))
    assert 15 < low < 35
    assert 90 < high < 160
    assert huge.share > 0.5
    unknown = explanation.reasons(2)[0]
    assert (unknown.column, unknown.value, unknown.usual) == ("plan", "gold", "basic, plus")
    assert explanation.reasons(0, at_most=2) == explanation.reasons(0)[:2]
    by_column = {reason.column: reason for reason in explanation.reasons(0)}
    assert by_column["paid"].usual == "true"
    assert by_column["items"].usual == "1 to 8"
    assert by_column["when"].value == "month September"


def test_a_row_out_of_range_is_named(detector, odd):
    explanation = detector.explain(odd)
    for method in (explanation.text, explanation.reasons, explanation.transport_text):
        with pytest.raises(IndexError, match="row 5 is out of range: 3 rows were explained"):
            method(5)


def test_a_readable_text(detector, odd):
    explanation = detector.explain(odd)
    text = explanation.text(1)
    assert text.startswith("Row 1: score ")
    assert "at most 0.826 % of normal rows score as high (p-value 0.0083)" in text
    assert "from IsolationForest, which gives 0." in text
    assert "amount  9,300  (usual: " in text
    assert "times what is usual there" in text
    assert "The nearest of the training references, " in text
    assert repr(explanation) == "Explanation of 3 rows"
    assert str(explanation) == "\n\n".join(explanation.text(row) for row in range(3))
    assert "... and 595 more rows" in str(detector.explain(orders(600)))


@pytest.mark.parametrize(
    ("library", "frame"),
    [(pd.DataFrame, pd.DataFrame), (pl.from_pandas, pl.DataFrame), (pa.table, pa.Table)],
)
def test_a_data_frame_of_the_same_library(detector, odd, library, frame):
    explanation = detector.explain(
        library(odd) if library is not pa.table else pa.Table.from_pandas(odd)
    )
    table, moves = explanation.to_frame(), explanation.moves_to_frame()
    assert isinstance(table, frame)
    assert isinstance(moves, frame)
    data = table.to_pydict() if frame is pa.Table else table.to_dict(**_as_lists(frame))
    assert data["reason"][1:] == ["amount", "plan"]
    np.testing.assert_array_equal(data["score"], explanation.score)
    np.testing.assert_array_equal(data["part of plan"], explanation.column_parts[:, 2])
    assert len(table) == 3
    if frame is pd.DataFrame:
        assert explanation.text(-1) == explanation.text(2)
        moved = detector.explain(odd.set_index(np.array([55, 66, 77])))
        assert moved.to_frame().index.tolist() == [55, 66, 77]
        assert moved.text(1).startswith("Row 66: ")
    assert len(moves) == 3 * len(detector.calibrator_.draws_)


def _as_lists(frame):
    return {"as_series": False} if frame is pl.DataFrame else {"orient": "list"}


def test_rows_of_arrays_have_numbered_columns():
    random = np.random.default_rng(0)
    detector = CalibratedDetector(KNN(), random_state=0).fit(random.normal(size=(300, 3)))
    explanation = detector.explain([[0.0, 0.0, -7.0]])
    assert explanation.columns == ("column 0", "column 1", "column 2")
    [reason] = explanation.reasons(0, at_most=1)
    assert (reason.column, reason.value) == ("column 2", "-7")
    assert explanation.p_value is None
    assert "p-value" not in explanation.text(0)
    assert isinstance(explanation.to_frame(), pd.DataFrame)


def test_the_aspect_of_a_date_that_sets_a_row_apart():
    random = np.random.default_rng(0)
    days = pd.Timestamp("2026-01-05") + pd.to_timedelta(random.integers(0, 50, 900) * 7, "D")
    mondays = days + pd.to_timedelta(random.normal(12, 1, 900), "h")
    table = pd.DataFrame({"when": mondays, "x": random.normal(size=900)})
    detector = CalibratedDetector(KNN(), random_state=0).fit(table)
    new = table.head(2).copy()
    new.loc[0, "when"] = pd.Timestamp("2026-03-02 03:10")  # a Monday, at night
    new.loc[1, "when"] = pd.Timestamp("2026-03-05 12:00")  # a Thursday
    night, thursday = (detector.explain(new).reasons(row)[0] for row in range(2))
    assert (night.column, night.value) == ("when", "time of day 03:10")
    assert night.usual.startswith("10:")
    assert (thursday.value, thursday.usual) == ("day of the week Thursday", "Monday")


def test_as_many_digits_as_values_need_to_differ():
    random = np.random.default_rng(0)
    table = pd.DataFrame({"pa": 101325 + 0.02 * random.normal(size=500), "x": random.random(500)})
    detector = CalibratedDetector(KNN(), random_state=0).fit(table)
    reason = detector.explain(table.head(1).assign(pa=101325.4)).reasons(0)[0]
    assert (reason.column, reason.value) == ("pa", "101,325.4000")
    assert reason.usual == "101,324.9703 to 101,325.0317"


def test_the_text_has_the_part_of_the_references():
    random = np.random.default_rng(0)
    detector = CalibratedDetector(KNN(), CTAD(), random_state=0)
    explanation = detector.fit(random.normal(size=(300, 3))).explain([[0.0, 0.0, 5.0]])
    own = explanation.column_parts[0].sum()
    said = f"{own:.4g} for the row itself, {explanation.references_part[0]:.4g} for the references"
    assert said in explanation.text(0)


def test_the_text_says_how_mass_is_split():
    random = np.random.default_rng(0)
    detector = CalibratedDetector(KNN(), CTAD(), random_state=0)
    explanation = detector.fit(random.normal(size=(300, 3))).explain(random.normal(size=(20, 3)))
    split = explanation.moves.row[explanation.moves.share < 1]
    assert len(split)
    assert "% of its mass goes to centroid" in explanation.text(int(split[0]))


def test_a_row_at_a_centroid_has_no_reasons():
    detector = CalibratedDetector(KNN(), CTAD(1, 1, target="free", random_state=0))
    explanation = detector.fit([[0.0, 0.0], [0.0, 2.0]] * 5).explain([[0.0, 1.0]])
    assert "sets it apart" not in explanation.text(0)
    assert [reason.share for reason in explanation.reasons(0)] == [0.0, 0.0]


def test_missing_values_and_dates_in_words(detector, odd):
    new = odd.assign(amount=np.nan, when=pd.Timestamp("2031-12-24 18:30"))
    words = {reason.column: reason.value for reason in detector.explain(new).reasons(0)}
    assert words["amount"] == "missing"
    assert words["when"] == "2031-12-24 18:30"


def test_a_loaded_model_explains_the_same(detector, odd, tmp_path):
    detector.save(tmp_path / "model.ctad")
    assert str(load(tmp_path / "model.ctad").explain(odd)) == str(detector.explain(odd))
