"""Detectors of any kind: their scores, their errors, and whether they depend on the batch."""

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
from pyod.models.iforest import IForest
from pyod.models.knn import KNN
from pyod.models.pca import PCA
from sklearn.decomposition import TruncatedSVD
from sklearn.ensemble import IsolationForest
from sklearn.frozen import FrozenEstimator
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ctad import CTAD, CalibratedDetector
from ctad.errors import DetectorError, InputError
from ctad.wrapper import DetectorAdapter, scoring_method
from ctad.wrapper._detector_adapter import fit_detector, is_fitted, was_trained_on

from ..data import clusters, normal
from .detectors import ALL, ALL_BUT_ECOD, PYOD, DistanceToMean, distance_to_origin

X_TRAIN = clusters()
X_NEW = np.vstack([clusters(seed=1)[:30], normal(10, 4, seed=2) * 30])


# Scores


@pytest.mark.parametrize("name", ALL)
def test_scores_are_the_detectors_own_with_higher_as_more_anomalous(name):
    detector = ALL[name]().fit(X_TRAIN)
    scores = DetectorAdapter.fitted(detector, X_TRAIN).score(X_NEW)
    own = detector.decision_function(X_NEW) if name in PYOD else -detector.score_samples(X_NEW)
    np.testing.assert_allclose(scores, own, rtol=1e-9)
    assert scores[30:].min() > scores[:30].mean()


@pytest.mark.parametrize(
    "detector", [IForest(5, random_state=0), IsolationForest(n_estimators=5, random_state=0)]
)
def test_scores_inside_pipelines_and_searches(detector):
    scaler = StandardScaler().fit(X_TRAIN)
    alone = detector.fit(scaler.transform(X_TRAIN))
    expected = DetectorAdapter.fitted(alone, X_TRAIN).score(scaler.transform(X_NEW))
    pipeline = make_pipeline(StandardScaler(), detector)
    search = GridSearchCV(pipeline, {}, scoring=lambda *_: 0.0, cv=2)
    for wrapped in (pipeline, search):
        adapter = DetectorAdapter.fitted(wrapped.fit(X_TRAIN), X_TRAIN)
        np.testing.assert_allclose(adapter.score(X_NEW), expected)
        assert adapter.name == type(detector).__name__
        assert type(adapter.final_step) is type(detector)


def test_functions_are_scored_by_calling_them():
    scoring = scoring_method(distance_to_origin, "lower")
    adapter = DetectorAdapter.fitted(distance_to_origin, X_TRAIN, scoring)
    np.testing.assert_array_equal(adapter.score(X_NEW), -distance_to_origin(X_NEW))
    assert adapter.name == "distance_to_origin"


@pytest.mark.parametrize(
    ("detector", "method", "sign"),
    [(KNN(), "fit", 1.0), (KNN(), "decision_function", 2.0), (KNN(), "score_samples", 1.0)],
)
def test_methods_and_signs_that_do_not_exist_are_refused(detector, method, sign):
    with pytest.raises(InputError, match=r"no scoring method|KNN has no method score_samples\(\)"):
        DetectorAdapter(detector, method, sign)


class FlippedLOF(LocalOutlierFactor):
    def score_samples(self, X):
        return -super().score_samples(X)


def test_training_scores_that_a_detector_keeps():
    """KNN leaves out the row itself in `decision_scores_`, not in `decision_function`."""
    knn = DetectorAdapter.fitted(KNN().fit(X_TRAIN), X_TRAIN)
    np.testing.assert_array_equal(knn.kept_training_scores(), knn.detector.decision_scores_)
    assert not np.allclose(knn.score(X_TRAIN), knn.kept_training_scores())
    lof = DetectorAdapter.fitted(LocalOutlierFactor(novelty=True).fit(X_TRAIN), X_TRAIN)
    np.testing.assert_array_equal(
        lof.kept_training_scores(), -lof.detector.negative_outlier_factor_
    )
    for other in (DistanceToMean().fit(X_TRAIN), FlippedLOF(novelty=True).fit(X_TRAIN)):
        scoring = scoring_method(other, "higher")
        assert DetectorAdapter.fitted(other, X_TRAIN, scoring).kept_training_scores() is None


def test_scores_that_are_nan_or_of_another_shape_are_refused():
    def broken(X):
        return np.where(np.arange(len(X)) == 3, np.nan, 1.0)

    for detector, message in (
        (broken, r"scores of broken: 1 of \d+ are NaN, the first at row 3"),
        (np.ravel, "inconsistent numbers of samples"),
        (np.asarray, "scores of asarray must be one number per row, got shape"),
    ):
        with pytest.raises(InputError, match=message):
            DetectorAdapter.fitted(detector, X_TRAIN, scoring_method(detector, "higher"))


# Errors


class Fails(DistanceToMean):
    """A detector whose fit or scores raise an error."""

    def __init__(self, fit=None, score=None):
        self.errors = fit, score

    def fit(self, X):
        if self.errors[0] is not None:
            raise self.errors[0]
        return super().fit(X)

    def decision_function(self, X):
        if self.errors[1] is not None:
            raise self.errors[1]
        return super().decision_function(X)


ABOUT_ROWS = [
    ValueError("bad value"),
    TypeError("bad type"),
    ZeroDivisionError("division"),
    np.linalg.LinAlgError("singular matrix"),
    IndexError("out of range"),
    RuntimeError("no convergence"),
]
NOT_ABOUT_ROWS = [
    InputError("column 'a' is wrong"),
    MemoryError(),
    OSError("disk full"),
    ImportError("no torch"),
    KeyboardInterrupt(),
]


@pytest.mark.parametrize("error", ABOUT_ROWS, ids=lambda error: type(error).__name__)
def test_errors_of_a_detector_name_it_and_its_rows(error):
    where = rf"rows of shape \(300, 4\): {type(error).__name__}: {error}"
    with pytest.raises(DetectorError, match=f"Fails failed to fit {where}") as caught:
        CalibratedDetector(Fails(fit=error), polarity="higher").fit(X_TRAIN)
    assert type(caught.value.__cause__) is type(error)
    with pytest.raises(DetectorError, match=f"Fails failed to score {where}") as caught:
        CalibratedDetector(Fails(score=error), polarity="higher").fit(X_TRAIN)
    assert type(caught.value.__cause__) is type(error)


@pytest.mark.parametrize("error", NOT_ABOUT_ROWS, ids=lambda error: type(error).__name__)
def test_errors_that_are_not_about_rows_pass_unchanged(error):
    for detector in (Fails(fit=error), Fails(score=error)):
        with pytest.raises(type(error)) as caught:
            CalibratedDetector(detector, polarity="higher").fit(X_TRAIN)
        assert repr(caught.value) == repr(error)  # the detector is cloned, so it is a copy


def test_errors_of_a_real_detector():
    with pytest.raises(DetectorError, match=r"KNN failed to fit rows of shape \(3, 4\): .*n_neigh"):
        fit_detector(KNN(n_neighbors=5), X_TRAIN[:3])
    adapter = DetectorAdapter.fitted(KNN().fit(X_TRAIN), X_TRAIN)
    with pytest.raises(DetectorError, match=r"KNN failed to score rows of shape \(40, 3\)"):
        adapter.score(X_NEW[:, :3])


def test_warnings_as_errors_stay_warnings():
    def warns(X):
        warnings.warn("of the detector", UserWarning, stacklevel=1)

    with pytest.raises(UserWarning, match="of the detector"):
        DetectorAdapter(warns, "", 1.0).score(X_NEW)


# Fitted or not


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


class OwnKNN(KNN):
    def decision_function(self, X):
        return super().decision_function(X)


def test_fitted_detectors_are_recognised():
    scaler, forest = StandardScaler().fit(X_TRAIN), IForest(5).fit(X_TRAIN)
    fitted = [
        forest,
        FrozenEstimator(forest),
        FrozenEstimator(IForest()),
        make_pipeline(scaler, forest),
        DistanceToMean().fit(X_TRAIN),
        SaysItself().fit(X_TRAIN),
        distance_to_origin,
    ]
    assert all(map(is_fitted, fitted))


def test_detectors_with_fitted_parts_are_not_fitted():
    """PyOD's KNN has `neigh_` from the start."""
    search = GridSearchCV(KNN().fit(X_TRAIN), {}, scoring=lambda *_: 0.0, cv=2)
    pipeline = make_pipeline(StandardScaler(), IForest(5).fit(X_TRAIN))
    for unfitted in (OwnKNN(), search, pipeline, SaysItself(), WithSlots(), NoneAtFirst()):
        assert not is_fitted(unfitted)


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


def test_neighbour_searches_know_their_training_rows():
    knn = KNN().fit(X_TRAIN)
    assert was_trained_on(knn, X_TRAIN)
    assert not was_trained_on(knn, X_TRAIN[::-1])
    assert not was_trained_on(IForest(5).fit(X_TRAIN), X_TRAIN)


# Scores do not depend on the batch


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
# Wide rows where products are wide, and for the others narrow ones.
WIDE = {"PCA", "EllipticEnvelope", "GaussianMixture", "pipeline", "function", "OneClassSVM", "KNN"}


@pytest.mark.parametrize("name", INDEPENDENT)
def test_scores_do_not_depend_on_the_batch(name):
    n_columns = 100 if name in WIDE else 4
    train, rows = normal(400, n_columns), normal(800, n_columns, seed=1) * 2
    polarity = "higher" if name == "function" else "auto"
    detector = CalibratedDetector(INDEPENDENT[name](), CTAD(), polarity=polarity, random_state=0)
    detector.fit(train)
    assert not detector.batch_dependent_
    together = detector.anomaly_score(rows)
    for size, n_batches in ((1, 8), (2, 5), (7, 5), (255, 3), (256, 3), (257, 3)):
        for start in range(0, n_batches * size, size):
            part = slice(start, start + size)
            np.testing.assert_array_equal(detector.anomaly_score(rows[part]), together[part])
    order = np.random.default_rng(2).permutation(len(rows))
    np.testing.assert_array_equal(detector.anomaly_score(rows[order]), together[order])
    np.testing.assert_array_equal(detector.anomaly_score(np.asfortranarray(rows)), together)
    detector.calibrator_.set_params(n_jobs=2)
    np.testing.assert_array_equal(detector.anomaly_score(rows), together)


def test_a_batch_dependent_detector_is_named_in_one_warning():
    with pytest.warns(UserWarning, match="ECOD scores a row differently") as caught:
        detector = CalibratedDetector(ECOD(), CTAD(), random_state=0).fit(X_TRAIN)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    # Its rows are scored in one call, as without the wrapper.
    np.testing.assert_allclose(
        detector.base_score(X_NEW), ECOD().fit(X_TRAIN).decision_function(X_NEW)
    )


def test_forests_do_not_depend_on_threads():
    forest = IsolationForest(n_estimators=30, random_state=0).fit(X_TRAIN)
    adapter, rows = DetectorAdapter.fitted(forest, X_TRAIN), normal(2000, 4)
    alone = adapter.score(rows)
    with parallel_config("threading", n_jobs=2):
        for _ in range(3):
            np.testing.assert_array_equal(adapter.score(rows), alone)


@pytest.mark.parametrize(
    "detector", [KNN(n_neighbors=100), LocalOutlierFactor(100, novelty=True), PCA()]
)
def test_memory_does_not_grow_with_the_rows(detector, monkeypatch):
    """They need no fixed batches, but keep numbers for each neighbour or component of a row."""
    adapter = DetectorAdapter.fitted(detector.fit(X_TRAIN), X_TRAIN)
    rows = clusters(1000, seed=2)
    together = adapter.score(rows)
    monkeypatch.setattr("ctad.wrapper._detector_adapter.NUMBERS_AT_ONCE", 2000)
    called, score = [], adapter._score_in_one_call

    def counted(_, X):
        called.append(len(X))
        return score(X)

    monkeypatch.setattr(DetectorAdapter, "_score_in_one_call", counted)
    np.testing.assert_array_equal(adapter.score(rows), together)
    assert max(called) <= (500 if isinstance(detector, PCA) else 20)
    assert sum(called) == 1000


def adapter_of(function):
    return DetectorAdapter.fitted(function, X_TRAIN, scoring_method(function, "higher"))


def test_rounding_in_single_precision_is_not_batch_dependence():
    random = np.random.default_rng(0)
    weights = [random.normal(size=s).astype(np.float32) for s in ((4, 512), (512, 512), (512, 4))]

    def network(X):
        hidden = np.asarray(X, dtype=np.float32)
        for matrix in weights:
            hidden = np.tanh(hidden @ matrix / 20)
        return np.linalg.norm(X - hidden, axis=1)

    assert not adapter_of(network).batch_dependent


def test_a_detector_that_cannot_score_few_rows_is_batch_dependent():
    adapter = DetectorAdapter.fitted(COF().fit(X_TRAIN), X_TRAIN)
    assert adapter.batch_dependent
    assert np.isfinite(adapter.score(X_TRAIN)).all()


@pytest.mark.parametrize(
    "relative_score",
    [
        lambda X: np.abs(np.diff(X[:, 0], prepend=X[0, 0])),
        lambda X: np.argsort(np.argsort(X[:, 0])).astype(float),
        lambda X: (X[:, 0] - X[:, 0].min()) / np.ptp(X[:, 0]),
        lambda X: np.where(np.arange(len(X)) == 9, np.inf, X[:, 0]),
    ],
    ids=["difference", "rank", "min-max", "infinite"],
)
def test_scores_relative_to_the_batch_are_noticed(relative_score):
    rows = X_TRAIN[np.argsort(X_TRAIN[:, 0])]  # the first row is the smallest in any batch
    scoring = scoring_method(relative_score, "higher")
    assert DetectorAdapter.fitted(relative_score, rows, scoring).batch_dependent
