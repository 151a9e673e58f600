"""A saved and loaded model gives the same scores, to the last bit."""

import importlib
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyod.models.iforest import IForest
from pyod.models.knn import KNN
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.covariance import EllipticEnvelope
from sklearn.decomposition import PCA
from sklearn.ensemble import IsolationForest
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import SGDOneClassSVM
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KernelDensity, LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    OneHotEncoder,
    QuantileTransformer,
    StandardScaler,
)
from sklearn.svm import OneClassSVM

from ctad import CTAD, CalibratedDetector, RelaxedCTAD
from ctad.calibration import CentroidDistance, MahalanobisDistance, TransportOnly
from ctad.errors import InputError
from ctad.persistence import ModelFileError, load, read_manifest
from ctad.persistence._allowed_types import PYOD

from .files import X_NEW, X_TRAIN, altered, contents, same

FRAME = pd.DataFrame(X_TRAIN, columns=list("abc")).assign(kind=["x", "y", "z"] * 20)
NEW_FRAME = pd.DataFrame(X_NEW, columns=list("abc")).assign(kind=["x", "y", "new", "z", "x"] * 5)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.ctad"


def saved(model, path):
    model.save(path)
    return load(path)


def fitted(detector, X=X_TRAIN, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return CalibratedDetector(detector, random_state=0, **parameters).fit(X)


def assert_same_detector(first, second, X=X_NEW):
    same(first.base_score(X), second.base_score(X))
    same(first.anomaly_score(X), second.anomaly_score(X))
    same(first.predict(X), second.predict(X))
    same(first.predict_proba(X), second.predict_proba(X))
    same(first.decision_scores_, second.decision_scores_)
    same(first.labels_, second.labels_)
    assert first.threshold_ == second.threshold_
    address = r" at 0x\w+"
    assert re.sub(address, "", repr(first)) == re.sub(address, "", repr(second))


COMMON = {
    "n_references": st.integers(1, 30),
    "weight": st.floats(0, 1e6),
    "n_draws": st.integers(1, 3),
    "score_scaling": st.sampled_from(["none", "unit", "standard", "robust"]),
    "n_jobs": st.sampled_from([None, -1, np.int64(2)]),
    "random_state": st.integers(0, 2**32 - 1),
}
calibrators = st.one_of(
    st.builds(
        CTAD,
        st.sampled_from([1, 2, 5, 7]),
        target=st.sampled_from(["uniform", "sizes", "free"]),
        signal=st.sampled_from(["total", "own"]),
        feature_scaling=st.sampled_from([None, "standard", "robust", "minmax"]),
        **COMMON,
    ),
    st.builds(
        RelaxedCTAD,
        st.sampled_from([5, 200]),
        feature_scaling=st.sampled_from([None, "standard", (None, "minmax")]),
        columns=st.sampled_from(["all", "random"]),
        rows_per_centroid=st.sampled_from([None, 3]),
        **COMMON,
    ),
    st.builds(RelaxedCTAD, cost=st.just("distance"), feature_scaling=st.just("minmax")),
    st.builds(
        CentroidDistance,
        st.integers(1, 5),
        score_scaling=st.sampled_from(["none", "robust"]),
    ),
    st.builds(TransportOnly, st.integers(1, 5)),
    st.builds(MahalanobisDistance, score_scaling=st.sampled_from(["none", "standard"])),
)


@given(calibrators)
@settings(max_examples=30)
def test_every_calibrator_is_restored(tmp_path_factory, calibrator):
    path = tmp_path_factory.getbasetemp() / "calibrator.ctad"
    calibrator.fit(X_TRAIN, scores=X_TRAIN[:, 0])
    loaded = saved(calibrator, path)
    assert type(loaded) is type(calibrator)
    assert loaded.get_params() == calibrator.get_params()
    same(loaded.delta(X_NEW), calibrator.delta(X_NEW))
    same(loaded.calibrate(X_NEW[:, 1], X_NEW), calibrator.calibrate(X_NEW[:, 1], X_NEW))


def test_a_calibrator_keeps_its_columns_and_missing_scaling(path):
    calibrator = CTAD(score_scaling="standard", random_state=np.random.RandomState(0))
    loaded = saved(calibrator.fit(FRAME[["a", "b"]]), path)
    assert loaded.feature_names_in_.tolist() == ["a", "b"]
    assert loaded.random_state is None
    same(loaded.references_, calibrator.references_)
    same(loaded.centroids_, calibrator.centroids_)
    with pytest.raises(ValueError, match="needs the detector's training scores"):
        loaded.calibrate(X_NEW[:, 0], X_NEW[:, :2])


CLASSICAL = sorted(
    PYOD
    - {
        "pyod.models.auto_encoder.AutoEncoder",  # neural network
        "pyod.models.deep_svdd.DeepSVDD",
        "pyod.models.kpca.PyODKernelPCA",  # part of another
        "pyod.models.mad.MAD",  # for one column
        *("pyod.models.rgraph.RGraph", "pyod.models.sod.SOD", "pyod.models.loci.LOCI"),  # slow
        *("pyod.models.abod.ABOD", "pyod.models.rod.ROD"),
    }
)


@pytest.mark.parametrize("name", CLASSICAL)
def test_detectors_of_pyod(name, path):
    module, _, cls = name.rpartition(".")
    options = {
        "CBLOF": {"alpha": 0.7, "beta": 1.1, "n_clusters": 3},
        "IForest": {"n_estimators": 10},
        "INNE": {"n_estimators": 10},
    }
    make = getattr(importlib.import_module(module), cls)
    detector = fitted(make(**options.get(cls, {})), calibrator=CTAD())
    assert_same_detector(detector, saved(detector, path))


def test_detector_for_one_column(path):
    mad = importlib.import_module("pyod.models.mad").MAD()
    detector = fitted(mad, X_TRAIN[:, :1])
    assert_same_detector(detector, saved(detector, path), X_NEW[:, :1])


SCIKIT_LEARN = {
    "IsolationForest": IsolationForest(n_estimators=10),
    "IsolationForest of some columns": IsolationForest(n_estimators=10, max_features=2),
    "OneClassSVM": OneClassSVM(),
    "OneClassSVM, linear": OneClassSVM(kernel="linear"),
    "LocalOutlierFactor": LocalOutlierFactor(novelty=True),
    "LocalOutlierFactor, ball tree": LocalOutlierFactor(
        novelty=True, algorithm="ball_tree", metric="manhattan"
    ),
    "LocalOutlierFactor, minkowski": LocalOutlierFactor(
        novelty=True, metric="minkowski", p=3, metric_params={"w": [1.0, 2.0, 3.0]}
    ),
    "LocalOutlierFactor, brute force": LocalOutlierFactor(
        novelty=True, algorithm="brute", metric="cosine"
    ),
    "KernelDensity": KernelDensity(),
    "EllipticEnvelope": EllipticEnvelope(),
    "GaussianMixture": GaussianMixture(2),
    "PCA": PCA(2),
    "Nystroem": make_pipeline(StandardScaler(), Nystroem(n_components=20), SGDOneClassSVM()),
    "QuantileTransformer": make_pipeline(
        FunctionTransformer(np.arctan), QuantileTransformer(n_quantiles=10), KernelDensity()
    ),
    "GridSearchCV": GridSearchCV(
        make_pipeline(StandardScaler(), KernelDensity()),
        {"kerneldensity__bandwidth": [0.1, 1.0], "standardscaler": [None, StandardScaler()]},
    ),
    "frozen": FrozenEstimator(IsolationForest(n_estimators=10).fit(X_TRAIN)),
    "random numbers": IsolationForest(n_estimators=3, random_state=np.random.RandomState(0)),
}


@pytest.mark.parametrize("what", SCIKIT_LEARN)
def test_detectors_of_scikit_learn(what, path):
    detector = fitted(SCIKIT_LEARN[what])
    loaded = saved(detector, path)
    assert_same_detector(detector, loaded)
    assert (loaded.detector is loaded.detector_) == (detector.detector is detector.detector_)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert np.isfinite(loaded.fit(X_TRAIN).anomaly_score(X_NEW)).all()  # trained once more


def test_equal_models_give_equal_files_except_for_the_time(tmp_path):
    for name in "ab":
        fitted(IsolationForest(n_estimators=3)).save(tmp_path / name)
    (first, first_entries), (second, second_entries) = (contents(tmp_path / n) for n in "ab")
    assert first_entries == second_entries
    assert {**first, "created": None} == {**second, "created": None}


def test_a_table_with_text_goes_through_the_encoder(path):
    detector = fitted(IsolationForest(n_estimators=10), FRAME, calibrator=CTAD())
    loaded = saved(detector, path)
    assert_same_detector(detector, loaded, NEW_FRAME)
    assert loaded.encoder_.features_ == detector.encoder_.features_
    manifest = read_manifest(path)
    assert [column["name"] for column in manifest["columns"]] == ["a", "b", "c", "kind"]
    assert manifest["training_rows"] == 60


def test_an_encoder_passed_by_the_user_is_restored(path):
    from ctad.tables import TableEncoder

    detector = fitted(KNN(), FRAME, encoder=TableEncoder(ignore=("c",), scaling="standard"))
    loaded = saved(detector, path)
    assert_same_detector(detector, loaded, NEW_FRAME.drop(columns="c"))


def test_a_pipeline_that_reads_frames_still_does(path):
    columns = ColumnTransformer(
        [
            ("kind", OneHotEncoder(handle_unknown="ignore", sparse_output=False), ["kind"]),
            ("first", SimpleImputer(add_indicator=True), slice(0, 2)),
            ("all", StandardScaler(), make_column_selector(dtype_include=float)),
        ]
    )
    detector = fitted(make_pipeline(columns, IsolationForest(n_estimators=5)), FRAME)
    assert_same_detector(detector, saved(detector, path), NEW_FRAME)


def rarely_finite(X):
    return np.where(X[:, 0] > np.sort(X_TRAIN[:, 0])[-4], X[:, 1], -np.inf)


def test_infinite_scores_are_restored(path):
    detector = fitted(rarely_finite, polarity="higher", calibrator=CTAD())
    assert detector.threshold_ == -np.inf
    detector.save(path)
    assert_same_detector(detector, load(path, detector=rarely_finite))


def last_column(X):
    return X[:, -1]


def test_a_wrapped_function_must_be_passed_again(path):
    detector = fitted(last_column, polarity="lower", calibrator=CTAD(target="sizes"))
    detector.save(path)
    assert read_manifest(path)["state"]["detector"]["function"] == "last_column"
    with pytest.raises(ModelFileError, match=r"function 'last_column'.* load\(path, detector="):
        load(path)
    with pytest.raises(ModelFileError, match="function 'last_column'"):
        load(path, detector="last_column")
    loaded = load(path, detector=last_column)
    assert loaded.detector is loaded.detector_ is last_column
    same(loaded.anomaly_score(X_NEW), detector.anomaly_score(X_NEW))


def test_a_function_that_is_not_needed_is_refused(path):
    fitted(OneClassSVM()).save(path)
    with pytest.raises(ValueError, match="contains its detector; do not pass detector="):
        load(path, detector=last_column)
    CTAD().fit(X_TRAIN).save(path)
    with pytest.raises(ValueError, match="contains its detector; do not pass detector="):
        load(path, detector=last_column)


class Distance:
    """A detector that ctad does not know."""

    def __init__(self, centre=0.0):
        self.centre = centre

    def fit(self, X, y=None):
        self.centre_ = X.mean(axis=0) + self.centre
        return self

    def get_params(self, deep=True):
        return {"centre": self.centre}

    def set_params(self, **parameters):
        vars(self).update(parameters)
        return self

    def decision_function(self, X):
        return np.abs(X - self.centre_).sum(axis=1)


def test_a_detector_of_the_user_needs_trust(path, monkeypatch):
    detector = fitted(Distance(), polarity="higher")
    name = f"{__name__}.Distance"
    with pytest.warns(UserWarning, match=rf"use load\(path, trusted=\['{name}'\]"):
        detector.save(path)
    with pytest.raises(ModelFileError, match=rf"not on ctad's list.*trusted=\['{name}'\]"):
        load(path)
    loaded = load(path, trusted=[name])
    assert isinstance(loaded.detector_, Distance)
    monkeypatch.delattr(f"{__name__}.Distance")
    with pytest.raises(
        ModelFileError, match=r"needs Distance, which module .* does not define here"
    ):
        load(path, trusted=[name])
    same(loaded.anomaly_score(X_NEW), detector.anomaly_score(X_NEW))
    with pytest.raises(TypeError, match="trusted must be a list"):
        load(path, trusted=name)


def test_a_function_inside_a_pipeline_needs_trust(path):
    detector = fitted(
        make_pipeline(FunctionTransformer(first_two), IsolationForest(n_estimators=5))
    )
    name = f"{__name__}.first_two"
    with pytest.warns(UserWarning, match=name):
        detector.save(path)
    with pytest.raises(ModelFileError, match=name):
        load(path)
    assert_same_detector(detector, load(path, trusted=[name]))


def first_two(X):
    return X[:, :2]


class Local:
    """Contains something that a model file cannot hold."""

    def __init__(self, kept):
        self.kept_ = kept

    def decision_function(self, X):
        return X[:, 0]


@pytest.mark.parametrize(
    "kept", [iter([]).__next__, (x for x in ()), first_two.__get__(1), lambda: 0, b"bytes"]
)
def test_objects_without_a_safe_form_cannot_be_saved(kept, path):
    detector = fitted(Local(kept), polarity="higher")
    with pytest.raises(InputError, match="Local cannot be saved: it contains"):
        detector.save(path)
    assert not path.exists()


def test_unfitted_models_cannot_be_saved(path):
    with pytest.raises(NotFittedError):
        CTAD().save(path)
    with pytest.raises(NotFittedError):
        CalibratedDetector(IForest()).save(path)
    assert not path.exists()


class MyCalibrator(CTAD):
    """A class of the user."""


class MyDetector(CalibratedDetector):
    """A class of the user."""


def test_classes_of_the_user_cannot_be_saved(path):
    with pytest.raises(InputError, match="MyCalibrator is not one of ctad's own calibrators"):
        MyCalibrator().fit(X_TRAIN).save(path)
    with pytest.raises(InputError, match="MyCalibrator is not one of ctad's own calibrators"):
        fitted(OneClassSVM(), calibrator=MyCalibrator()).save(path)
    inner = CalibratedDetector(OneClassSVM(), CTAD())
    with pytest.raises(InputError, match="a CalibratedDetector inside another cannot be saved"):
        fitted(inner, calibrator=CTAD()).save(path)
    with pytest.raises(InputError, match="MyDetector cannot be saved"):
        MyDetector(OneClassSVM()).fit(X_TRAIN).save(path)


def test_parameters_without_a_plain_form_are_refused(path):
    calibrator = CTAD(random_state=0).fit(X_TRAIN)
    calibrator.random_state = object()
    with pytest.raises(InputError, match=r"parameter random_state=.* cannot be saved"):
        calibrator.save(path)
    calibrator = CTAD().fit(X_TRAIN).set_params(weight=-1.0)
    with pytest.raises(ValueError, match="weight"):
        calibrator.save(path)


def test_other_versions_are_named_in_a_warning(path):
    fitted(KNN()).save(path)
    manifest, _ = contents(path)
    versions = {**manifest["versions"], "scikit-learn": "1.6.0", "pyod": "2.0.0", "numpy": "1.26"}
    altered(path, path, {"versions": versions})
    with pytest.warns(UserWarning, match=r"written with scikit-learn 1.6.0 \(here .*pyod 2.0.0"):
        load(path)
    fitted(OneClassSVM()).save(path)
    load(altered(path, path, {"versions": {**manifest["versions"], "pyod": "2.0.0"}}))
    CTAD().fit(X_TRAIN).save(path)
    load(altered(path, path, {"versions": {"scikit-learn": "1.6.0"}}))


def test_a_library_that_is_not_installed_has_no_version(path, monkeypatch):
    monkeypatch.setattr("ctad._library_versions.LIBRARIES", ("numpy", "no-such-library"))
    CTAD().fit(X_TRAIN).save(path)
    versions = read_manifest(path)["versions"]
    assert versions.keys() == {"python", "numpy", "no-such-library"}
    assert versions["no-such-library"] is None


def test_the_cache_folder_of_a_pipeline_is_not_saved(path, tmp_path):
    pipeline = make_pipeline(StandardScaler(), OneClassSVM(), memory=str(tmp_path / "cache"))
    loaded = saved(fitted(pipeline), path)
    assert loaded.detector.memory is loaded.detector_.memory is None


def test_a_file_stays_if_saving_over_it_fails(path):
    CTAD(random_state=0).fit(X_TRAIN).save(path)
    before = path.read_bytes()
    with pytest.raises(InputError, match="cannot be saved"):
        fitted(Local(lambda: 0), polarity="higher").save(path)
    assert path.read_bytes() == before
