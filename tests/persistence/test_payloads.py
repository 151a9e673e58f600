"""Files made to run code: nothing runs, and tests show that the payloads would work elsewhere."""

import io
import json
import pickle
import zipfile

import numpy as np
import pytest
import skops.io
from sklearn.neighbors import KernelDensity

from ctad import CTAD, CalibratedDetector
from ctad.persistence import ModelFileError, load

from .files import X_NEW, X_TRAIN, contents, sign

SYSTEM = np.load.__globals__["os"].system.__module__  # posix, or nt on Windows


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    path = tmp_path_factory.mktemp("payloads") / "good.ctad"
    CalibratedDetector(KernelDensity(), CTAD(), random_state=0).fit(X_TRAIN).save(path)
    return path


@pytest.fixture
def trace(tmp_path):
    return tmp_path / "trace"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.ctad"


def node(loader, name, **rest):
    module, _, cls = name.rpartition(".")
    return {"__class__": cls, "__module__": module, "__loader__": loader, **rest}


def plain(value):
    return node("JsonNode", "builtins.str", content=json.dumps(value), is_json=True)


def listed(*items):
    return node("ListNode", "builtins.list", content=list(items))


def tupled(*items):
    return node("TupleNode", "builtins.tuple", content=list(items))


def dictionary(content, key_type="builtins.str"):
    types = [node("TypeNode", key_type) for _ in content]
    return node("DictNode", "builtins.dict", content=content, key_types=listed(*types))


def density(**attributes):
    return node(
        "ObjectNode", "sklearn.neighbors._kde.KernelDensity", content=dictionary(attributes)
    )


# Each runs a command when a loader that trusts its names builds it.
WORKING = {
    "a constructor": lambda command: node(
        "ConstructorFromReduceNode", f"{SYSTEM}.system", content=tupled(plain(command))
    ),
    "the type of a key": lambda command: dictionary({command: plain(1)}, f"{SYSTEM}.system"),
    "a loss": lambda command: node(
        "LossNode",
        f"{SYSTEM}.system",
        __reduce__={"args": tupled(plain(command))},
        content=dictionary({}),
    ),
    "a key to evaluate": lambda command: dictionary(
        {f"__import__('os').system({command!r})": plain(1)}, "builtins.eval"
    ),
}

# Each puts a function where it may be called later, or hides a type behind another's name.
WAITING = {
    "a function": lambda _: node("FunctionNode", f"{SYSTEM}.system"),
    "a type": lambda _: node("TypeNode", "builtins.eval"),
    "a list": lambda _: node("ListNode", f"{SYSTEM}.system", content=[]),
    "an array": lambda _: node("NdArrayNode", "builtins.eval", type="json", content=[]),
    "a partial": lambda command: node(
        "PartialNode",
        "functools.partial",
        content={
            "func": node("FunctionNode", f"{SYSTEM}.system"),
            "args": tupled(plain(command)),
            "kwds": dictionary({}),
            "namespace": plain(None),
        },
    ),
    "a method caller": lambda command: node(
        "OperatorFuncNode", "operator.methodcaller", attrs=tupled(plain("system"), plain(command))
    ),
    "an operator of another name": lambda command: node(
        "OperatorFuncNode", f"{SYSTEM}.system", attrs=tupled(plain(command))
    ),
    "a method of another type": lambda _: node(
        "MethodNode",
        "sklearn.neighbors._kde.KernelDensity",
        content={"func": "__class__", "obj": node("ObjectNode", "builtins.object")},
    ),
    "a method": lambda _: node(
        "MethodNode",
        "sklearn.neighbors._kde.KernelDensity",
        content={"func": "fit", "obj": density()},
    ),
    "a reference": lambda _: node("CachedNode", "builtins.str", __id__=1),
    "an identity": lambda _: plain(1) | {"__id__": 5},
    "a default": lambda _: node(
        "DefaultDictNode",
        "collections.defaultdict",
        content={"main": dictionary({}), "default_factory": node("TypeNode", "builtins.eval")},
    ),
    "bytes": lambda _: node("BytesNode", "builtins.bytes", file="arrays/0.npy"),
    "an archive": lambda _: node(
        "SparseMatrixNode", "scipy.sparse._csr.csr_matrix", type="scipy", file="arrays/0.npy"
    ),
    "a generator": lambda _: node(
        "RandomGeneratorNode", "numpy.random._generator.Generator", content={}
    ),
    "an estimator of the user": lambda _: node("ObjectNode", "my_package.Detector"),
    "an unknown loader": lambda _: node("ShellNode", "builtins.str"),
    "a name that is not a string": lambda _: {
        "__loader__": "ObjectNode",
        "__class__": 1,
        "__module__": 2,
    },
}
PAYLOADS = WORKING | WAITING
PLACES = {
    "whole": lambda payload: payload,
    "attribute": lambda payload: density(bandwidth=payload),
    "deep": lambda payload: density(metric=listed(tupled(plain(1), payload))),
}


def hidden_in(path, good, payload, place="attribute", **schema):
    manifest, entries = contents(good)
    described = {**PLACES[place](payload), "protocol": 2, "_skops_version": "0.16.0", **schema}
    entries[manifest["state"]["detector"]["fitted"]] = json.dumps(described).encode()
    sign(path, manifest, entries)
    return described


def touch(trace):
    return f'echo run > "{trace}"'


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("what", PAYLOADS)
def test_payloads_leave_no_trace(what, place, path, good, trace):
    hidden_in(path, good, PAYLOADS[what](touch(trace)), place)
    with pytest.raises(ModelFileError, match=str(path)):
        load(path)
    assert not trace.exists()


@pytest.mark.filterwarnings("ignore:Trying to unpickle estimator")
@pytest.mark.parametrize("what", WORKING)
def test_these_payloads_work_without_checks(what, path, good, trace):
    described = hidden_in(path, good, WORKING[what](touch(trace)))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("schema.json", json.dumps(described))
    names = skops.io.get_untrusted_types(data=buffer.getvalue())
    skops.io.loads(buffer.getvalue(), trusted=[*names, f"{SYSTEM}.system", "builtins.eval"])
    assert trace.exists()


@pytest.mark.parametrize("what", WORKING)
def test_trusted_names_are_not_called_either(what, path, good, trace):
    hidden_in(path, good, WORKING[what](touch(trace)))
    with pytest.raises(ModelFileError):
        load(path, trusted=[f"{SYSTEM}.system", "builtins.eval"])
    assert not trace.exists()


class Touch:
    """Unpickling it leaves a trace."""

    def __init__(self, trace):
        self.trace = trace

    def __reduce__(self):
        return (exec, (f"open({str(self.trace)!r}, 'w').close()",))


def pickled_array(trace):
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.array([Touch(trace)], dtype=object), allow_pickle=True)
    return buffer.getvalue()


@pytest.mark.parametrize("wrap", [pickled_array, lambda trace: pickle.dumps(Touch(trace))])
def test_pickles_instead_of_arrays_leave_no_trace(wrap, path, good, trace):
    manifest, entries = contents(good)
    for name in entries:
        if name.startswith("arrays/"):
            sign(path, manifest, {**entries, name: wrap(trace)})
            with pytest.raises(ModelFileError):
                load(path)
    assert not trace.exists()
    np.load(io.BytesIO(wrap(trace)), allow_pickle=True)
    assert trace.exists()


def test_a_renamed_pickle_leaves_no_trace(path, trace):
    path.write_bytes(pickle.dumps(Touch(trace)))
    with pytest.raises(ModelFileError, match="may be a pickle"):
        load(path)
    assert not trace.exists()


@pytest.mark.parametrize("protocol", [0, 1, 3, True, "2", None])
def test_other_protocols_of_skops_are_refused(protocol, path, good):
    hidden_in(path, good, plain(1.0), protocol=protocol)
    with pytest.raises(ModelFileError):
        load(path)


def test_saving_needs_a_supported_version_of_skops(path, monkeypatch):
    monkeypatch.setattr("ctad.persistence._objects.PROTOCOL", 1)
    with pytest.raises(RuntimeError, match=r"install skops 0.16"):
        CalibratedDetector(KernelDensity(), CTAD()).fit(X_TRAIN).save(path)


def test_dictionaries_with_wrong_keys_are_refused(path, good):
    broken = dictionary({"a": plain(1)})
    hidden_in(path, good, {**broken, "key_types": listed()})
    with pytest.raises(ModelFileError, match="missing keys"):
        load(path)
    function = node("FunctionNode", "numpy.exp")
    hidden_in(path, good, {**broken, "key_types": listed(function)})
    with pytest.raises(ModelFileError, match="keys that are not numbers or strings"):
        load(path)


def test_deeply_nested_descriptions_are_refused(path, good):
    payload = plain(1.0)
    for _ in range(300):
        payload = listed(payload)
    hidden_in(path, good, payload)
    with pytest.raises(ModelFileError):
        load(path)
    manifest, entries = contents(good)
    entries[manifest["state"]["detector"]["fitted"]] = b"[" * 10**6
    sign(path, manifest, entries)
    with pytest.raises(ModelFileError):
        load(path)


def test_a_harmless_file_made_in_the_same_way_loads(path, good):
    manifest, entries = contents(good)
    original = json.loads(entries[manifest["state"]["detector"]["fitted"]])
    attributes = original["content"]["content"]
    hidden_in(path, good, plain(0.5), "whole", **{**original, "content": dictionary(attributes)})
    assert np.isfinite(load(path).anomaly_score(X_NEW)).all()
