"""The conventions of scikit-learn."""

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyod.models.iforest import IForest
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import IsolationForest
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.neighbors import LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from ctad import CTAD, CalibratedDetector, RelaxedCTAD
from ctad.calibration import CentroidDistance, MahalanobisDistance, NeighbourDistance, TransportOnly

from .data import clusters, normal

X_TRAIN = clusters()
NAMES = ["a", "b", "c", "d"]
FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "Arrow": pa.table}


# The checks fit on very few rows, which reduces K and M with a warning.
@pytest.mark.filterwarnings("ignore:only .* training rows")
# They pass targets that are not labels of anomalies.
@pytest.mark.filterwarnings("ignore:y was ignored")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(
    [
        CTAD(),
        RelaxedCTAD(),
        CentroidDistance(),
        MahalanobisDistance(),
        NeighbourDistance(),
        TransportOnly(),
        CalibratedDetector(IsolationForest(n_estimators=10)),
        CalibratedDetector(IForest(n_estimators=10), CTAD()),
    ]
)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def test_nested_parameters_can_be_read_set_and_cloned():
    detector = CalibratedDetector(IForest(), CTAD())
    detector.set_params(detector__n_estimators=7, calibrator__n_centroids=3, contamination=0.2)
    copy = clone(detector)
    parameters = copy.get_params()
    assert parameters["detector__n_estimators"] == 7
    assert parameters["calibrator__n_centroids"] == 3
    assert parameters["contamination"] == 0.2
    assert not hasattr(copy.fit(X_TRAIN).detector, "decision_scores_")


def test_as_the_last_step_of_a_pipeline():
    pipeline = make_pipeline(
        StandardScaler(), CalibratedDetector(IsolationForest(random_state=0), random_state=0)
    )
    pipeline.fit(X_TRAIN)
    scaled = StandardScaler().fit(X_TRAIN)
    alone = clone(pipeline[-1]).fit(scaled.transform(X_TRAIN))
    np.testing.assert_array_equal(
        pipeline.decision_function(X_TRAIN),
        alone.decision_function(scaled.transform(X_TRAIN)),
    )
    assert set(pipeline.predict(np.vstack([X_TRAIN, X_TRAIN + 50.0]))) == {0, 1}


def test_grid_search_by_roc_auc_finds_the_better_weight():
    """With a weak detector, the term improves the scores."""
    X = np.vstack([X_TRAIN, normal(30, 4, seed=1) * 40])
    y = np.r_[np.zeros(300), np.ones(30)]
    search = GridSearchCV(
        CalibratedDetector(first_column, RelaxedCTAD(random_state=0), polarity="higher"),
        {"calibrator__weight": [0.0, 1.0]},
        scoring="roc_auc",
        cv=StratifiedKFold(3),
        error_score="raise",
    )
    search.fit(X, y)
    assert search.best_params_ == {"calibrator__weight": 1.0}
    assert search.cv_results_["mean_test_score"][1] > search.cv_results_["mean_test_score"][0] + 0.1


def first_column(X):
    return X[:, 0]


def only(frame, *names):
    return nw.from_native(frame).select(*names).to_native()


FORESTS = [IForest(10, random_state=0), IsolationForest(n_estimators=10, random_state=0)]


@pytest.mark.parametrize("make_frame", FRAMES.values(), ids=FRAMES)
@pytest.mark.parametrize("detector", FORESTS)
def test_frames_are_scored_like_arrays_by_column_name(make_frame, detector):
    frame = make_frame(dict(zip(NAMES, X_TRAIN.T, strict=True)))
    by_frame = CalibratedDetector(detector, random_state=0).fit(frame)
    by_array = CalibratedDetector(detector, random_state=0).fit(X_TRAIN)
    np.testing.assert_array_equal(by_frame.anomaly_score(frame), by_array.anomaly_score(X_TRAIN))
    assert list(by_frame.feature_names_in_) == NAMES

    by_name = by_frame.anomaly_score(only(frame, "b", "d", "a", "c"))
    np.testing.assert_array_equal(by_name, by_array.anomaly_score(X_TRAIN))
    with pytest.raises(ValueError, match="lacks column 'd'; it has 'a', 'b', 'c'"):
        by_frame.anomaly_score(only(frame, "a", "b", "c"))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        unnamed = by_frame.anomaly_score(X_TRAIN)
    np.testing.assert_array_equal(unnamed, by_array.anomaly_score(X_TRAIN))


class TakesColumns(TransformerMixin, BaseEstimator):
    """A step that needs column names, but does not store them."""

    def fit(self, X, y=None):
        self.fitted_ = True
        return self

    def transform(self, X):
        return X[["a", "b"]].to_numpy()


class TakesColumn(BaseEstimator):
    """A custom detector that needs column names."""

    def fit(self, X, y=None):
        self.mean_ = X["a"].mean()
        return self

    def decision_function(self, X):
        return abs(X["a"] - self.mean_)


BY_NAME = make_pipeline(ColumnTransformer([("ab", StandardScaler(), ["a", "b"])]), IForest(10))


@pytest.mark.parametrize(
    ("detector", "polarity"),
    [
        (make_pipeline(TakesColumns(), FORESTS[1]), "auto"),
        (make_pipeline("passthrough", StandardScaler(), FORESTS[1]), "auto"),
        (BY_NAME, "auto"),
        (CalibratedDetector(BY_NAME), "auto"),
        (TakesColumn(), "higher"),
        (LocalOutlierFactor(novelty=True), "auto"),
    ],
)
def test_detectors_get_column_names_in_training_and_in_scoring(detector, polarity):
    frame = pd.DataFrame(X_TRAIN, columns=NAMES)
    wrapped = CalibratedDetector(detector, polarity=polarity, random_state=0).fit(frame)
    assert np.isfinite(wrapped.anomaly_score(frame)).all()
    if polarity == "auto" and not isinstance(detector, LocalOutlierFactor):
        fitted = FrozenEstimator(clone(detector).fit(frame))
        again = CalibratedDetector(fitted, random_state=0).fit(frame)
        assert np.isfinite(again.anomaly_score(frame)).all()


@pytest.mark.filterwarnings("ignore:X has feature names")  # scikit-learn's, and right
def test_a_function_fitted_on_an_array_gets_arrays():
    detector = CalibratedDetector(first_column, polarity="higher").fit(X_TRAIN)
    frame = pd.DataFrame(X_TRAIN, columns=NAMES)
    np.testing.assert_array_equal(detector.base_score(frame), X_TRAIN[:, 0])


def test_a_function_fitted_on_a_frame_gets_frames():
    frame = pd.DataFrame(X_TRAIN, columns=NAMES)
    detector = CalibratedDetector(lambda table: table["b"], polarity="higher").fit(frame)
    np.testing.assert_array_equal(detector.base_score(frame), X_TRAIN[:, 1])


def test_a_fitted_detector_gets_column_names_if_it_has_them():
    frame = pd.DataFrame(X_TRAIN, columns=NAMES)
    forest = IsolationForest(n_estimators=10, random_state=0)
    by_name, without = clone(forest).fit(frame), clone(forest).fit(X_TRAIN)
    scores = [
        CalibratedDetector(fitted, random_state=0).fit(frame).anomaly_score(frame)
        for fitted in (by_name, without)
    ]
    np.testing.assert_array_equal(*scores)


@pytest.mark.parametrize("estimator", [CTAD(), CalibratedDetector(IForest())])
def test_notebooks_show_a_diagram(estimator):
    html = estimator._repr_html_()
    assert type(estimator).__name__ in html
    assert "<div" in html


def test_the_package_lists_its_names():
    import ctad

    assert set(ctad.__all__) <= set(dir(ctad))
    assert ctad.CTAD is CTAD
    with pytest.raises(AttributeError, match="no attribute 'Ctad'"):
        _ = ctad.Ctad
