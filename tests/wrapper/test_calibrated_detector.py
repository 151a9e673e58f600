"""CalibratedDetector: training, scores, threshold and labels, parameters."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from pyod.models.gmm import GMM
from pyod.models.iforest import IForest
from pyod.models.knn import KNN
from pyod.models.pca import PCA
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import IsolationForest
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.neighbors import KernelDensity, LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ctad import CTAD, CalibratedDetector, RelaxedCTAD, load
from ctad.errors import InputError
from ctad.tables import TableEncoder
from ctad.wrapper._nested_detectors import final_step

from ..data import clusters, normal
from .detectors import ALL, PYOD, DistanceToMean, distance_to_origin

X_TRAIN = clusters()
X_NEW = np.vstack([clusters(seed=1)[:30], normal(10, 4, seed=2) * 30])
WITHOUT_TERM = CTAD(weight=0.0, random_state=0)

ignore_batch_dependence = pytest.mark.filterwarnings("ignore:ECOD scores a row differently")


def small_forest(**options):
    return IsolationForest(n_estimators=10, **options)


# Scores


@ignore_batch_dependence
@pytest.mark.parametrize("name", ALL)
def test_the_calibrated_score_is_the_calibrators_sum(name):
    detector = CalibratedDetector(ALL[name](), CTAD(weight=0.7, random_state=0)).fit(X_TRAIN)
    scores = detector.anomaly_score(X_NEW)
    expected = detector.base_score(X_NEW) + 0.7 * detector.calibrator_.delta(X_NEW)
    np.testing.assert_array_equal(scores, expected)
    np.testing.assert_array_equal(detector.decision_function(X_NEW), scores)
    assert scores[30:].min() > scores[:30].max()


def test_the_default_calibrator_is_the_recommended_one():
    detector = CalibratedDetector(KernelDensity(), random_state=0).fit(X_TRAIN)
    assert type(detector.calibrator_) is RelaxedCTAD
    scores = detector.anomaly_score(X_NEW)
    assert scores[30:].min() > scores[:30].max()


@pytest.mark.parametrize(
    ("detector", "polarity"),
    [
        (DistanceToMean(), "higher"),
        (lambda X: -distance_to_origin(X), "lower"),
        (FrozenEstimator(DistanceToMean().fit(X_TRAIN)), "higher"),
    ],
    ids=["object", "function", "frozen"],
)
def test_detectors_of_other_libraries(detector, polarity):
    wrapped = CalibratedDetector(detector, CTAD(), polarity=polarity, random_state=0).fit(X_TRAIN)
    for scores in (wrapped.anomaly_score(X_NEW), wrapped.base_score(X_NEW)):
        assert scores[30:].mean() > scores[:30].mean()


def test_a_calibrated_detector_can_be_calibrated():
    inner = CalibratedDetector(small_forest(random_state=0), CTAD(), random_state=0)
    outer = CalibratedDetector(inner, CTAD(), random_state=0).fit(X_TRAIN)
    np.testing.assert_array_equal(outer.base_score(X_NEW), inner.fit(X_TRAIN).anomaly_score(X_NEW))


# Training


@pytest.mark.parametrize("name", ALL)
def test_the_detector_passed_in_is_cloned_not_changed(name):
    original = ALL[name]()
    before = pickle.dumps(original)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        CalibratedDetector(original, CTAD(), random_state=0).fit(X_TRAIN)
    assert pickle.dumps(original) == before


@pytest.mark.parametrize(
    "fitted",
    [
        FrozenEstimator(IForest(5, random_state=0).fit(X_TRAIN)),
        IForest(5, random_state=0).fit(X_TRAIN),
        IsolationForest(n_estimators=5, random_state=0).fit(X_TRAIN),
        make_pipeline(StandardScaler(), KNN()).fit(X_TRAIN),
        DistanceToMean().fit(X_TRAIN),
    ],
    ids=["frozen", "PyOD", "scikit-learn", "pipeline", "other"],
)
def test_a_fitted_detector_is_never_retrained(fitted, monkeypatch):
    monkeypatch.setattr(type(final_step(fitted)), "fit", "not to be called")
    polarity = "higher" if isinstance(fitted, DistanceToMean) else "auto"
    detector = CalibratedDetector(fitted, CTAD(), polarity=polarity, random_state=0)
    before = detector.fit(X_TRAIN).base_score(X_NEW)
    detector.fit(normal(200, 4, seed=9) + 100.0)
    assert detector.detector_ is fitted
    np.testing.assert_array_equal(detector.base_score(X_NEW), before)


class CountsItsFits(DistanceToMean):
    fits = 0

    def fit(self, X):
        type(self).fits += 1
        return super().fit(X)


def test_fit_is_called_once_and_not_at_all_when_fitted():
    CountsItsFits.fits = 0
    CalibratedDetector(CountsItsFits(), CTAD(), polarity="higher").fit(X_TRAIN)
    assert CountsItsFits.fits == 1
    fitted = CountsItsFits().fit(X_TRAIN)
    CalibratedDetector(fitted, CTAD(), polarity="higher").fit(X_TRAIN)
    CalibratedDetector(FrozenEstimator(fitted), CTAD(), polarity="higher").fit(X_TRAIN)
    assert CountsItsFits.fits == 2


def test_training_scores_are_those_that_the_detector_kept():
    for base in (KNN(), LocalOutlierFactor(novelty=True)):
        detector = CalibratedDetector(base, WITHOUT_TERM).fit(X_TRAIN)
        kept = detector.adapter_.kept_training_scores()
        np.testing.assert_array_equal(detector.decision_scores_, kept)


def test_a_fitted_detector_scores_other_rows_again():
    """Also as many rows as it was fitted on."""
    frozen = FrozenEstimator(KNN().fit(X_TRAIN))
    for rows in (X_TRAIN[:100], X_TRAIN[::-1] + 5.0):
        detector = CalibratedDetector(frozen, WITHOUT_TERM).fit(rows)
        np.testing.assert_array_equal(detector.decision_scores_, detector.base_score(rows))


@ignore_batch_dependence
@pytest.mark.parametrize("name", PYOD)
def test_kept_scores_of_the_same_rows_are_used_also_when_fitted_before(name):
    fitted = PYOD[name]().fit(X_TRAIN)
    detector = CalibratedDetector(FrozenEstimator(fitted), WITHOUT_TERM).fit(X_TRAIN)
    np.testing.assert_allclose(detector.decision_scores_, fitted.decision_scores_, rtol=1e-9)


def test_detectors_with_fitted_parts_are_trained():
    search = GridSearchCV(KNN().fit(X_TRAIN), {}, scoring=lambda *_: 0.0, cv=2)
    pipeline = make_pipeline(StandardScaler(), IForest(5, random_state=0).fit(X_TRAIN))
    for unfitted in (search, pipeline, GMM()):
        detector = CalibratedDetector(unfitted, CTAD(), random_state=0).fit(X_TRAIN)
        assert np.isfinite(detector.anomaly_score(X_NEW)).all()


def test_a_training_row_far_from_all_others_is_an_anomaly():
    rows = clusters()
    rows[7] += 100.0
    detector = CalibratedDetector(small_forest(), contamination=0.01, random_state=0).fit(rows)
    assert detector.decision_scores_.argmax() == 7
    assert detector.calibrator_.training_delta_.argmax() == 7
    assert detector.labels_[7] == 1


def test_only_a_frozen_detector_stays_fitted_when_cloned():
    bare = IForest(5, random_state=0).fit(X_TRAIN)
    frozen = FrozenEstimator(bare)
    assert clone(CalibratedDetector(frozen, CTAD())).fit(X_TRAIN[:50]).detector_ is frozen
    assert clone(CalibratedDetector(bare, CTAD())).fit(X_TRAIN[:50]).detector_ is not bare


def test_the_same_seed_gives_the_same_scores():
    def scores(seed):
        pipeline = make_pipeline(StandardScaler(), small_forest())
        detector = CalibratedDetector(pipeline, RelaxedCTAD(20), random_state=seed)
        return detector.fit(X_TRAIN).anomaly_score(X_NEW)

    np.testing.assert_array_equal(scores(0), scores(0))
    assert not np.array_equal(scores(0), scores(1))
    kept = CalibratedDetector(small_forest(random_state=5), CTAD(random_state=6), random_state=0)
    kept.fit(X_TRAIN)
    assert (kept.detector_.random_state, kept.calibrator_.random_state) == (5, 6)


def test_a_failed_refit_leaves_nothing_fitted():
    detector = CalibratedDetector(small_forest(), CTAD(), random_state=0).fit(X_TRAIN)
    with pytest.raises(ValueError, match="contains NaN"):
        detector.fit(np.full((5, 3), np.nan))
    with pytest.raises(NotFittedError):
        detector.anomaly_score(X_NEW)


# Threshold and labels, with PyOD's meaning


def test_threshold_labels_and_predictions():
    detector = CalibratedDetector(small_forest(), CTAD(), contamination=0.2, random_state=0)
    detector.fit(X_TRAIN)
    assert detector.threshold_ == np.percentile(detector.decision_scores_, 80)
    assert detector.labels_.sum() == 60
    np.testing.assert_array_equal(detector.labels_, detector.decision_scores_ > detector.threshold_)
    predicted = detector.predict(X_NEW)
    np.testing.assert_array_equal(predicted, detector.anomaly_score(X_NEW) > detector.threshold_)
    assert predicted[30:].all()
    assert predicted.dtype == np.int64


@pytest.mark.parametrize("n_rows", [100, 1000])
def test_without_held_out_rows_new_normal_rows_are_flagged_about_as_often_as_stated(n_rows):
    """Centroids are made of the training rows. If their terms were not corrected for that, 40 to
    60 % of new normal rows would be flagged."""
    rates = []
    for seed in range(5):
        rows = clusters(n_rows + 1000, seed=seed)
        detector = CalibratedDetector(KNN(), contamination=0.1, random_state=seed)
        detector.fit(rows[:n_rows])
        assert detector.labels_.mean() == pytest.approx(0.1, abs=0.011)
        rates.append(detector.predict(rows[n_rows:]).mean())
    assert 0.05 < np.mean(rates) < 0.2


def test_probabilities_are_the_linear_ones_of_pyod():
    detector = CalibratedDetector(KNN(), WITHOUT_TERM).fit(X_TRAIN)
    expected = KNN().fit(X_TRAIN).predict_proba(X_NEW)
    np.testing.assert_allclose(detector.predict_proba(X_NEW), expected)


@pytest.mark.parametrize("encoder", [3, "TableEncoder", TableEncoder, StandardScaler()])
def test_the_encoder_is_checked(encoder):
    with pytest.raises(
        TypeError, match=r"encoder must be None or a TableEncoder, .*TableEncoder\(\)"
    ):
        CalibratedDetector(KNN(), encoder=encoder).fit(X_TRAIN)


def test_nothing_fitted_remains_after_a_failed_refit():
    detector = CalibratedDetector(small_forest(), CTAD(), holdout=0.2, random_state=0).fit(X_TRAIN)
    with pytest.raises(InputError, match="NaN"):
        detector.fit(np.full_like(X_TRAIN, np.nan))
    for name in ("threshold_", "labels_", "decision_scores_", "calibration_scores_"):
        assert not hasattr(detector, name)
    with pytest.raises(NotFittedError):
        detector.predict(X_TRAIN)


@pytest.mark.parametrize("y", [None, [0]])
def test_a_table_of_one_row_is_refused_with_its_number_of_rows(y):
    with pytest.raises(InputError, match="the table has 1 row: training needs at least 2"):
        CalibratedDetector(small_forest()).fit(pd.DataFrame({"a": [1.0]}), y)


def test_scores_that_are_strings_name_the_detector():
    def verdict(X):
        return ["odd"] * len(X)

    with pytest.raises(InputError, match="scores of verdict: could not convert string to float"):
        CalibratedDetector(verdict, polarity="higher").fit(X_TRAIN)


def test_fit_predict_labels_every_row():
    detector = CalibratedDetector(small_forest(), CTAD(), random_state=0)
    labels = detector.fit_predict(X_TRAIN)
    np.testing.assert_array_equal(labels, detector.labels_)
    assert labels.sum() == 30


def test_fit_predict_predicts_rows_that_are_not_trained_on():
    X, y = np.vstack([X_NEW[30:], X_TRAIN]), np.repeat([1, 0], [10, 300])
    detector = CalibratedDetector(small_forest(), CTAD(), holdout=0.3, random_state=0)
    labels = detector.fit_predict(X, y)
    assert len(detector.labels_) == 210
    assert labels.shape == (310,)
    assert labels[:10].all()
    assert (
        labels.sum()
        == detector.labels_.sum()
        + 10
        + (detector.calibration_scores_.score > detector.threshold_).sum()
    )


@pytest.mark.parametrize("contamination", [0, 0.6, -0.1])
def test_contamination_has_the_range_of_pyod(contamination):
    with pytest.raises(ValueError, match="contamination"):
        CalibratedDetector(IForest(), contamination=contamination).fit(X_TRAIN)


# Infinite scores


def with_infinite_scores(share, infinity, above):
    """A function of X that is infinite for a share of the training rows."""
    limit = np.quantile(distance_to_origin(X_TRAIN), share)

    def detector(X):
        scores = distance_to_origin(X)
        scores[(scores > limit) == above] = infinity
        return scores

    return CalibratedDetector(detector, CTAD(score_scaling="robust"), polarity="higher")


def test_infinite_training_scores_are_left_out_of_the_scaling():
    with pytest.warns(UserWarning, match="training scores are infinite"):
        detector = with_infinite_scores(0.95, np.inf, above=True).fit(X_TRAIN)
    assert np.isinf(detector.decision_scores_).sum() == 15
    assert detector.anomaly_score([[100.0] * 4])[0] == np.inf
    assert np.isfinite(detector.anomaly_score([[1.0] * 4])[0])
    assert np.isfinite(detector.threshold_)
    np.testing.assert_array_equal(detector.predict_proba([[100.0] * 4]), [[0.0, 1.0]])


def test_finite_scores_among_many_minus_infinities_are_the_anomalies():
    with pytest.warns(UserWarning, match="infinite"):
        detector = with_infinite_scores(0.95, -np.inf, above=False).fit(X_TRAIN)
    np.testing.assert_array_equal(detector.labels_, np.isfinite(detector.decision_scores_))


def test_a_threshold_among_infinite_scores_is_finite():
    with pytest.warns(UserWarning, match="infinite"):
        detector = with_infinite_scores(0.5, np.inf, above=True).fit(X_TRAIN)
    infinite = np.isinf(detector.decision_scores_)
    assert infinite.sum() == 150
    assert detector.threshold_ == detector.decision_scores_[~infinite].max()
    np.testing.assert_array_equal(detector.labels_, infinite)
    np.testing.assert_array_equal(detector.predict([[100.0] * 4, [0.1] * 4]), [1, 0])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # PyOD divides by zero
@pytest.mark.parametrize("calibrator", [None, CTAD()])
def test_without_a_finite_training_score_the_term_stands_alone(calibrator, tmp_path):
    train, new = np.c_[normal(300, 3), np.zeros(300)], np.c_[normal(20, 3, seed=1), np.zeros(20)]
    assert np.isinf(PCA().fit(train).decision_scores_).all()
    detector = CalibratedDetector(PCA(), calibrator, random_state=0)
    with pytest.warns(UserWarning, match=r"none of the 300 training scores is finite.*drop them"):
        detector.fit(train)
    score = detector.anomaly_score(new)
    assert np.isfinite(score).all()
    rank_by_term = np.argsort(detector.score_parts(new).delta)
    np.testing.assert_array_equal(np.argsort(score), rank_by_term)
    explanation = detector.explain(new)
    assert (explanation.base_part == 0).all()
    detector.save(tmp_path / "model.ctad")
    np.testing.assert_array_equal(load(tmp_path / "model.ctad").anomaly_score(new), score)


# Parameters, also in a search


@pytest.mark.parametrize(
    ("parameters", "part"),
    [
        ({"calibrator__weight": 3.0}, RelaxedCTAD),
        ({"calibrator": None, "calibrator__weight": 3.0}, RelaxedCTAD),
        ({"calibrator": CTAD(), "calibrator__weight": 3.0}, CTAD),
    ],
)
def test_parameters_of_the_default_calibrator_can_be_set(parameters, part):
    detector = CalibratedDetector(small_forest(), random_state=0).set_params(**parameters)
    detector.fit(X_TRAIN)
    assert type(detector.calibrator_) is part
    assert detector.calibrator_.weight == 3.0


def test_parameters_of_the_default_encoder_can_be_set():
    detector = CalibratedDetector(KNN()).set_params(encoder__scaling="standard")
    assert isinstance(detector.encoder, TableEncoder)
    assert detector.encoder.scaling == "standard"
    with pytest.raises(ValueError, match="Invalid parameter 'height'"):
        detector.set_params(calibrator__height=1)


class RecordsItsRows(DistanceToMean, BaseEstimator):
    """Remembers the rows that each fit got."""

    fits = ()

    def fit(self, X):
        type(self).fits += (X,)
        return super().fit(X)


def test_a_grid_search_trains_on_normal_rows_only():
    X = np.vstack([X_TRAIN, normal(30, 4, seed=1) * 40])
    y = np.repeat([0, 1], [300, 30])
    RecordsItsRows.fits = ()
    search = GridSearchCV(
        CalibratedDetector(RecordsItsRows(), polarity="higher", random_state=0),
        {"calibrator__weight": [0.0, 1.0], "calibrator__n_centroids": [10]},
        scoring="roc_auc",
        cv=StratifiedKFold(3),
        error_score="raise",
    ).fit(X, y)
    assert [len(rows) for rows in RecordsItsRows.fits] == [200] * 6 + [300]
    normal_rows = {row.tobytes() for row in X_TRAIN}
    assert all(row.tobytes() in normal_rows for rows in RecordsItsRows.fits for row in rows)
    best = search.best_estimator_
    assert best.n_ignored_anomalies_ == 30
    assert best.calibrator_.weight == search.best_params_["calibrator__weight"]
    assert best.calibrator_.n_centroids == 10


def test_an_array_after_a_frame_is_read_in_the_order_of_its_columns():
    frame = pd.DataFrame(X_TRAIN, columns=list("abcd"))
    detector = CalibratedDetector(small_forest(), CTAD(), random_state=0).fit(frame)
    with pytest.warns(UserWarning, match="does not have valid feature names, but Calibrated"):
        by_array = detector.anomaly_score(X_NEW)
    by_frame = detector.anomaly_score(pd.DataFrame(X_NEW, columns=list("abcd")))
    np.testing.assert_array_equal(by_array, by_frame)
    assert list(detector.encoder_.feature_names_in_) == list("abcd")
    with pytest.raises(ValueError, match="is expecting 4 features"):
        detector.anomaly_score(X_NEW[:, :3])


def test_column_types_need_a_table():
    detector = CalibratedDetector(small_forest(), CTAD(), random_state=0).fit(X_TRAIN)
    assert detector.encoder_ is None
    with pytest.raises(ValueError, match="trained on an array and has no column names"):
        detector.column_types()
    detector.fit(pd.DataFrame(X_TRAIN, columns=list("abcd")))
    assert detector.column_types().names == list("abcd")
