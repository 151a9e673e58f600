"""Bad input to calibrators and to CalibratedDetector."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.ensemble import IsolationForest
from sklearn.exceptions import NotFittedError

from ctad import CTAD, CalibratedDetector, RelaxedCTAD, detectors
from ctad.calibration import CentroidDistance, MahalanobisDistance
from ctad.errors import InputError
from ctad.transport import RowTransport

from .data import clusters

GOOD = clusters(60, 3)


def changed(value, row=7, column=1):
    table = GOOD.copy()
    table[row, column] = value
    return table


def frame(**columns):
    return pd.DataFrame(GOOD, columns=list("abc")).assign(**columns)


FOREST = IsolationForest(n_estimators=5, random_state=0)
ESTIMATORS = {
    "CTAD": CTAD(random_state=0),
    "CalibratedDetector": CalibratedDetector(FOREST, CTAD(), random_state=0),
}


@pytest.fixture(params=ESTIMATORS)
def estimator(request):
    return clone(ESTIMATORS[request.param])


@pytest.fixture(params=ESTIMATORS, scope="module")
def fitted(request):
    return clone(ESTIMATORS[request.param]).fit(GOOD)


def score(estimator, X):
    method = estimator.delta if isinstance(estimator, CTAD) else estimator.anomaly_score
    return method(X)


# description: (table, error, message)
BAD_TABLES = {
    "NaN": (changed(np.nan), ValueError, "contains NaN: column 1, row 7"),
    "infinity": (changed(-np.inf), ValueError, "contains infinity: column 1, row 7"),
    "NaN in a frame": (frame(b=np.nan), ValueError, r"column 'b', row 0 \(60 of 60 rows"),
    "empty": (np.empty((0, 3)), ValueError, "0 sample"),
    "no columns": (np.empty((60, 0)), ValueError, "0 feature"),
    "1-D": (GOOD[:, 0], ValueError, "Expected 2D array, got 1D array"),
    "3-D": (GOOD[None], ValueError, "dim 3|3 dim"),
    "a number": (3.0, ValueError, "Expected 2D array"),
    "text": (np.full((60, 3), "x"), ValueError, "not numeric"),
    "text in a frame": (frame(b="x"), ValueError, "Column 'b' is not numeric"),
    "dates in a frame": (
        frame(b=pd.Timestamp("2020-01-01")),
        ValueError,
        "Column 'b' is not numeric",
    ),
    "text in polars": (
        pl.DataFrame({"a": ["x"] * 60, "b": GOOD[:, 0], "c": GOOD[:, 1]}),
        ValueError,
        "Column 'a' is not numeric",
    ),
    "ragged": ([[1.0, 2.0, 3.0], [1.0, 2.0]], ValueError, "inhomogeneous"),
    "complex": (GOOD + 1j, ValueError, "Complex data not supported"),
    "objects": (np.full((60, 3), {}, dtype=object), TypeError, "must be a string or a real number"),
    "sparse": (csr_array(GOOD), TypeError, "Sparse data was passed"),
    "integers beyond 2**53": (
        np.full((60, 3), 2**53 + 1),
        ValueError,
        "integers up to 9007199254740993",
    ),
    "negative integers beyond 2**53": (np.full((60, 3), -(2**60)), ValueError, "beyond 2..53"),
    "a list of large integers": ([[2**60, 1, 2]] * 60, ValueError, "Input X has integers up to"),
    "large integers as objects": (
        np.full((60, 3), 2**70, dtype=object),
        ValueError,
        "integers up to 1180591620717411303424",
    ),
    "large numpy integers as objects": (
        np.array([[np.int64(2**60)] * 3] * 60, dtype=object),
        ValueError,
        "integers up to",
    ),
    "a lazy frame": (pl.LazyFrame({"a": [1.0] * 60}), TypeError, r"call its collect\(\) first"),
    "dates": (np.full((60, 3), np.datetime64("2020-01-01")), ValueError, "not numeric"),
    "durations": (np.full((60, 3), np.timedelta64(1, "s")), ValueError, "not numeric"),
    "bytes": (np.full((60, 3), b"1"), ValueError, "not numeric"),
    "masked": (np.ma.masked_greater(GOOD, 1.0), ValueError, "masked values"),
    "two columns of one name": (
        pd.DataFrame(GOOD, columns=["a", "b", "b"]),
        ValueError,
        "two columns are called 'b'",
    ),
    "an identifier in a frame": (frame(b=2**60 + 1), ValueError, "Column 'b' has integers up to"),
}


# Constant columns, which a detector that encodes tables does not use.
ENCODED = {name for name in BAD_TABLES if "in a frame" in name or "in polars" in name}


# Tables with a bad column, which calibrators and networks name, whatever the library.
BAD_COLUMNS = {
    "NaN": ([np.nan] * 60, r"contains NaN: column 'b', row 0 \(60 of 60 rows"),
    "text": (["x"] * 60, "Column 'b' is not numeric"),
    "an identifier": ([2**60 + 1] * 60, "Column 'b' has integers up to"),
}


@pytest.mark.parametrize("what", BAD_COLUMNS)
@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
@pytest.mark.parametrize("make", [CTAD, lambda: detectors.make("DRL", epochs=1)])
def test_bad_columns_are_named_in_tables_of_every_library(make, library, what):
    values, message = BAD_COLUMNS[what]
    table = library({"a": GOOD[:, 0], "b": values})
    with pytest.raises(InputError, match=message):
        make().fit(table)


def test_bad_columns_of_new_rows_are_named_in_arrow_tables():
    calibrator = CTAD().fit(pa.table({"a": GOOD[:, 0], "b": GOOD[:, 1]}))
    for values, message in BAD_COLUMNS.values():
        with pytest.raises(InputError, match=message):
            calibrator.delta(pa.table({"a": GOOD[:, 0], "b": values}))


def test_two_columns_of_one_name_in_an_arrow_table():
    table = pa.Table.from_arrays([pa.array(GOOD[:, 0])] * 2, ["a", "a"])
    with pytest.raises(InputError, match="two columns are called 'a'"):
        CTAD().fit(table)


@pytest.mark.parametrize("what", BAD_TABLES)
def test_bad_tables_are_refused_in_training(estimator, what):
    table, error, message = BAD_TABLES[what]
    if what in ENCODED and isinstance(estimator, CalibratedDetector):
        with pytest.warns(UserWarning, match="not used: .[ab]. .(empty|constant|integers beyond)"):
            estimator.fit(table)
        return
    with pytest.raises(error, match=message):
        estimator.fit(table)


@pytest.mark.filterwarnings("ignore:X has feature names")
@pytest.mark.parametrize("what", BAD_TABLES)
def test_bad_tables_are_refused_in_scoring(fitted, what):
    table, error, message = BAD_TABLES[what]
    with pytest.raises(error, match=message):
        score(fitted, table)


def test_values_whose_distances_would_overflow_are_refused():
    with pytest.raises(ValueError, match=r"reach 1e\+200, too large to be squared"):
        CTAD().fit(changed(1e200))
    calibrator = CTAD().fit(GOOD)
    with pytest.raises(ValueError, match=r"row 7: .* too large to be squared"):
        calibrator.delta(changed(1e200))
    with pytest.raises(ValueError, match="too little: rescale X"):
        CTAD().fit(GOOD * 1e-160)
    with pytest.raises(ValueError, match="too large to be squared"):
        CTAD(feature_scaling="standard").fit(GOOD * 1e200)
    with pytest.raises(ValueError, match="too large to be squared"):
        MahalanobisDistance().fit(GOOD * 1e149)


def test_errors_of_the_transport_itself_are_not_input_errors(monkeypatch):
    def fail(*_, **__):
        raise ValueError("a bug")

    calibrator = CTAD().fit(GOOD)
    monkeypatch.setattr(RowTransport, "solve_points", fail)
    with pytest.raises(ValueError, match="a bug") as caught:
        calibrator.delta(GOOD)
    assert not isinstance(caught.value, InputError)


@pytest.mark.parametrize(
    "estimator", [CentroidDistance, lambda **options: CalibratedDetector(FOREST, **options)]
)
def test_random_state_is_checked(estimator):
    with pytest.raises(InputError, match=r"random_state must be an integer .*, not 'x'"):
        estimator(random_state="x").fit(GOOD)


def test_one_training_row_is_too_few(estimator):
    with pytest.raises(ValueError, match=r"1 sample.* minimum of 2 is required"):
        estimator.fit(GOOD[:1])


@pytest.mark.parametrize("columns", [1, 2, 4])
def test_another_number_of_columns_is_refused(fitted, columns):
    with pytest.raises(ValueError, match=f"X has {columns} features.* expecting 3"):
        score(fitted, np.ones((5, columns)))


@pytest.mark.parametrize(
    "columns", [["a", "b", "x"], ["b", "a", "c"]], ids=["renamed", "reordered"]
)
def test_other_column_names_are_refused(columns):
    calibrator = CTAD().fit(frame())
    with pytest.raises(ValueError, match="feature names should match"):
        calibrator.delta(frame().set_axis(columns, axis=1))


def test_estimators_must_be_fitted(estimator):
    with pytest.raises(NotFittedError):
        score(estimator, GOOD)
    with pytest.raises(NotFittedError):
        CTAD().calibrate(np.ones(60), GOOD)
    with pytest.raises(NotFittedError):
        CalibratedDetector(IsolationForest()).base_score(GOOD)


# description: table that is unusual but valid
GOOD_TABLES = {
    "one column": GOOD[:, :1],
    "two rows": GOOD[:2],
    "objects that are numbers": GOOD.astype(object),
    "integers": (GOOD * 10).astype(np.int64),
    "booleans": GOOD > 0,
    "float16": GOOD.astype(np.float16),
    "a list": GOOD.tolist(),
    "a constant column": changed(1.0, slice(None)),
    "all rows equal": np.ones((60, 3)),
    "nullable columns": frame(b=pd.array([1, 2, 2] * 20, dtype="Int64")),
}


@pytest.mark.parametrize("what", GOOD_TABLES)
def test_unusual_tables_are_scored(what):
    table = GOOD_TABLES[what]
    calibrators = [
        CTAD(),
        CTAD(target="sizes", score_scaling="standard"),
        CTAD(target="free", score_scaling="robust", feature_scaling="standard"),
        RelaxedCTAD(n_draws=2),
        RelaxedCTAD(training="normal"),
    ]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "only 2 training rows")
        for calibrator in calibrators:
            detector = CalibratedDetector(FOREST, calibrator, random_state=0).fit(table)
            assert np.isfinite(detector.anomaly_score(table)).all()


def test_if_all_training_rows_are_equal_the_term_is_the_distance():
    calibrator = CTAD(random_state=0).fit(np.ones((60, 3)))
    delta = calibrator.delta([[1.0, 1.0, 1.0], [1.0, 1.0, 22.0]])
    np.testing.assert_allclose(delta, [0.0, 1.0], atol=1e-12)


# parameter, value, error
BAD_PARAMETERS = [
    ("weight", -1.0, ValueError),
    ("weight", np.nan, ValueError),
    ("weight", np.inf, ValueError),
    ("weight", "much", TypeError),
    ("n_centroids", 0, ValueError),
    ("n_centroids", 2.5, TypeError),
    ("n_centroids", True, TypeError),
    ("n_centroids", "lots", TypeError),
    ("n_centroids", None, TypeError),
    ("n_centroids", np.array([1, 2]), TypeError),
    ("n_references", 0, ValueError),
    ("n_references", "auto", TypeError),
    ("n_draws", 0, ValueError),
    ("n_draws", "many", TypeError),
    ("target", "equal", ValueError),
    ("target", np.array([1, 2]), ValueError),
    ("n_jobs", 0, ValueError),
    ("n_jobs", "2", TypeError),
    ("signal", "mine", ValueError),
    ("score_scaling", None, ValueError),
    ("score_scaling", np.array([1, 2]), ValueError),
    ("feature_scaling", "none", ValueError),
    ("feature_scaling", (None, "none"), ValueError),
    ("feature_scaling", (), ValueError),
    ("feature_scaling", ("auto",), ValueError),
    ("random_state", "seed", InputError),
    ("random_state", -1, InputError),
]


@pytest.mark.parametrize(("name", "value", "error"), BAD_PARAMETERS)
def test_bad_parameters_are_refused_by_name(name, value, error):
    with pytest.raises(error, match=f"{name} must be"):
        CTAD(**{name: value}).fit(GOOD)


BAD_PARAMETERS_OF_RELAXED_CTAD = [
    ("training", "clean", ValueError),
    ("training", None, ValueError),
    ("training", np.array(["mixed", "normal"]), ValueError),
    ("mass_share", 0.0, ValueError),
    ("mass_share", 1.0, ValueError),
    ("mass_share", np.nan, ValueError),
    ("mass_share", "all", ValueError),
    ("trimmed", 1.0, ValueError),
    ("trimmed", -0.1, ValueError),
    ("trimmed", np.nan, ValueError),
    ("trimmed", None, ValueError),
    ("trimmed", np.array([0.1, 0.2]), ValueError),
    ("rows_per_centroid", 0, ValueError),
    ("rows_per_centroid", 2.5, TypeError),
    ("n_draws", 0, ValueError),
    ("n_jobs", 0, ValueError),
]


@pytest.mark.parametrize(("name", "value", "error"), BAD_PARAMETERS_OF_RELAXED_CTAD)
def test_bad_parameters_of_relaxed_ctad_are_refused_by_name(name, value, error):
    with pytest.raises(error, match=f"{name} must be"):
        RelaxedCTAD(**{name: value}).fit(GOOD)


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"polarity": "up"}, ValueError, "polarity must be one of 'auto', 'higher', 'lower'"),
        ({"calibrator": "paper"}, TypeError, "a calibrator needs"),
        ({"calibrator": CTAD}, TypeError, r"pass an object: CTAD\(\)"),
        ({"detector": IsolationForest}, TypeError, r"pass an object: IsolationForest\(\)"),
        ({"contamination": np.nan}, ValueError, r"contamination must be in \(0, 0.5\]"),
        ({"contamination": "auto"}, ValueError, r"contamination must be in \(0, 0.5\]"),
    ],
)
def test_bad_parameters_of_the_detector_are_refused(parameters, error, message):
    with pytest.raises(error, match=message):
        CalibratedDetector(**{"detector": IsolationForest(), **parameters}).fit(GOOD)


# description: (scores of the 60 rows, message)
BAD_SCORES = {
    "too few": (np.ones(59), "inconsistent numbers of samples"),
    "too many": (np.ones(61), "inconsistent numbers of samples"),
    "two per row": (np.ones((60, 2)), "one number per row"),
    "a number": (1.0, "one number per row"),
    "NaN": (np.r_[np.ones(59), np.nan], "1 of 60 are NaN, the first at row 59"),
    "masked": (np.ma.masked_less(np.arange(60.0), 3), "masked values"),
    "text": (np.full(60, "high"), "could not convert string to float"),
}


@pytest.mark.parametrize("what", BAD_SCORES)
def test_bad_scores_are_refused(what):
    scores, message = BAD_SCORES[what]
    with pytest.raises((TypeError, ValueError), match=message):
        CTAD(score_scaling="standard").fit(GOOD, scores=scores)
    calibrator = CTAD().fit(GOOD)
    with pytest.raises((TypeError, ValueError), match=message):
        calibrator.calibrate(scores, GOOD)


@pytest.mark.parametrize(
    ("scaling", "infinity"),
    [("none", np.inf), ("unit", -np.inf), ("standard", np.inf), ("robust", -np.inf)],
)
def test_infinite_scores_stay_infinite_and_do_not_change_other_rows(scaling, infinity):
    calibrator = CTAD(score_scaling=scaling, random_state=0).fit(GOOD, scores=GOOD[:, 0])
    scores = GOOD[:, 0].copy()
    before = calibrator.calibrate(scores, GOOD)
    scores[5] = infinity
    after = calibrator.calibrate(scores, GOOD)
    assert after[5] == infinity
    np.testing.assert_array_equal(np.delete(after, 5), np.delete(before, 5))


def test_scores_too_large_to_be_scaled():
    with pytest.raises(ValueError, match="too large to be scaled"):
        CTAD(score_scaling="standard").fit(GOOD, scores=np.repeat([-1e308, 1e308], 30))
