"""Neural detectors on unusual tables: finite scores, or an error that says what to do."""

import numpy as np
import pandas as pd
import pytest

from ctad.detectors import make
from ctad.errors import InputError

from ..data import normal
from .small import SMALL, small

SCALINGS = ["standard", "minmax", "none"]
MIN_COLUMNS = {"ICL": 3, "NeuTraLAD": 2}
GROWS_WITH_DISTANCE = ("MCM", "DRL", "GOAD")


def with_column(values, column):
    table = normal(60, 3)
    table[:, column] = values
    return table


TABLES = {
    **{f"{d} columns": normal(60, d) for d in (1, 2, 45)},
    # The batch size is 32: the last batch of 33 rows has one row.
    **{f"{n} rows": normal(n, 3) for n in (2, 32, 33)},
    "constant column": with_column(7.0, 1),
    "all columns constant": np.full((60, 3), 7.0),
    "zeros": np.zeros((60, 3)),
    "two distinct rows": np.repeat([[0.0, 1.0, 2.0], [1.0, 1.0, 0.0]], 30, axis=0),
    "large numbers": normal(60, 3) * 1e6,
    "one large column": with_column(normal(60) * 1e6, 2),
    "large numbers with small differences": normal(60, 3) + 1e6,
    "small numbers": normal(60, 3) * 1e-6,
}
# Pairwise: each table with each detector, each of them with each scaling.
PAIRWISE = [
    (table, SCALINGS[(i + j) % 3], name)
    for i, table in enumerate(TABLES)
    for j, name in enumerate(SMALL)
]


def test_the_cases_cover_all_pairs():
    assert {(t, s) for t, s, _ in PAIRWISE} == {(t, s) for t in TABLES for s in SCALINGS}
    assert {(t, n) for t, _, n in PAIRWISE} == {(t, n) for t in TABLES for n in SMALL}
    assert {(s, n) for _, s, n in PAIRWISE} == {(s, n) for s in SCALINGS for n in SMALL}


@pytest.mark.parametrize(("table", "scaling", "name"), PAIRWISE)
def test_scores_are_finite(table, scaling, name):
    rows = TABLES[table]
    detector = small(name, scaling=scaling, batch_size=32)
    if rows.shape[1] < MIN_COLUMNS.get(name, 1):
        with pytest.raises(InputError, match=f"{name} needs at least (two|three) columns"):
            detector.fit(rows)
        return
    detector.fit(rows)
    assert np.isfinite(detector.decision_scores_).all()
    assert np.isfinite(detector.decision_function(rows + 1)).all()
    assert np.isfinite(detector.predict_proba(rows)).all()


@pytest.mark.parametrize("epochs", [1, 2], ids=["found at the end", "found while training"])
@pytest.mark.parametrize("name", SMALL)
def test_diverged_training_is_an_error_with_advice(epochs, name):
    detector = small(name, learning_rate=1e30, epochs=epochs)
    message = rf"training of {name} failed: .* column 'b': try a learning_rate below 1e\+30"
    with pytest.raises(InputError, match=message):
        detector.fit(pd.DataFrame(with_column(normal(60) * 10, 1), columns=["a", "b", "c"]))


@pytest.mark.parametrize("size", [1e30, 1e300])
@pytest.mark.parametrize("name", SMALL)
def test_training_rows_beyond_single_precision_need_scaling(size, name):
    detector, table = small(name, scaling="none"), with_column(normal(60) * size, 1)
    if name == "DTE" and size == 1e30:  # it squares nothing
        assert np.isfinite(detector.fit(table).decision_scores_).all()
        return
    advice = f"use scaling='{make(name).scaling}', or"
    message = rf"training of {name} failed: .* column 1 \(from 0\): {advice}"
    with pytest.raises(InputError, match=message):
        detector.fit(table)


@pytest.mark.parametrize("scaling", ["standard", "minmax"])
def test_numbers_too_large_for_scaling_are_refused(scaling):
    table = with_column(np.repeat([-1.7e308, 1.7e308], 30), 1)
    with pytest.raises(InputError, match=r"too large to be scaled.* 1.7e\+308, in column 1"):
        small("DRL", scaling=scaling).fit(table)


@pytest.mark.parametrize(
    ("name", "scaling"),
    [*((name, make(name).scaling) for name in SMALL), ("DRL", "minmax"), ("DRL", "none")],
)
def test_new_rows_beyond_single_precision_score_infinity(name, scaling):
    table = normal(60, 3) * 1e-3  # scaling makes far rows even larger
    detector = small(name, scaling=scaling).fit(table)
    rows = np.vstack([table[:2], [[1e300, 0, 0], [-1e300, 1e300, -1e300], [1e308, 0, -1e308]]])
    scores = detector.decision_function(rows)
    np.testing.assert_array_equal(scores, [*detector.decision_scores_[:2], np.inf, np.inf, np.inf])
    assert list(detector.predict(rows[2:])) == [1, 1, 1]
    np.testing.assert_array_equal(detector.predict_proba(rows[2:])[:, 1], 1.0)


@pytest.mark.parametrize("name", SMALL)
def test_far_rows_have_large_scores_if_scores_grow_with_distance(name):
    """Scores from angles and probabilities are bounded instead: they stay finite."""
    table = normal(60, 3)
    detector = small(name).fit(table)
    for size in (1e4, 1e8, 1e12):
        scores = detector.decision_function(table * size)
        if name in GROWS_WITH_DISTANCE:
            assert (scores > detector.decision_scores_).all()
        else:
            assert np.isfinite(scores).all()
