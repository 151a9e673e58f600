"""CalibratedDetector on real detectors."""

import pickle
import warnings
from importlib import import_module
from pkgutil import iter_modules

import numpy as np
import pyod.models
import pytest
from joblib import parallel_config
from pyod.models.base import BaseDetector
from pyod.models.cof import COF
from pyod.models.ecod import ECOD
from pyod.models.gmm import GMM
from pyod.models.iforest import IForest
from pyod.models.knn import KNN
from pyod.models.pca import PCA
from sklearn.base import clone
from sklearn.decomposition import TruncatedSVD
from sklearn.ensemble import IsolationForest
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KernelDensity, LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ctad import CTAD, CalibratedDetector
from ctad.wrapper._adapters import final_step, is_fitted

from ..data import clusters, normal
from .detectors import ALL, ALL_BUT_ECOD, PYOD

X_TRAIN = clusters()
X_NEW = np.vstack([clusters(seed=1)[:30], normal(10, 4, seed=2) * 30])

allow_dependence = pytest.mark.filterwarnings("ignore:ECOD scores a row differently")


@pytest.fixture(params=ALL)
def name(request):
    return request.param


# Scores and their sign


@allow_dependence
def test_base_score_is_the_detectors_own_turned_upwards(name):
    wrapped = CalibratedDetector(ALL[name](), random_state=0).fit(X_TRAIN)
    plain = ALL[name]().fit(X_TRAIN)
    own = plain.decision_function(X_NEW) if name in PYOD else -plain.score_samples(X_NEW)
    np.testing.assert_allclose(wrapped.base_score(X_NEW), own, rtol=1e-9)


@allow_dependence
def test_far_rows_score_high_whatever_the_detectors_sign(name):
    detector = CalibratedDetector(ALL[name](), random_state=0).fit(X_TRAIN)
    scores = detector.anomaly_score(X_NEW)
    assert scores[30:].min() > scores[:30].max()
    np.testing.assert_array_equal(detector.decision_function(X_NEW), scores)


@allow_dependence
def test_the_calibrated_score_is_the_calibrators_sum(name):
    detector = CalibratedDetector(ALL[name](), CTAD(weight=0.7, random_state=0)).fit(X_TRAIN)
    np.testing.assert_array_equal(
        detector.anomaly_score(X_NEW),
        detector.base_score(X_NEW) + 0.7 * detector.calibrator_.delta(X_NEW),
    )


@pytest.mark.parametrize("detector", [KernelDensity(), GaussianMixture(random_state=0)])
def test_scikit_learns_densities_are_recognised(detector):
    wrapped = CalibratedDetector(detector).fit(X_TRAIN)
    np.testing.assert_allclose(
        wrapped.base_score(X_NEW), -wrapped.detector_.score_samples(X_NEW), rtol=1e-9
    )


@pytest.mark.parametrize("detector", [IForest(random_state=0), IsolationForest(random_state=0)])
def test_sign_is_found_inside_pipelines_and_searches(detector):
    plain = CalibratedDetector(detector, CTAD(random_state=0)).fit(
        StandardScaler().fit_transform(X_TRAIN)
    )
    pipeline = make_pipeline(StandardScaler(), detector)
    search = GridSearchCV(pipeline, {}, scoring=lambda *_: 0.0, cv=2)
    for wrapped in (pipeline, search):
        piped = CalibratedDetector(wrapped, CTAD(random_state=0)).fit(X_TRAIN)
        np.testing.assert_allclose(
            piped.base_score(X_NEW),
            plain.base_score(StandardScaler().fit(X_TRAIN).transform(X_NEW)),
        )


def test_a_calibrated_detector_can_be_calibrated():
    inner = CalibratedDetector(IsolationForest(random_state=0), random_state=0)
    outer = CalibratedDetector(inner, random_state=0).fit(X_TRAIN)
    np.testing.assert_array_equal(outer.base_score(X_NEW), inner.fit(X_TRAIN).anomaly_score(X_NEW))


class DistanceToMean:
    """A detector of no known library."""

    def fit(self, X):
        self.mean_ = np.mean(X, axis=0)
        return self

    def decision_function(self, X):
        return np.linalg.norm(np.asarray(X) - self.mean_, axis=1)


class Likeness:
    """The same, upside down, under the other name."""

    def fit(self, X):
        self.inner_ = DistanceToMean().fit(X)

    def score_samples(self, X):
        return -self.inner_.decision_function(X)


def distance_to_origin(X):
    return np.linalg.norm(np.asarray(X), axis=1)


class OwnForest(IsolationForest):
    """A subclass that may mean anything by its scores."""

    def score_samples(self, X):
        return -super().score_samples(X)


@pytest.mark.parametrize(
    ("detector", "polarity"),
    [
        (DistanceToMean(), "higher"),
        (Likeness(), "lower"),
        (distance_to_origin, "higher"),
        (lambda X: -distance_to_origin(X), "lower"),
        (OwnForest(random_state=0), "higher"),
    ],
)
def test_anything_else_must_say_its_sign(detector, polarity):
    with pytest.raises(ValueError, match="say polarity='higher' or polarity='lower'"):
        CalibratedDetector(detector).fit(X_TRAIN)
    wrapped = CalibratedDetector(detector, polarity=polarity, random_state=0).fit(X_TRAIN)
    scores = wrapped.anomaly_score(X_NEW)
    assert scores[30:].mean() > scores[:30].mean()
    assert wrapped.base_score(X_NEW)[30:].mean() > wrapped.base_score(X_NEW)[:30].mean()


def test_a_stated_sign_wins():
    upside_down = CalibratedDetector(IForest(random_state=0), polarity="lower").fit(X_TRAIN)
    plain = IForest(random_state=0).fit(X_TRAIN)
    np.testing.assert_allclose(upside_down.base_score(X_NEW), -plain.decision_function(X_NEW))


@pytest.mark.parametrize(
    ("detector", "error", "message"),
    [
        (object(), TypeError, "gives no scores"),
        ("iforest", TypeError, r"pass an object: ctad.detectors.make\('iforest'\)"),
        (StandardScaler(), TypeError, "StandardScaler gives no scores"),
        (LocalOutlierFactor(), TypeError, "Use novelty=True"),
    ],
)
def test_what_gives_no_scores_is_refused(detector, error, message):
    with pytest.raises(error, match=message):
        CalibratedDetector(detector).fit(X_TRAIN)


def test_a_classifier_has_no_known_sign():
    with pytest.raises(ValueError, match="LogisticRegression"):
        CalibratedDetector(LogisticRegression()).fit(X_TRAIN)


# Training


class CountsItsFits(DistanceToMean):
    fits = 0

    def fit(self, X):
        type(self).fits += 1
        return super().fit(X)


def test_the_detector_passed_in_is_cloned_not_touched(name):
    original = ALL[name]()
    before = pickle.dumps(original)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        CalibratedDetector(original, random_state=0).fit(X_TRAIN)
    assert pickle.dumps(original) == before


def fitted_forest():
    return IForest(random_state=0).fit(X_TRAIN)


@pytest.mark.parametrize(
    "fitted",
    [
        FrozenEstimator(fitted_forest()),
        fitted_forest(),
        IsolationForest(random_state=0).fit(X_TRAIN),
        make_pipeline(StandardScaler(), KNN()).fit(X_TRAIN),
        DistanceToMean().fit(X_TRAIN),
    ],
    ids=["frozen", "PyOD", "scikit-learn", "pipeline", "other"],
)
def test_a_fitted_detector_is_never_retrained(fitted, monkeypatch):
    monkeypatch.setattr(type(final_step(fitted)), "fit", "not to be called")
    polarity = "higher" if isinstance(fitted, DistanceToMean) else "auto"
    detector = CalibratedDetector(fitted, polarity=polarity, random_state=0)
    before = detector.fit(X_TRAIN).base_score(X_NEW)
    detector.fit(normal(200, 4, seed=9) + 100.0)
    assert detector.detector_ is fitted
    np.testing.assert_array_equal(detector.base_score(X_NEW), before)


def test_fit_is_called_once_and_not_at_all_when_fitted():
    CountsItsFits.fits = 0
    CalibratedDetector(CountsItsFits(), polarity="higher").fit(X_TRAIN)
    assert CountsItsFits.fits == 1
    fitted = CountsItsFits().fit(X_TRAIN)
    CalibratedDetector(fitted, polarity="higher").fit(X_TRAIN)
    CalibratedDetector(FrozenEstimator(fitted), polarity="higher").fit(X_TRAIN)
    assert CountsItsFits.fits == 2


def test_training_scores_are_the_ones_the_detector_kept():
    """KNN leaves out the row itself in `decision_scores_`, not in `decision_function`."""
    detector = CalibratedDetector(KNN(), CTAD(weight=0.0, random_state=0)).fit(X_TRAIN)
    kept = detector.detector_.decision_scores_
    np.testing.assert_array_equal(detector.decision_scores_, kept)
    assert not np.allclose(detector.base_score(X_TRAIN), kept)

    detector = CalibratedDetector(
        LocalOutlierFactor(novelty=True), CTAD(weight=0.0, random_state=0)
    ).fit(X_TRAIN)
    np.testing.assert_array_equal(
        detector.decision_scores_, -detector.detector_.negative_outlier_factor_
    )


def test_a_fitted_detector_scores_other_rows_anew():
    detector = CalibratedDetector(
        FrozenEstimator(fitted_forest()), CTAD(weight=0.0, random_state=0)
    ).fit(X_TRAIN[:100])
    np.testing.assert_array_equal(detector.decision_scores_, detector.base_score(X_TRAIN[:100]))


def test_kept_scores_of_as_many_other_rows_are_not_taken_for_these():
    others = X_TRAIN[::-1] + 5.0
    detector = CalibratedDetector(
        FrozenEstimator(KNN().fit(X_TRAIN)), CTAD(weight=0.0, random_state=0)
    ).fit(others)
    np.testing.assert_array_equal(detector.decision_scores_, detector.base_score(others))


@pytest.mark.parametrize("name", PYOD)
@allow_dependence
def test_kept_scores_of_the_same_rows_are_used_also_when_trained_before(name):
    fitted = PYOD[name]().fit(X_TRAIN)
    detector = CalibratedDetector(FrozenEstimator(fitted), CTAD(weight=0.0, random_state=0))
    detector.fit(X_TRAIN)
    np.testing.assert_allclose(detector.decision_scores_, fitted.decision_scores_, rtol=1e-9)


class FlippedLOF(LocalOutlierFactor):
    def score_samples(self, X):
        return -super().score_samples(X)


def test_kept_scores_of_a_subclass_that_scores_its_own_way_are_not_used():
    detector = CalibratedDetector(FlippedLOF(novelty=True), CTAD(), polarity="higher")
    assert detector.fit(X_TRAIN).predict(X_TRAIN).mean() == pytest.approx(0.1, abs=0.02)


@pytest.mark.parametrize("n_rows", [100, 1000])
def test_new_normal_rows_are_not_called_anomalies_much_more_often_than_said(n_rows):
    """Terms of training rows are hardly flattered by centroids that are made of them: as those of
    any rows they would let 40 to 60 % of new normal rows pass for anomalies."""
    rates = []
    for seed in range(5):
        rows = clusters(n_rows + 2000, seed=seed)
        detector = CalibratedDetector(KNN(), contamination=0.1, random_state=seed)
        detector.fit(rows[:n_rows])
        assert detector.labels_.mean() == pytest.approx(0.1, abs=0.011)
        rates.append(detector.predict(rows[n_rows:]).mean())
    assert 0.05 < np.mean(rates) < 0.2


def test_a_training_row_far_from_all_others_is_found():
    rows = clusters()
    rows[7] += 100.0
    detector = CalibratedDetector(IsolationForest(), contamination=0.01, random_state=0).fit(rows)
    assert detector.decision_scores_.argmax() == 7
    assert detector.calibrator_.training_delta_.argmax() == 7
    assert detector.labels_[7] == 1


class OwnKNN(KNN):
    def decision_function(self, X):
        return super().decision_function(X)


def test_what_only_looks_fitted_is_trained():
    """PyOD's KNN has `neigh_` from the start; parts of the others are fitted already."""
    fitted = IForest(random_state=0).fit(X_TRAIN)
    search = GridSearchCV(KNN().fit(X_TRAIN), {}, scoring=lambda *_: 0.0, cv=2)
    for unfitted in (OwnKNN(), search, make_pipeline(StandardScaler(), fitted)):
        assert not is_fitted(unfitted)
        detector = CalibratedDetector(unfitted, polarity="higher", random_state=0).fit(X_TRAIN)
        assert np.isfinite(detector.anomaly_score(X_NEW)).all()


def test_every_pyod_detector_is_unfitted_when_new():
    checked = 0
    for module in iter_modules(pyod.models.__path__):
        try:
            classes = vars(import_module(f"pyod.models.{module.name}")).values()
        except (ImportError, NameError):  # needs torch, xgboost, ...
            continue
        for cls in classes:
            if isinstance(cls, type) and issubclass(cls, BaseDetector) and cls is not BaseDetector:
                try:
                    detector = cls()
                except (ImportError, TypeError):
                    continue
                assert not is_fitted(detector), cls
                checked += 1
    assert checked > 30
    CalibratedDetector(GMM(), random_state=0).fit(X_TRAIN)


class SaysItself(DistanceToMean):
    def __sklearn_is_fitted__(self):
        return hasattr(self, "mean_")


class WithSlots:
    __slots__ = ("mean",)

    def fit(self, X):
        self.mean = np.mean(X, axis=0)

    def decision_function(self, X):
        return np.linalg.norm(X - self.mean, axis=1)


class NoneAtFirst(DistanceToMean):
    def __init__(self):
        self.mean_ = None


@pytest.mark.parametrize("cls", [SaysItself, WithSlots, NoneAtFirst])
def test_foreign_detectors_are_fitted_when_they_are_not(cls):
    detector = CalibratedDetector(cls(), polarity="higher", random_state=0).fit(X_TRAIN)
    scores = detector.anomaly_score(X_NEW)
    assert scores[30:].mean() > scores[:30].mean()


def test_only_a_frozen_detector_survives_cloning():
    frozen = FrozenEstimator(fitted_forest())
    assert clone(CalibratedDetector(frozen)).fit(X_TRAIN[:50]).detector_ is frozen
    bare = fitted_forest()
    assert clone(CalibratedDetector(bare)).fit(X_TRAIN[:50]).detector_ is not bare


def test_one_seed_makes_everything_repeatable():
    def scores(seed):
        pipeline = make_pipeline(StandardScaler(), IsolationForest())
        return CalibratedDetector(pipeline, random_state=seed).fit(X_TRAIN).anomaly_score(X_NEW)

    np.testing.assert_array_equal(scores(0), scores(0))
    assert not np.array_equal(scores(0), scores(1))
    kept = CalibratedDetector(IsolationForest(random_state=5), CTAD(random_state=6), random_state=0)
    kept.fit(X_TRAIN)
    assert (kept.detector_.random_state, kept.calibrator_.random_state) == (5, 6)


# The rule: a row's score does not depend on its company


def two_matrix_products(X):
    """Like a small neural network."""
    rng = np.random.default_rng(0)
    hidden = np.tanh(np.asarray(X) @ rng.normal(size=(X.shape[1], 32)))
    return np.linalg.norm(hidden @ rng.normal(size=(32, 16)), axis=1)


INDEPENDENT = ALL_BUT_ECOD | {
    "GaussianMixture": lambda: GaussianMixture(3, random_state=0),
    "pipeline": lambda: make_pipeline(
        StandardScaler(), TruncatedSVD(3, random_state=0), LocalOutlierFactor(novelty=True)
    ),
    "function": lambda: two_matrix_products,
}


@pytest.mark.parametrize("n_columns", [4, 100])
@pytest.mark.parametrize("name", INDEPENDENT)
def test_a_row_does_not_depend_on_its_company(name, n_columns):
    train, rows = normal(400, n_columns), normal(3000, n_columns, seed=1) * 2
    polarity = "higher" if name == "function" else "auto"
    detector = CalibratedDetector(INDEPENDENT[name](), polarity=polarity, random_state=0).fit(train)
    together = detector.anomaly_score(rows)
    for size in (1, 2, 7, 255, 256, 257, 1000):
        for start in range(0, min(len(rows), 40 * size), size):
            part = slice(start, start + size)
            np.testing.assert_array_equal(detector.anomaly_score(rows[part]), together[part])
    order = np.random.default_rng(2).permutation(len(rows))
    np.testing.assert_array_equal(detector.anomaly_score(rows[order]), together[order])
    np.testing.assert_array_equal(detector.anomaly_score(np.asfortranarray(rows)), together)
    detector.calibrator_.set_params(n_jobs=2)
    np.testing.assert_array_equal(detector.anomaly_score(rows), together)


def test_a_detector_that_breaks_the_rule_is_named_once():
    with pytest.warns(UserWarning, match="ECOD scores a row differently") as caught:
        detector = CalibratedDetector(ECOD(), random_state=0).fit(X_TRAIN)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    # It is still scored in one call, as it would be without us.
    np.testing.assert_allclose(
        detector.base_score(X_NEW), ECOD().fit(X_TRAIN).decision_function(X_NEW)
    )


def test_forests_do_not_depend_on_threads():
    detector = CalibratedDetector(IsolationForest(random_state=0), random_state=0).fit(X_TRAIN)
    rows = normal(2000, 4)
    alone = detector.anomaly_score(rows)
    with parallel_config("threading", n_jobs=2):
        for _ in range(3):
            np.testing.assert_array_equal(detector.anomaly_score(rows), alone)


def test_single_precision_is_not_taken_for_dependence():
    random = np.random.default_rng(0)
    weights = [random.normal(size=s).astype(np.float32) for s in ((4, 512), (512, 512), (512, 4))]

    def network(X):
        hidden = np.asarray(X, dtype=np.float32)
        for matrix in weights:
            hidden = np.tanh(hidden @ matrix / 20)
        return np.linalg.norm(X - hidden, axis=1)

    detector = CalibratedDetector(network, polarity="higher").fit(X_TRAIN)
    assert np.isfinite(detector.anomaly_score(X_NEW)).all()


def test_a_detector_that_cannot_score_few_rows_is_one_that_compares_them():
    with pytest.warns(UserWarning, match="COF scores a row differently"):
        detector = CalibratedDetector(COF(), random_state=0).fit(X_TRAIN)
    assert np.isfinite(detector.anomaly_score(X_TRAIN)).all()


@pytest.mark.parametrize(
    "scores_by_company",
    [
        lambda X: np.abs(np.diff(X[:, 0], prepend=X[0, 0])),
        lambda X: np.argsort(np.argsort(X[:, 0])).astype(float),
        lambda X: (X[:, 0] - X[:, 0].min()) / np.ptp(X[:, 0]),
    ],
    ids=["difference", "rank", "min-max"],
)
def test_scores_relative_to_the_batch_are_noticed(scores_by_company):
    train = X_TRAIN[np.argsort(X_TRAIN[:, 0])]  # the first row is the smallest in any company
    with pytest.warns(UserWarning, match="<lambda> scores a row differently"):
        CalibratedDetector(scores_by_company, polarity="higher").fit(train)


# Decisions, in PyOD's meaning


def test_threshold_labels_and_predictions():
    detector = CalibratedDetector(IForest(random_state=0), contamination=0.2, random_state=0)
    detector.fit(X_TRAIN)
    assert detector.threshold_ == np.percentile(detector.decision_scores_, 80)
    assert detector.labels_.sum() == 60
    np.testing.assert_array_equal(detector.labels_, detector.decision_scores_ > detector.threshold_)
    predicted = detector.predict(X_NEW)
    np.testing.assert_array_equal(predicted, detector.anomaly_score(X_NEW) > detector.threshold_)
    assert predicted[30:].all()
    assert predicted.dtype == np.int64


def test_probabilities_are_pyods_linear_ones():
    detector = CalibratedDetector(KNN(), CTAD(weight=0.0, random_state=0)).fit(X_TRAIN)
    expected = KNN().fit(X_TRAIN).predict_proba(X_NEW)
    np.testing.assert_allclose(detector.predict_proba(X_NEW), expected)


@pytest.mark.parametrize("contamination", [0, 0.6, -0.1])
def test_contamination_has_pyods_range(contamination):
    with pytest.raises(ValueError, match="contamination"):
        CalibratedDetector(IForest(), contamination=contamination).fit(X_TRAIN)


# Scores that are not finite


def test_infinite_training_scores_are_left_out_of_the_scaling():
    largest = np.quantile(distance_to_origin(X_TRAIN), 0.95)

    def detector(X):
        scores = distance_to_origin(X)
        scores[scores > largest] = np.inf
        return scores

    with pytest.warns(UserWarning, match="training scores are infinite"):
        wrapped = CalibratedDetector(detector, polarity="higher", random_state=0).fit(X_TRAIN)
    assert np.isinf(wrapped.decision_scores_).sum() == 15
    assert wrapped.anomaly_score([[100.0] * 4])[0] == np.inf
    assert np.isfinite(wrapped.anomaly_score([[1.0] * 4])[0])
    assert np.isfinite(wrapped.threshold_)
    np.testing.assert_array_equal(wrapped.predict_proba([[100.0] * 4]), [[0.0, 1.0]])


def test_finite_scores_among_many_minus_infinities_are_the_anomalies():
    def detector(X):
        scores = distance_to_origin(X)
        scores[scores < np.quantile(distance_to_origin(X_TRAIN), 0.95)] = -np.inf
        return scores

    with pytest.warns(UserWarning, match="infinite"):
        wrapped = CalibratedDetector(detector, polarity="higher", random_state=0).fit(X_TRAIN)
    np.testing.assert_array_equal(wrapped.labels_, np.isfinite(wrapped.decision_scores_))


def test_a_failed_refit_leaves_nothing_fitted():
    detector = CalibratedDetector(IsolationForest(), random_state=0).fit(X_TRAIN)
    with pytest.raises(ValueError, match="contains NaN"):
        detector.fit(np.full((5, 3), np.nan))
    with pytest.raises(NotFittedError):
        detector.anomaly_score(X_NEW)


def test_a_threshold_among_infinite_scores_is_still_a_number():
    def detector(X):
        scores = distance_to_origin(X)
        scores[scores > np.median(distance_to_origin(X_TRAIN))] = np.inf
        return scores

    with pytest.warns(UserWarning, match="infinite"):
        wrapped = CalibratedDetector(detector, polarity="higher", random_state=0).fit(X_TRAIN)
    infinite = np.isinf(wrapped.decision_scores_)
    assert infinite.sum() == 150
    assert wrapped.threshold_ == wrapped.decision_scores_[~infinite].max()
    np.testing.assert_array_equal(wrapped.labels_, infinite)
    np.testing.assert_array_equal(wrapped.predict([[100.0] * 4, [0.1] * 4]), [1, 0])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # PyOD's own, of a division by zero
@pytest.mark.parametrize("calibrator", [None, CTAD()])
def test_pyods_pca_on_a_constant_column_says_what_to_do(calibrator):
    train = np.c_[normal(300, 3), np.zeros(300)]
    assert np.isinf(PCA().fit(train).decision_scores_).all()
    with pytest.raises(
        ValueError, match=r"none of the 300 training scores is finite. .* drop them"
    ):
        CalibratedDetector(PCA(), calibrator, random_state=0).fit(train)


def test_a_detector_that_returns_nan_is_named():
    def broken(X):
        return np.where(np.arange(len(X)) == 3, np.nan, 1.0)

    with pytest.raises(ValueError, match=r"scores of broken: 1 of \d+ are NaN, the first at row 3"):
        CalibratedDetector(broken, polarity="higher").fit(X_TRAIN)


def test_a_detector_that_returns_another_shape_is_named():
    with pytest.raises(
        ValueError, match=r"scores of ravel must be one number per row|inconsistent"
    ):
        CalibratedDetector(np.ravel, polarity="higher").fit(X_TRAIN)
