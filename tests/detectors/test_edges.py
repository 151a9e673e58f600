"""Neural detectors on unusual tables: a finite score, or an error that says what to do."""

import numpy as np
import pandas as pd
import pytest

from ctad.detectors import make

from ..data import normal
from .small import SMALL, small

pytestmark = pytest.mark.parametrize("name", SMALL)


def changed(values, column):
    table = normal(60, 3)
    table[:, column] = values
    return table


NEEDED = {"ICL": 3, "NeuTraLAD": 2}  # columns

# what is unusual: table
UNUSUAL = {
    **{f"{d} columns": normal(60, d) for d in (1, 2, 3, 45)},
    **{f"{n} rows": normal(n, 3) for n in (2, 10, 511, 512, 513)},
    "a constant column": changed(7.0, 1),
    "constant columns": np.full((60, 3), 7.0),
    "nothing but zeros": np.zeros((60, 3)),
    "two kinds of rows": np.repeat([[0.0, 1.0, 2.0], [1.0, 1.0, 0.0]], 30, axis=0),
    "large numbers": normal(60, 3) * 1e6,
    "a large column": changed(normal(60) * 1e6, 2),
    "large numbers, little difference": normal(60, 3) + 1e6,
    "small numbers": normal(60, 3) * 1e-6,
}


@pytest.mark.parametrize("scaling", ["standard", "minmax", "none"])
@pytest.mark.parametrize("what", UNUSUAL)
def test_unusual_tables_are_learnt_and_scored(what, scaling, name):
    table = UNUSUAL[what]
    # 512 as others: the last batch of 513 rows has one
    detector = small(name, scaling=scaling, batch_size=512)
    if table.shape[1] < NEEDED.get(name, 1):
        with pytest.raises(ValueError, match=f"{name} needs (two|three) columns at least"):
            detector.fit(table)
        return
    detector.fit(table)
    assert np.isfinite(detector.decision_scores_).all()
    assert np.isfinite(detector.decision_function(table + 1)).all()
    assert np.isfinite(detector.predict_proba(table)).all()


@pytest.mark.parametrize(
    "options",
    [{"learning_rate": 1e30, "epochs": epochs} for epochs in (1, 2)],
    ids=["found at the end", "found while training"],
)
def test_what_cannot_be_learnt_is_told_with_the_way_out(options, name):
    detector = small(name, **options)
    message = rf"training of {name} failed: .* column 'b': try a learning_rate below 1e\+30"
    with pytest.raises(ValueError, match=message):
        detector.fit(pd.DataFrame(changed(normal(60) * 10, 1), columns=["a", "b", "c"]))


@pytest.mark.parametrize("size", [1e30, 1e300])
def test_numbers_beyond_single_precision_are_to_be_scaled(size, name):
    detector, table = small(name, scaling="none"), changed(normal(60) * size, 1)
    if name == "DTE" and size == 1e30:  # it squares nothing
        assert np.isfinite(detector.fit(table).decision_scores_).all()
        return
    advice = f"use scaling='{make(name).scaling}', or"
    message = rf"training of {name} failed: .* column 1 \(from 0\): {advice}"
    with pytest.raises(ValueError, match=message):
        detector.fit(table)


@pytest.mark.parametrize("scaling", ["standard", "minmax"])
def test_numbers_too_large_to_be_scaled_are_refused(scaling, name):
    table = changed(np.repeat([-1.7e308, 1.7e308], 30), 1)
    with pytest.raises(ValueError, match=r"too large to be scaled.* 1.7e\+308, in column 1"):
        small(name, scaling=scaling).fit(table)


@pytest.mark.parametrize("scaling", ["standard", "minmax", "none"])
def test_rows_beyond_single_precision_score_infinity(scaling, name):
    table = normal(60, 3) * 1e-3  # scaling makes far rows still larger
    detector = small(name, scaling=scaling).fit(table)
    rows = np.vstack([table[:2], [[1e300, 0, 0], [-1e300, 1e300, -1e300], [1e308, 0, -1e308]]])
    scores = detector.decision_function(rows)
    np.testing.assert_array_equal(scores, [*detector.decision_scores_[:2], np.inf, np.inf, np.inf])
    assert list(detector.predict(rows[2:])) == [1, 1, 1]
    np.testing.assert_array_equal(detector.predict_proba(rows[2:])[:, 1], 1.0)


@pytest.mark.parametrize("size", [1e4, 1e8, 1e12])
def test_far_rows_have_large_scores_where_scores_grow_with_distance(size, name):
    """Angles and chances have a limit instead: such scores stay finite."""
    table = normal(60, 3)
    detector = small(name).fit(table)
    scores = detector.decision_function(table * size)
    if name in ("MCM", "DRL", "GOAD"):
        assert (scores > detector.decision_scores_).all()
    else:
        assert np.isfinite(scores).all()
