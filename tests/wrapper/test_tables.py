"""CalibratedDetector on tables with text, dates and missing values."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyod.models.iforest import IForest
from pyod.models.knn import KNN
from sklearn.base import BaseEstimator, clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import IsolationForest
from sklearn.frozen import FrozenEstimator
from sklearn.neighbors import LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from ctad import CTAD, CalibratedDetector
from ctad.tables import TableEncoder

from ..tables.frames import LIBRARIES

FOREST = IsolationForest(n_estimators=20, random_state=0)
RANDOM = np.random.default_rng(0)
HEIGHT = RANDOM.normal(170, 8, 400)
PEOPLE = pa.table(
    {
        "height": np.where(np.arange(400) % 40 == 0, np.nan, HEIGHT),
        "weight": HEIGHT - 100 + RANDOM.normal(0, 5, 400),
        "smoker": RANDOM.random(400) < 0.3,
        "job": RANDOM.choice(["nurse", "smith", "clerk"], 400),
        "hired": np.datetime64("2020-01-01T09:00", "us")
        + RANDOM.integers(0, 1500, 400) * np.timedelta64(1, "D"),
    }
)
STRANGER = pa.table(
    {
        "height": [150.0],
        "weight": [130.0],
        "smoker": [True],
        "job": ["astronaut"],
        "hired": [np.datetime64("2029-01-01T03:00", "us")],
    }
)


@pytest.fixture(scope="module")
def on_arrow():
    return CalibratedDetector(FOREST, random_state=0).fit(PEOPLE)


@pytest.mark.parametrize("library", LIBRARIES)
def test_scores_are_the_same_in_every_library(library, on_arrow):
    make = LIBRARIES[library]
    detector = CalibratedDetector(FOREST, random_state=0).fit(make(PEOPLE))
    assert detector.anomaly_score(make(STRANGER)) > np.quantile(detector.decision_scores_, 0.99)
    assert detector.predict(STRANGER).tolist() == [1]
    np.testing.assert_array_equal(detector.anomaly_score(PEOPLE), on_arrow.anomaly_score(PEOPLE))


@pytest.mark.parametrize("detector", [IForest(20), KNN(), LocalOutlierFactor(novelty=True)])
def test_a_stranger_is_an_anomaly(detector):
    fitted = CalibratedDetector(detector, random_state=0).fit(PEOPLE)
    assert fitted.anomaly_score(STRANGER) > np.quantile(fitted.decision_scores_, 0.99)
    assert fitted.predict(STRANGER).tolist() == [1]


def test_detector_and_calibrator_get_the_same_features():
    detector = CalibratedDetector(FOREST, CTAD(), random_state=0).fit(PEOPLE)
    numbers = detector.encoder_.transform(PEOPLE)
    assert detector.detector_.n_features_in_ == numbers.shape[1]
    scored = detector.score_parts(PEOPLE)
    np.testing.assert_array_equal(-detector.detector_.score_samples(numbers), scored.base_score)
    np.testing.assert_array_equal(detector.calibrator_.delta(numbers), scored.delta)
    np.testing.assert_array_equal(
        detector.calibrator_.calibrate(scored.base_score, numbers), scored.score
    )
    assert list(detector.feature_names_in_) == PEOPLE.column_names
    assert {feature.source for feature in detector.encoder_.features_} == set(PEOPLE.column_names)


def test_scores_do_not_depend_on_the_batch(on_arrow):
    together = on_arrow.anomaly_score(PEOPLE[:50])
    alone = [on_arrow.anomaly_score(PEOPLE[i : i + 1])[0] for i in range(0, 50, 3)]
    np.testing.assert_array_equal(alone, together[::3])


def test_an_encoder_can_be_passed():
    detector = CalibratedDetector(
        FOREST, CTAD(), encoder=TableEncoder(ignore=["job", "hired"]), random_state=0
    )
    detector.fit(PEOPLE)
    assert set(detector.encoder_.get_feature_names_out()) == {
        *("height", "height is missing", "weight", "smoker")
    }
    assert clone(detector).set_params(encoder__scaling=None).encoder.scaling is None
    np.testing.assert_array_equal(
        detector.anomaly_score(PEOPLE.drop_columns(["job", "hired"])),
        detector.anomaly_score(PEOPLE),
    )


READS_TABLES = make_pipeline(
    make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), ["job"]),
        (StandardScaler(), ["weight"]),
    ),
    IsolationForest(n_estimators=10, random_state=0),
)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_pipeline_that_reads_tables_gets_the_table(library):
    people = LIBRARIES[library](PEOPLE)
    by_itself = clone(READS_TABLES).fit(people)
    for pipeline in (READS_TABLES, by_itself, FrozenEstimator(by_itself)):
        detector = CalibratedDetector(pipeline, CTAD(), random_state=0).fit(people)
        expected = -by_itself.score_samples(people)
        np.testing.assert_array_equal(detector.base_score(people), expected)
        # Also from another library, in another order and with more columns.
        other = PEOPLE.select(PEOPLE.column_names[::-1]).append_column("extra", [[0] * 400])
        np.testing.assert_array_equal(detector.base_score(other), expected)


def test_a_pipeline_of_steps_for_numbers_gets_numbers():
    detector = CalibratedDetector(make_pipeline(StandardScaler(), IForest(20)), random_state=0)
    assert detector.fit(PEOPLE).predict(STRANGER).tolist() == [1]


def test_a_pipeline_may_begin_with_the_encoder():
    pipeline = make_pipeline(TableEncoder(ignore=["hired"]), FOREST)
    detector = CalibratedDetector(pipeline, random_state=0).fit(PEOPLE)
    assert "hired" in detector.encoder_.feature_names_in_
    assert detector.predict(STRANGER).tolist() == [1]


def test_functions_get_the_table():
    def overweight(table):
        return np.asarray(table["weight"]) - np.nan_to_num(np.asarray(table["height"]), nan=170.0)

    detector = CalibratedDetector(overweight, CTAD(), polarity="higher").fit(PEOPLE.to_pandas())
    expected = overweight(PEOPLE.to_pandas())
    np.testing.assert_array_equal(detector.base_score(PEOPLE.to_pandas()), expected)
    np.testing.assert_array_equal(detector.base_score(PEOPLE), expected)


class ByPlace(BaseEstimator):
    """A detector that takes columns by their place."""

    def fit(self, X, y=None):
        self.mean_ = X.to_numpy().mean(axis=0)
        return self

    def decision_function(self, X):
        return abs(X.to_numpy() - self.mean_) @ np.arange(1.0, X.shape[1] + 1)


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize(
    "detector",
    [
        lambda table: table.to_numpy()[:, 0],
        ByPlace(),
        make_pipeline(FunctionTransformer(lambda table: table.to_numpy()), IForest(5)),
    ],
)
def test_columns_come_in_the_order_of_training(detector, library):
    people = PEOPLE.select(["weight", "height"]).drop_null()
    people = people.filter(pc.is_finite(people["height"]))
    polarity = "auto" if hasattr(detector, "steps") else "higher"
    made = CalibratedDetector(detector, CTAD(), polarity=polarity, random_state=0)
    made.fit(LIBRARIES[library](people))
    expected = made.anomaly_score(LIBRARIES[library](people))
    other = people.select(["height", "weight"]).add_column(0, "extra", [[0.5] * len(people)])
    np.testing.assert_array_equal(made.anomaly_score(LIBRARIES[library](other)), expected)


def test_a_detector_fitted_before_on_an_array_gets_the_plain_numbers():
    """Also of columns that the encoder does not use."""
    table = PEOPLE.select(["weight"]).append_column("one", [[1.0] * 400])
    frozen = FrozenEstimator(clone(FOREST).fit(table.to_pandas().to_numpy()))
    with pytest.warns(UserWarning, match="not used: 'one'"):
        detector = CalibratedDetector(frozen, CTAD(), random_state=0).fit(table)
    expected = -frozen.estimator.score_samples(table.to_pandas().to_numpy())
    np.testing.assert_array_equal(detector.base_score(table), expected)
    with pytest.raises(ValueError, match="'job' is of type string, but a detector"):
        CalibratedDetector(frozen).fit(PEOPLE.select(["weight", "job"]))


def test_detectors_in_detectors():
    inner = CalibratedDetector(FOREST, random_state=0)
    detector = CalibratedDetector(inner, random_state=0).fit(PEOPLE)
    assert detector.predict(STRANGER).tolist() == [1]
    assert detector.detector_.encoder_ is not None


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:only 3 training rows")
def test_very_many_columns():
    """Without work that grows with the square of their number, which would be minutes here."""
    rows = np.random.default_rng(0).normal(size=(3, 10_000))
    frame = pd.DataFrame(rows, columns=[f"x{i}" for i in range(rows.shape[1])])
    for X in (rows, frame, pa.Table.from_pandas(frame)):
        detector = CalibratedDetector(IsolationForest(n_estimators=5), random_state=0).fit(X)
        explanation = detector.explain(X)
        np.testing.assert_array_equal(explanation.score, detector.anomaly_score(X))
        assert len(explanation.text(0).splitlines()) < 20
