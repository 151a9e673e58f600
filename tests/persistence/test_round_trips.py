"""A saved and loaded model gives the same scores, to the last bit."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from pyod.models.iforest import IForest
from pyod.models.knn import KNN
from pyod.models.mad import MAD
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
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import (
    FunctionTransformer,
    OneHotEncoder,
    QuantileTransformer,
    SplineTransformer,
    StandardScaler,
)
from sklearn.svm import OneClassSVM

from ctad import CTAD, CalibratedDetector
from ctad.calibration import CentroidDistance
from ctad.errors import InputError
from ctad.persistence import ModelFileError, load, read_manifest
from ctad.tables import TableEncoder

from .files import X_NEW, X_TRAIN, altered, contents, same, sign

TABLE = pd.DataFrame(X_TRAIN, columns=list("abc")).assign(kind=["x", "y", "z"] * 20)
NEW_TABLE = pd.DataFrame(X_NEW, columns=list("abc")).assign(kind=["x", "y", "new", "z", "x"] * 5)
FOREST = IsolationForest(n_estimators=5, random_state=0)
KINDS = OneHotEncoder(handle_unknown="ignore", sparse_output=False)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.ctad"


def saved(model, path):
    model.save(path)
    return load(path)


def fitted(detector, X=X_TRAIN, **parameters):
    parameters = {"calibrator": CentroidDistance(3, random_state=0), **parameters}
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


# Detectors and pipelines -------------------------------------------------------------------------

DETECTORS = {
    "IsolationForest of some columns": IsolationForest(n_estimators=5, max_features=2),
    "OneClassSVM": OneClassSVM(kernel="linear"),
    "LocalOutlierFactor": LocalOutlierFactor(novelty=True, algorithm="ball_tree", metric="l1"),
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
    "pipeline of PyOD": make_pipeline(StandardScaler(), "passthrough", KNN()),
    "union": make_pipeline(make_union(StandardScaler(), PCA(1)), OneClassSVM()),
    "pipeline that ends in PCA": make_pipeline(StandardScaler(), PCA(2)),
    "frozen": FrozenEstimator(IsolationForest(n_estimators=5).fit(X_TRAIN)),
    "frozen step": make_pipeline(FrozenEstimator(StandardScaler().fit(X_TRAIN)), FOREST),
}


@pytest.mark.parametrize("what", DETECTORS)
def test_detectors_and_pipelines(what, path):
    detector = fitted(DETECTORS[what])
    loaded = saved(detector, path)
    assert_same_detector(detector, loaded)
    assert (loaded.detector is loaded.detector_) == (detector.detector is detector.detector_)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert np.isfinite(loaded.fit(X_TRAIN).anomaly_score(X_NEW)).all()  # trained once more


def test_a_random_generator_is_not_saved(path):
    forest = IsolationForest(n_estimators=3, random_state=np.random.RandomState(0))
    detector = fitted(forest)
    loaded = saved(detector, path)
    assert loaded.detector.random_state is loaded.detector_.random_state is None
    same(loaded.anomaly_score(X_NEW), detector.anomaly_score(X_NEW))


def test_detector_for_one_column(path):
    detector = fitted(MAD(), X_TRAIN[:, :1])
    assert_same_detector(detector, saved(detector, path), X_NEW[:, :1])


def test_equal_models_give_equal_files_except_for_the_time(tmp_path):
    for name in "ab":
        fitted(make_pipeline(StandardScaler(), FOREST)).save(tmp_path / name)
    (first, first_entries), (second, second_entries) = (contents(tmp_path / n) for n in "ab")
    assert first_entries == second_entries
    assert {**first, "created": None} == {**second, "created": None}


def test_the_cache_folder_of_a_pipeline_is_not_saved(path, tmp_path):
    pipeline = make_pipeline(StandardScaler(), OneClassSVM(), memory=str(tmp_path / "cache"))
    loaded = saved(fitted(pipeline), path)
    assert loaded.detector.memory is loaded.detector_.memory is None


# Tables ------------------------------------------------------------------------------------------


def test_a_table_with_text_goes_through_the_encoder(path):
    detector = fitted(FOREST, TABLE, calibrator=CTAD(random_state=0))
    loaded = saved(detector, path)
    assert_same_detector(detector, loaded, NEW_TABLE)
    assert loaded.encoder_.features_ == detector.encoder_.features_
    encoder = read_manifest(path)["model"]["fitted"]["encoder_"]
    names = [column["name"] for column in encoder["fitted"]["columns"]]
    assert names == ["a", "b", "c", "kind"]


def test_an_encoder_passed_by_the_user_is_restored(path):
    detector = fitted(KNN(), TABLE, encoder=TableEncoder(ignore=("c",), scaling="standard"))
    loaded = saved(detector, path)
    assert_same_detector(detector, loaded, NEW_TABLE.drop(columns="c"))


TABLE_PIPELINES = {
    "by name, position and type": ColumnTransformer(
        [
            ("kind", KINDS, ["kind"]),
            ("first", SimpleImputer(add_indicator=True), slice(0, 2)),
            ("all", StandardScaler(), make_column_selector(dtype_include=float)),
        ]
    ),
    "with the rest, as tables": ColumnTransformer(
        [("kind", KINDS, ["kind"])], remainder="passthrough"
    ).set_output(transform="pandas"),
    "with pipelines, sparse": ColumnTransformer(
        [
            (
                "kind",
                make_pipeline(
                    SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore")
                ),
                ["kind"],
            ),
            ("numbers", make_pipeline(SimpleImputer(), StandardScaler()), ["c", "a"]),
        ],
        sparse_threshold=1.0,
    ),
    "of an encoder": TableEncoder(),
}


@pytest.mark.parametrize("what", TABLE_PIPELINES)
def test_a_pipeline_that_reads_tables_still_does(what, path):
    detector = fitted(make_pipeline(TABLE_PIPELINES[what], FOREST), TABLE)
    assert_same_detector(detector, saved(detector, path), NEW_TABLE)


# Functions ---------------------------------------------------------------------------------------


def rarely_finite(X):
    return np.where(X[:, 0] > np.sort(X_TRAIN[:, 0])[-4], X[:, 1], -np.inf)


def test_infinite_scores_are_restored(path):
    detector = fitted(rarely_finite, polarity="higher")
    assert detector.threshold_ == -np.inf
    detector.save(path)
    assert_same_detector(detector, load(path, detector=rarely_finite))


def last_column(X):
    return X[:, -1]


def test_a_wrapped_function_must_be_passed_again(path):
    detector = fitted(last_column, polarity="lower")
    detector.save(path)
    stored = read_manifest(path)["model"]["fitted"]["detector_"]
    assert stored == {"function": "last_column"}
    for other in (None, "last_column", IsolationForest()):
        with pytest.raises(
            ModelFileError, match=r"function 'last_column'.* detector=function\) in"
        ):
            load(path, detector=other)
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


# Types without a description ---------------------------------------------------------------------


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


DISTANCE = f"{__name__}.Distance"


def test_a_detector_of_the_user_needs_trust_on_both_sides(path, monkeypatch):
    detector = fitted(Distance(), polarity="higher")
    with pytest.raises(InputError, match=rf"save\(path, trusted=\['{DISTANCE}'\]\).* can run code"):
        detector.save(path)
    assert not path.exists()
    with pytest.raises(TypeError, match="trusted must be a list"):
        detector.save(path, trusted=DISTANCE)
    detector.save(path, trusted=[DISTANCE])
    with pytest.raises(ModelFileError, match=rf"can run code.*load\(path, trusted=\['{DISTANCE}'"):
        load(path)
    loaded = load(path, trusted=[DISTANCE])
    assert isinstance(loaded.detector_, Distance)
    assert_same_detector(detector, loaded)
    with pytest.raises(TypeError, match="trusted must be a list"):
        load(path, trusted=DISTANCE)
    manifest, entries = contents(path)
    sign(path, {**manifest, "trusted": []}, entries)
    with pytest.raises(ModelFileError, match="does not list the types of its objects"):
        read_manifest(path)
    sign(path, manifest, entries)
    monkeypatch.delattr(DISTANCE)
    with pytest.raises(ModelFileError, match=r"was not loaded: .*Distance"):
        load(path, trusted=[DISTANCE])


def first_two(X):
    return X[:, :2]


def test_a_function_inside_a_pipeline_is_refused(path):
    detector = fitted(make_pipeline(FunctionTransformer(first_two), FOREST))
    with pytest.raises(InputError, match=r"steps\[0\].*FunctionTransformer.*'first_two' is not"):
        detector.save(path)
    assert not path.exists()


class FirstTwo(Distance):
    """A transformer that ctad does not know."""

    def transform(self, X):
        return X[:, :2]


def test_a_step_of_the_user_needs_trust(path):
    detector = fitted(make_pipeline(FirstTwo(), StandardScaler(), FOREST))
    name = f"{__name__}.FirstTwo"
    with pytest.raises(InputError, match=name):
        detector.save(path)
    detector.save(path, trusted=[name])
    assert read_manifest(path)["trusted"] == [name]
    with pytest.raises(ModelFileError, match=name):
        load(path)
    assert_same_detector(detector, load(path, trusted=[name]))


class Halved(Distance):
    """Another one."""

    def transform(self, X):
        return X / 2


def test_all_types_that_need_trust_are_named_at_once(path):
    detector = fitted(make_pipeline(FirstTwo(), Halved(), FOREST))
    names = [f"{__name__}.FirstTwo", f"{__name__}.Halved"]
    with pytest.raises(InputError) as error:
        detector.save(path)
    assert f"trusted={names}" in str(error.value)
    with pytest.raises(InputError, match=r"Halved cannot be saved"):
        detector.save(path, trusted=names[:1])
    detector.save(path, trusted=names)
    assert_same_detector(detector, load(path, trusted=names))


def test_a_search_is_refused_and_its_result_is_saved(path):
    search = GridSearchCV(
        make_pipeline(StandardScaler(), KernelDensity()),
        {"kerneldensity__bandwidth": [0.1, 1.0], "standardscaler": [None, StandardScaler()]},
    )
    with pytest.raises(InputError, match=r"GridSearchCV .* Wrap the best_estimator_ of the search"):
        fitted(search).save(path)
    detector = fitted(search.fit(X_TRAIN).best_estimator_)
    assert_same_detector(detector, saved(detector, path))


class Local:
    """Contains something that a model file cannot hold."""

    def __init__(self, kept):
        self.kept_ = kept

    def decision_function(self, X):
        return X[:, 0]


@pytest.mark.parametrize(
    ("kept", "type_name"),
    [
        (iter([]).__next__, "builtins.method-wrapper"),
        ((x for x in ()), "builtins.generator"),
        (first_two.__get__(1), "builtins.method"),
        (lambda: 0, f"{__name__}.<lambda>"),
    ],
)
def test_objects_without_a_form_cannot_be_saved_whatever_the_trust(kept, type_name, path):
    detector = fitted(Local(kept), polarity="higher")
    with pytest.raises(InputError, match="cannot be saved"):
        detector.save(path, trusted=[type_name, f"{__name__}.Local"])
    assert not path.exists()


class MyCalibrator(CTAD):
    """A class of the user."""


class MyDetector(CalibratedDetector):
    """A class of the user."""


def test_classes_of_the_user_cannot_be_saved(path):
    with pytest.raises(InputError, match=r"MyCalibrator cannot be saved: .* no description"):
        MyCalibrator().fit(X_TRAIN).save(path)
    with pytest.raises(InputError, match=r"MyCalibrator cannot be saved: .* no description"):
        fitted(OneClassSVM(), calibrator=MyCalibrator()).save(path)
    with pytest.raises(InputError, match="MyDetector cannot be saved"):
        MyDetector(OneClassSVM()).fit(X_TRAIN).save(path)
    inner = CalibratedDetector(OneClassSVM(), CTAD())
    with pytest.raises(InputError, match="CalibratedDetector cannot be stored here"):
        fitted(inner).save(path)
    assert not path.exists()


def test_subclasses_are_other_types(path):
    class MyForest(IsolationForest):
        """A class of the user."""

    with pytest.raises(InputError, match="MyForest cannot be saved"):
        fitted(make_pipeline(StandardScaler(), MyForest(n_estimators=2))).save(path)


# What cannot be saved ----------------------------------------------------------------------------


def test_unfitted_models_cannot_be_saved(path):
    with pytest.raises(NotFittedError):
        CTAD().save(path)
    with pytest.raises(NotFittedError):
        CalibratedDetector(IForest()).save(path)
    assert not path.exists()


def test_parameters_that_are_not_described_are_refused(path):
    calibrator = CTAD(random_state=0).fit(X_TRAIN)
    calibrator.random_state = object()
    with pytest.raises(InputError, match=r"CTAD cannot be saved: .*random_state"):
        calibrator.save(path)
    calibrator = CTAD().fit(X_TRAIN).set_params(weight=-1.0)
    with pytest.raises(InputError, match="weight"):
        calibrator.save(path)


def test_what_would_not_be_loaded_is_not_saved(path):
    splines = SplineTransformer(degree=0)  # scikit-learn cannot extrapolate them
    detector = fitted(make_pipeline(splines, FOREST))
    with pytest.raises(InputError, match=r"SplineTransformer.*degree: 0"):
        detector.save(path)
    assert not path.exists()


def test_a_file_stays_if_saving_over_it_fails(path):
    CTAD(random_state=0).fit(X_TRAIN).save(path)
    before = path.read_bytes()
    with pytest.raises(InputError, match="cannot be saved"):
        fitted(Local(lambda: 0), polarity="higher").save(path)
    assert path.read_bytes() == before


# Versions ----------------------------------------------------------------------------------------


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
