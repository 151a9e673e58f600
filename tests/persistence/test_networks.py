"""Neural detectors of PyOD and ctad: weights and scores are restored to the last bit."""

import io
import json
import sys
from functools import partial
from pathlib import PurePath

import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ctad import CTAD, CalibratedDetector
from ctad.persistence import ModelFileError, load, read_manifest

from ..detectors.small import SMALL, SMALL_OF_PYOD, small
from .files import X_NEW, X_TRAIN, contents, same, sign

pytestmark = pytest.mark.slow

torch = pytest.importorskip("torch")
safetensors_torch = pytest.importorskip("safetensors.torch")


def deep_svdd(**options):
    from pyod.models.deep_svdd import DeepSVDD

    options = {"hidden_neurons": [8, 4], "epochs": 2, "verbose": 0, "random_state": 0} | options
    return DeepSVDD(3, **options)


def auto_encoder(**options):
    pytest.importorskip("tqdm")  # PyOD needs it for this one
    from pyod.models.auto_encoder import AutoEncoder

    options = {"hidden_neuron_list": [8, 2], "epoch_num": 2, "verbose": 0} | options
    return AutoEncoder(**options)


NETWORKS = {
    "DeepSVDD": deep_svdd,
    "DeepSVDD with decoder": lambda: deep_svdd(use_ae=True, hidden_neurons=[3, 2]),
    "DeepSVDD without scaling": lambda: deep_svdd(preprocessing=False, c=0.5),
    "AutoEncoder": auto_encoder,
    "AutoEncoder without batch norm": lambda: auto_encoder(batch_norm=False, preprocessing=False),
    "AutoEncoder on a device by name": lambda: auto_encoder(device="cpu"),
    "in a pipeline": lambda: make_pipeline(StandardScaler(), deep_svdd()),
    "frozen": lambda: FrozenEstimator(deep_svdd().fit(X_TRAIN)),
    **{f"{name} by name": partial(small, name) for name in (*SMALL, *SMALL_OF_PYOD)},
    "DRL in a pipeline": lambda: make_pipeline(StandardScaler(), small("DRL")),
    "DRL without scaling": lambda: small("DRL", scaling="none"),
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.ctad"


def saved(detector, path):
    fitted = CalibratedDetector(detector, CTAD(), random_state=0).fit(X_TRAIN)
    fitted.save(path)
    return fitted


@pytest.mark.parametrize("what", NETWORKS)
def test_networks_are_restored(what, path):
    fitted = saved(NETWORKS[what](), path)
    before = torch.get_rng_state()
    loaded = load(path)
    assert torch.equal(torch.get_rng_state(), before)
    same(loaded.base_score(X_NEW), fitted.base_score(X_NEW))
    same(loaded.anomaly_score(X_NEW), fitted.anomaly_score(X_NEW))
    assert any(name.startswith("weights/") for name in contents(path)[1])
    again = loaded.fit(X_TRAIN)  # can be trained again
    assert np.isfinite(again.anomaly_score(X_NEW)).all()


def test_weights_and_buffers_keep_their_types(path):
    fitted = saved(auto_encoder(), path)
    before, after = fitted.detector_.model.state_dict(), load(path).detector_.model.state_dict()
    assert list(before) == list(after)
    for name, tensor in before.items():
        assert tensor.dtype == after[name].dtype
        assert torch.equal(tensor, after[name])


def test_saving_without_safetensors_says_what_is_missing(path, monkeypatch):
    monkeypatch.setitem(sys.modules, "safetensors.torch", None)
    with pytest.raises(ImportError, match=r"needs safetensors: pip install 'ctad\[deep\]'"):
        saved(deep_svdd(), path)


# The fault in the weights: a function that makes it
BAD_WEIGHTS = {
    "missing": lambda weights: dict(list(weights.items())[1:]),
    "more": lambda weights: {**weights, "more": torch.zeros(3)},
    "another shape": lambda weights: {
        name: tensor.repeat(*[2] * tensor.ndim) for name, tensor in weights.items()
    },
    "another precision": lambda weights: {name: t.double() for name, t in weights.items()},
}


@pytest.mark.parametrize("what", BAD_WEIGHTS)
def test_weights_that_do_not_fit_are_refused(what, path):
    saved(deep_svdd(), path)
    manifest, entries = contents(path)
    for name in entries:
        if name.startswith("weights/"):
            weights = BAD_WEIGHTS[what](safetensors_torch.load(entries[name]))
            entries[name] = safetensors_torch.save(weights)
    sign(path, manifest, entries)
    with pytest.raises(ModelFileError):
        load(path)


def test_bytes_that_are_not_weights_are_refused(path):
    saved(deep_svdd(), path)
    manifest, entries = contents(path)
    for name in entries:
        if name.startswith("weights/"):
            entries[name] = b"\xff" * 100
    sign(path, manifest, entries)
    with pytest.raises(ModelFileError):
        load(path)


def test_a_network_larger_than_its_weights_is_refused_before_it_is_built(path):
    saved(deep_svdd(), path)
    manifest, entries = contents(path)
    name = manifest["state"]["detector"]["fitted"]
    larger = entries[name].replace(b'"content":"8"', b'"content":"800000000"')
    assert larger != entries[name]
    sign(path, manifest, {**entries, name: larger})
    with pytest.raises(ModelFileError, match="size mismatch"):
        load(path)


@pytest.fixture(params=SMALL)
def own(request, path):
    """One of ctad's own detectors, saved alone."""
    detector = small(request.param).fit(X_TRAIN)
    detector.save(path)
    return detector


def test_a_detector_saved_alone_is_restored(own, path):
    before = torch.get_rng_state()
    loaded = load(path)
    assert torch.equal(torch.get_rng_state(), before)
    assert type(loaded) is type(own)
    assert loaded.get_params() == own.get_params()
    assert not loaded.network_.training
    same(loaded.decision_function(X_NEW), own.decision_function(X_NEW))
    same(loaded.predict(X_NEW), own.predict(X_NEW))
    same(loaded.predict_proba(X_NEW), own.predict_proba(X_NEW))
    same(loaded.decision_scores_, own.decision_scores_)
    assert loaded.loss_curve_ == own.loss_curve_
    same(loaded.fit(X_TRAIN).decision_function(X_NEW), own.decision_function(X_NEW))


@pytest.mark.parametrize("name", SMALL_OF_PYOD)
def test_pyods_networks_saved_alone_are_restored(name, path):
    detector = small(name).fit(X_TRAIN)
    detector.save(path)
    loaded = load(path)
    assert type(loaded) is type(detector)
    same(loaded.decision_function(X_NEW), detector.decision_function(X_NEW))


def test_its_file_has_no_pickle_and_a_manifest(own, path):
    _, entries = contents(path)
    assert {PurePath(name).suffix for name in entries} <= {".json", ".npy", ".safetensors"}
    for name, entry in entries.items():
        if name.endswith(".npy"):
            np.load(io.BytesIO(entry), allow_pickle=False)
    manifest = read_manifest(path)
    assert manifest["class"] == type(own).__name__
    assert manifest["parameters"]["epochs"] == own.epochs


def alter(path, **attributes):
    """Change numbers of the detector in a file."""
    manifest, entries = contents(path)
    name = manifest["state"]["fitted"]
    schema = json.loads(entries[name])
    for attribute, value in attributes.items():
        node = schema["content"]["content"][attribute]
        assert node["__loader__"] == "JsonNode"
        node["content"] = json.dumps(value)
    sign(path, manifest, {**entries, name: json.dumps(schema).encode()})


LARGER = {"MCM": "n_masks", "DRL": "width", "GOAD": "map_width", "NeuTraLAD": "n_views"}
LARGER |= {"ICL": "n_features_in_", "DTE": "n_bins"}


def test_an_own_network_larger_than_its_weights_is_refused_before_it_is_built(own, path):
    more = {"n_steps": 800_000_000} if type(own).__name__ == "DTE" else {}
    alter(path, **{LARGER[type(own).__name__]: 800_000_000}, **more)
    with pytest.raises(ModelFileError, match="size mismatch"):
        load(path)


@pytest.mark.parametrize(
    ("name", "attributes"),
    [
        ("DRL", {"epochs": 0}),
        ("DRL", {"width": -1}),
        ("DRL", {"width": "128"}),
        ("DRL", {"n_basis": 10**30}),
        ("DRL", {"n_features_in_": 0}),
        ("DRL", {"n_features_in_": None}),
        ("DRL", {"contamination": 0.9}),
        ("DRL", {"scaling": "other"}),
        ("DRL", {"device": "meta"}),
        ("DTE", {"dropout": 1}),
        ("GOAD", {"n_layers": 10**9}),
        ("ICL", {"window": 10**9}),
        ("ICL", {"temperature": 0}),
        ("MCM", {"n_masks": 10**12}),
        ("NeuTraLAD", {"temperature": "warm"}),
    ],
)
def test_parameters_out_of_range_are_refused(name, attributes, path):
    small(name).fit(X_TRAIN).save(path)
    alter(path, **attributes)
    with pytest.raises(ModelFileError):
        load(path)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_detector_trained_on_another_device_scores_here(path):
    detector = small("DRL").fit(X_TRAIN)
    detector.device = "cuda"  # as if it had been trained so
    detector.save(path)
    loaded = load(path)
    assert loaded.device == "cuda"
    same(loaded.decision_function(X_NEW), detector.decision_function(X_NEW))
