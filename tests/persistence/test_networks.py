"""Neural detectors of PyOD and ctad in model files. `test_descriptions.py` alters every value."""

import copy
import os
import random

import numpy as np
import pytest
import torch
from pyod.models.auto_encoder import AutoEncoder
from pyod.models.deep_svdd import DeepSVDD
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ctad import CalibratedDetector
from ctad.calibration import CentroidDistance
from ctad.errors import InputError
from ctad.persistence import ModelFileError, load
from ctad.persistence._arrays import array_to_bytes
from ctad.persistence._kinds import NotDescribedError

from ..detectors.small import SMALL, SMALL_OF_PYOD, small
from .files import X_NEW, X_TRAIN, contents, same, sign
from .stored import restore, store

pytestmark = pytest.mark.slow


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.ctad"


def deep_svdd(**options):
    options = {"hidden_neurons": [8, 4], "epochs": 2, "verbose": 0, "random_state": 0} | options
    return DeepSVDD(3, **options)


def auto_encoder(**options):
    options = {"hidden_neuron_list": [8, 2], "epoch_num": 2, "verbose": 0} | options
    return AutoEncoder(**options)


def global_random_state():
    return (
        torch.get_rng_state().tolist(),
        str(np.random.get_state()),  # noqa: NPY002
        random.getstate(),
        os.environ.get("PYTHONHASHSEED"),
    )


WRAPPED = {
    "DeepSVDD of PyOD": deep_svdd,
    "AutoEncoder of PyOD": auto_encoder,
    "DRL": lambda: small("DRL"),
    "DeepSVDD of PyOD in a pipeline": lambda: make_pipeline(StandardScaler(), deep_svdd()),
    "DRL in a pipeline": lambda: make_pipeline(StandardScaler(), small("DRL")),
    "frozen DRL": lambda: FrozenEstimator(small("DRL").fit(X_TRAIN)),
    "AutoEncoder of ctad": lambda: small("AutoEncoder"),
}


@pytest.mark.parametrize("what", WRAPPED)
def test_networks_in_calibrated_detectors_are_restored(what, path):
    fitted = CalibratedDetector(WRAPPED[what](), CentroidDistance(), random_state=0).fit(X_TRAIN)
    fitted.save(path)
    before = global_random_state()
    loaded = load(path)
    assert global_random_state() == before
    same(loaded.base_score(X_NEW), fitted.base_score(X_NEW))
    same(loaded.anomaly_score(X_NEW), fitted.anomaly_score(X_NEW))
    again = loaded.fit(X_TRAIN)  # can be trained again
    assert np.isfinite(again.anomaly_score(X_NEW)).all()


@pytest.fixture(params=[*SMALL, *SMALL_OF_PYOD])
def own(request, path):
    """One of ctad's detectors, saved alone."""
    detector = small(request.param).fit(X_TRAIN)
    detector.save(path)
    return detector


def test_a_detector_saved_alone_is_restored(own, path):
    before = global_random_state()
    loaded = load(path)
    assert global_random_state() == before
    assert type(loaded) is type(own)
    assert loaded.get_params() == own.get_params()
    assert {name: type(value) for name, value in loaded.get_params().items()} == {
        name: type(value) for name, value in own.get_params().items()
    }
    for method in ("decision_function", "predict", "predict_proba"):
        same(getattr(loaded, method)(X_NEW), getattr(own, method)(X_NEW))
    same(loaded.decision_scores_, own.decision_scores_)
    same(loaded.labels_, own.labels_)
    assert loaded.threshold_ == own.threshold_
    assert getattr(loaded, "loss_curve_", None) == getattr(own, "loss_curve_", None)
    same(loaded.fit(X_TRAIN).decision_function(X_NEW), own.decision_function(X_NEW))


def test_its_file_consists_of_a_manifest_and_arrays(own, path):
    manifest, entries = contents(path)
    assert {name.rpartition(".")[2] for name in entries} == {"npy"}
    assert manifest["model"]["type"].endswith(f".{type(own).__name__}")
    network = getattr(own, "network_", None) or getattr(own, "model_", None) or own.model
    assert list(manifest["model"]["fitted"]["weights"]) == list(network.state_dict())


def test_weights_and_buffers_keep_their_types(path):
    detector = small("AutoEncoder").fit(X_TRAIN)
    detector.save(path)
    loaded = load(path)
    assert not loaded.model.training
    before, after = detector.model.state_dict(), loaded.model.state_dict()
    assert list(before) == list(after)
    for name, tensor in before.items():
        assert tensor.dtype == after[name].dtype
        assert torch.equal(tensor, after[name])
    trainable = {name: weights.requires_grad for name, weights in loaded.model.named_parameters()}
    assert set(trainable.values()) == {True}


def test_networks_of_pyod_are_saved_inside_a_calibrated_detector_only(path):
    from ctad.persistence import save

    with pytest.raises(InputError, match="cannot be stored here"):
        save(deep_svdd().fit(X_TRAIN), path)


@pytest.mark.filterwarnings("ignore:`torch.jit.script_method` is deprecated")
def test_a_compiled_network_is_stored_without_its_compilation():
    detector = auto_encoder().fit(X_TRAIN)
    again, compiled = restore(*store(detector)), auto_encoder().fit(X_TRAIN)
    compiled.model = torch.compile(compiled.model)  # compiles when it is called
    stored, entries = store(compiled)
    assert list(stored["fitted"]["weights"]) == list(detector.model.state_dict())
    same(restore(stored, entries).decision_function(X_NEW), again.decision_function(X_NEW))


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
@pytest.mark.parametrize("name", ["DRL", "AutoEncoder"])
def test_a_detector_trained_on_another_device_scores_here(name, path):
    detector = small(name).fit(X_TRAIN)
    expected = detector.decision_function(X_NEW)
    detector.device = "cuda"  # as if it had been trained so
    detector.save(path)
    same(load(path).decision_function(X_NEW), expected)


def test_an_unfitted_network_of_a_failed_fit_cannot_be_stored():
    detector = small("DRL").fit(X_TRAIN)
    del detector.network_
    with pytest.raises(NotDescribedError, match="weights: missing"):
        store(detector)


# Sizes that are not those of the weights. A network of these sizes does not fit into any memory.
LARGER = {
    "MCM": {"n_masks": 800_000_000},
    "DRL": {"width": 2_000_000_000},
    "GOAD": {"map_width": 800_000_000, "n_maps": 2_000_000_000},
    "NeuTraLAD": {"n_views": 800_000_000},
    "ICL": {"window": 1},
    "DTE": {"n_bins": 800_000_000, "n_steps": 800_000_000},
    "DeepSVDD": {"hidden_neurons": [*[2**14] * 49, 32]},
    "AutoEncoder": {"hidden_neuron_list": [2**14] * 50},
}


@pytest.mark.parametrize("name", LARGER)
def test_a_network_larger_than_its_weights_is_refused_before_it_takes_memory(name):
    stored, entries = store(small(name).fit(X_TRAIN))
    stored["parameters"].update(LARGER[name])
    with pytest.raises(NotDescribedError, match=r"weights: |no network can have these sizes"):
        restore(stored, entries)


@pytest.mark.parametrize("name", SMALL)
def test_other_columns_than_those_of_the_weights_are_refused(name):
    stored, entries = store(small(name, scaling="none").fit(X_TRAIN))
    for n_columns in (1, 2, 4, 2**31, 2**53):
        stored["fitted"]["n_features_in_"] = n_columns
        with pytest.raises(NotDescribedError):
            restore(stored, entries)


@pytest.mark.parametrize("layers", [[], [8], [4, 8], [8, 4, 4], [8, 4] * 100])
def test_other_layers_than_those_of_the_weights_are_refused(layers):
    stored, entries = store(deep_svdd().fit(X_TRAIN))
    stored["parameters"]["hidden_neurons"] = layers
    with pytest.raises(NotDescribedError):
        restore(stored, entries)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("DRL", {"n_basis": 129}),
        ("DRL", {"scaling": "none"}),
        ("DRL", {"scaling": "minmax"}),
        ("DRL", {"device": "meta"}),
        ("DTE", {"dropout": 1}),
        ("DTE", {"n_steps": 6}),
        ("GOAD", {"n_layers": 101}),
        ("GOAD", {"n_maps": 1}),
        ("ICL", {"window": 3}),
        ("ICL", {"temperature": 0}),
        ("NeuTraLAD", {"n_views": 1}),
        ("NeuTraLAD", {"temperature": "warm"}),
        ("DeepSVDD", {"preprocessing": False}),
        ("DeepSVDD", {"use_ae": True}),
        ("DeepSVDD", {"n_features": None}),
        ("DeepSVDD", {"hidden_activation": "__class__"}),
        ("AutoEncoder", {"preprocessing": False}),
        ("AutoEncoder", {"batch_norm": False}),
        ("AutoEncoder", {"device": "meta"}),
        ("AutoEncoder", {"optimizer_params": {"model": 1}}),
    ],
)
def test_parameters_that_do_not_match_the_fitted_values_are_refused(name, parameters):
    stored, entries = store(small(name).fit(X_TRAIN))
    stored["parameters"].update(parameters)
    with pytest.raises(NotDescribedError):
        restore(stored, entries)


def test_a_scaler_that_changes_the_rows_it_gets_or_gives_tables_is_refused():
    for detector in (deep_svdd(), small("MCM")):
        stored, entries = store(detector.fit(X_TRAIN))
        changed, of_tables = copy.deepcopy(stored), copy.deepcopy(stored)
        changed["fitted"]["scaler_"]["parameters"]["copy"] = False
        of_tables["fitted"]["scaler_"]["fitted"]["_sklearn_output_config"] = {"transform": "pandas"}
        restore(stored, entries)
        for altered in (changed, of_tables):
            with pytest.raises(NotDescribedError, match="scaler_: not its parameters"):
                restore(altered, entries)


def test_a_row_that_takes_too_much_work_or_memory_is_refused(path):
    """A small file whose network compares 100,000 views of a row with each other."""
    detector = small("NeuTraLAD", n_views=2, scaling="none").fit(X_TRAIN)
    detector.save(path)
    manifest, entries = contents(path)
    n_views = manifest["model"]["parameters"]["n_views"] = 100_000
    weights = manifest["model"]["fitted"]["weights"]
    for name in ("transformations.0.weight", "transformations.2.weight"):
        shape = detector.network_.state_dict()[name].shape[1:]
        values = np.zeros((n_views, *shape), dtype=np.float32)
        entries[weights[name]["array"]] = array_to_bytes(values)
    sign(path, manifest, entries)
    with pytest.raises(ModelFileError, match="operations, more than max_work"):
        load(path)


def test_weights_that_overflow_give_infinite_scores():
    for name in (*SMALL, *SMALL_OF_PYOD):
        stored, entries = store(small(name).fit(X_TRAIN))
        detector = restore(stored, entries)
        network = getattr(detector, "network_", None) or getattr(detector, "model_", None)
        for weights in (network or detector.model).parameters():
            torch.nn.init.constant_(weights, 3e38)
        scores = restore(*store(detector)).decision_function(X_NEW)
        assert not np.isnan(scores).any()
        assert np.isfinite(detector.predict_proba(X_NEW)).all()
