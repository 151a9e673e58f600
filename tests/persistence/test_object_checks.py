"""Inconsistent numbers are refused before compiled code uses them as indices and sizes."""

import copy
import io
import json

import numpy as np
import pandas as pd
import pytest
from pyod.models.cd import CD
from pyod.models.hbos import HBOS
from pyod.models.qmcd import QMCD
from pyod.models.sampling import Sampling
from sklearn.cluster import KMeans
from sklearn.ensemble import IsolationForest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import SGDOneClassSVM
from sklearn.neighbors import KernelDensity, LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import OneClassSVM
from sklearn.tree import ExtraTreeRegressor

from ctad import CTAD, CalibratedDetector
from ctad.errors import InputError
from ctad.persistence import ModelFileError, load
from ctad.persistence._arrays import array_from_bytes, array_to_bytes
from ctad.persistence._object_checks import parts_of
from ctad.persistence._objects import _nodes

from .files import X_TRAIN, contents, sign


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.ctad"


CACHE = {}  # by detector: each is fitted, saved and loaded once


class File:
    """A saved detector, to be altered and signed again."""

    def __init__(self, path, detector):
        self.path = path
        if detector not in CACHE:
            fitted = CalibratedDetector(detector, CTAD(), polarity="higher", random_state=0)
            fitted.fit(X_TRAIN).save(path)
            load(path)
            CACHE[detector] = contents(path)
        self.manifest, self.entries = copy.deepcopy(CACHE[detector])
        self.name = self.manifest["state"]["detector"]["fitted"]
        self.schema = json.loads(self.entries[self.name])

    def node(self, name):
        return next(node for node in _nodes(self.schema) if node["__class__"] == name)

    def attributes(self, name):
        return self.node(name)["content"]["content"]

    def set_array(self, node, values):
        name = f"arrays/{1000 + len(self.entries)}.npy"
        self.entries[name] = array_to_bytes(values)
        node["file"] = name

    def array(self, node):
        return array_from_bytes(self.entries[node["file"]]).copy()

    def refused(self, match="inconsistent numbers"):
        self.entries[self.name] = json.dumps(self.schema).encode()
        sign(self.path, self.manifest, self.entries)
        with pytest.raises(ModelFileError, match=match):
            load(self.path)


FOREST = IsolationForest(n_estimators=2, max_samples=20)
SEARCH = LocalOutlierFactor(novelty=True, leaf_size=5)
BALLS = LocalOutlierFactor(
    novelty=True, algorithm="ball_tree", leaf_size=5, p=3, metric_params={"w": [1.0, 2.0, 3.0]}
)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("left_child", 10**6),
        ("left_child", -7),
        ("left_child", 0),  # back to the root: an endless path
        ("right_child", 10**6),
        ("right_child", -1),
        ("feature", 3),
        ("feature", -2),
    ],
)
def test_nodes_of_trees_with_an_index_out_of_range(path, field, value):
    file = File(path, FOREST)
    node = file.attributes("Tree")["nodes"]
    nodes = file.array(node)
    nodes[field][0] = value
    file.set_array(node, nodes)
    file.refused("a decision tree")


@pytest.mark.parametrize("count", ["10000", "0", "-1", "true", '"5"', "1.5"])
def test_trees_with_another_number_of_nodes(path, count):
    file = File(path, FOREST)
    file.attributes("Tree")["node_count"]["content"] = count
    file.refused(None)


@pytest.mark.parametrize("count", ["100000", "2", "0"])
def test_trees_with_another_number_of_outputs(path, count):
    file = File(path, FOREST)
    file.node("Tree")["__reduce__"]["args"]["content"][2]["content"] = count
    file.refused(None)


def test_trees_with_too_many_classes(path):
    file = File(path, FOREST)
    file.set_array(file.node("Tree")["__reduce__"]["args"]["content"][1], np.array([2**40]))
    file.refused("a decision tree")


def test_trees_that_hide_their_numbers(path):
    file = File(path, FOREST)
    nodes = file.attributes("Tree")["nodes"]
    nodes.update(type="json", content=[], shape=file.attributes("Tree")["max_depth"])
    file.refused("an array of another kind")
    file = File(path, FOREST)
    file.node("Tree")["content"]["key_types"]["content"][0]["__class__"] = "int"
    file.refused("a decision tree")
    file = File(path, FOREST)
    file.attributes("Tree")["node_count"]["__loader__"] = "DictNode"
    file.refused(None)
    file = File(path, FOREST)
    file.node("Tree")["content"] = file.attributes("Tree")["node_count"]
    file.refused("a decision tree")


@pytest.mark.parametrize(
    ("attribute", "value"),
    [("n_features_in_", "2"), ("_max_features", "2"), ("_max_features", "9")],
)
def test_forests_with_trees_of_other_columns(path, attribute, value):
    file = File(path, FOREST)
    file.attributes("IsolationForest")[attribute]["content"] = value
    file.refused("an isolation forest")


def test_forests_with_missing_trees(path):
    file = File(path, FOREST)
    file.attributes("IsolationForest")["estimators_"]["content"].pop()
    file.refused("an isolation forest")


@pytest.mark.parametrize("detector", [SEARCH, BALLS], ids=["KDTree", "BallTree"])
@pytest.mark.parametrize(
    ("place", "change"),
    [
        (0, lambda data: data[:, :2]),
        (1, lambda order: order + 1),
        (1, lambda order: order[1:]),
        (1, lambda order: order.astype(np.int32)),
        (2, lambda nodes: nodes[1:]),
        (3, lambda bounds: bounds[:, 1:]),
        (3, lambda bounds: bounds[0]),
    ],
)
def test_neighbour_searches_with_other_arrays(path, detector, place, change):
    file = File(path, detector)
    cls = "BallTree" if detector is BALLS else "KDTree"
    node = file.node(cls)["content"]["content"][place]
    file.set_array(node, np.ascontiguousarray(change(file.array(node))))
    file.refused()


@pytest.mark.parametrize(
    ("field", "row", "value"),
    [
        ("idx_start", 0, -1),
        ("idx_end", 0, 10**6),
        ("idx_start", 1, 50),
        ("is_leaf", -1, 0),
    ],
)
def test_neighbour_searches_with_other_nodes(path, field, row, value):
    file = File(path, SEARCH)
    node = file.node("KDTree")["content"]["content"][2]
    nodes = file.array(node)
    nodes[field][row] = value
    file.set_array(node, nodes)
    file.refused("a neighbour search")


@pytest.mark.parametrize("place", [5, 6])
@pytest.mark.parametrize("count", ["60", str(2**50), "-1"])
def test_neighbour_searches_with_other_counts(path, place, count):
    file = File(path, SEARCH)
    file.node("KDTree")["content"]["content"][place]["content"] = count
    file.refused("a neighbour search")


def test_states_that_are_too_short(path):
    """These would crash the process when they are built."""
    density = KernelDensity()
    for cls in ("KDTree", "EuclideanDistance64"):
        file = File(path, density)
        file.node(cls)["content"]["content"].pop()
        file.refused(cls)
        file = File(path, density)
        file.node(cls)["content"] = file.attributes("KernelDensity")["bandwidth"]
        file.refused(None)
    file = File(path, density)
    state = file.node("KDTree")["content"]["content"]
    state[4] = state[11]
    file.refused("KDTree")
    file = File(path, density)
    state = file.node("KDTree")["content"]["content"]
    state[4]["content"] = '"5"'
    file.refused("KDTree")
    file = File(path, density)
    state = file.node("KDTree")["content"]["content"]
    state[11] = state[0]
    file.refused("KDTree")
    file = File(path, density)
    state = file.node("KDTree")["content"]["content"]
    state[12] = state[1]
    file.refused("KDTree")
    file = File(path, density)
    state = file.node("KDTree")["content"]["content"]
    state[12] = dict(state[0])
    file.set_array(state[12], np.ones(5))
    file.refused("a neighbour search")


def test_weights_of_another_number_of_columns(path):
    file = File(path, BALLS)
    file.set_array(file.node("MinkowskiDistance64")["content"]["content"][1], np.ones(2))
    file.refused("a neighbour search")
    weighted = {"p": 3, "w": np.ones(3)}
    file = File(path, Sampling(metric="minkowski", metric_params=weighted, subset_size=5))
    file.set_array(file.node("MinkowskiDistance64")["content"]["content"][1], np.ones(2))
    file.refused("a distance")


def test_a_loss_with_a_state(path):
    file = File(path, SGDOneClassSVM())
    file.node("Hinge")["content"] = file.node("Hinge")["__reduce__"]["args"]
    file.refused("a loss")


@pytest.mark.parametrize(
    ("attribute", "values"),
    [
        ("support_", np.zeros(3, dtype=np.int32)),
        ("_n_support", np.array([10**6, 1], dtype=np.int32)),
        ("_dual_coef_", np.ones((1, 2))),
        ("_intercept_", np.ones(0)),
        ("support_vectors_", np.ones((5, 2))),
        ("support_vectors_", np.ones((1, 3))),
    ],
)
def test_support_vectors_that_do_not_fit(path, attribute, values):
    file = File(path, OneClassSVM())
    file.set_array(file.attributes("OneClassSVM")[attribute], values)
    file.refused()


def test_kept_rows_of_other_columns(path):
    file = File(path, LocalOutlierFactor(novelty=True, algorithm="brute"))
    file.set_array(file.attributes("LocalOutlierFactor")["_fit_X"], np.ones((60, 2)))
    file.refused("kept training rows")
    file = File(path, make_pipeline(KMeans(3), OneClassSVM()))
    file.set_array(file.attributes("KMeans")["cluster_centers_"], np.ones((3, 2)))
    file.refused("kept training rows")
    file = File(path, QMCD())
    file.set_array(file.attributes("QMCD")["_fitted_data"], np.ones((60, 2)))
    file.refused("kept training rows")


def test_histograms_that_do_not_fit(path):
    file = File(path, HBOS(n_bins=5))
    file.set_array(file.attributes("HBOS")["hist_"], np.ones((4, 3)))
    file.refused("histograms")
    for detector in (HBOS(n_bins=5), FrozenEstimator(HBOS(n_bins=5).fit(X_TRAIN))):
        file = File(path, detector)
        file.set_array(file.attributes("HBOS")["hist_"], np.ones((5, 1)))
        file.set_array(file.attributes("HBOS")["bin_edges_"], np.ones((6, 1)))
        file.refused("histograms")
    File(path, HBOS(n_bins="auto"))
    with pytest.raises(InputError, match="HBOS inside a pipeline or a search cannot be saved"):
        File(path, make_pipeline(KMeans(3), HBOS(n_bins=5)))


def test_a_random_generator_with_an_index_out_of_range(path):
    file = File(path, IsolationForest(n_estimators=2, random_state=np.random.RandomState(0)))
    state = next(node for node in _nodes(file.schema) if "pos" in node.get("content", ()))
    state["content"]["pos"]["content"] = "100000"
    file.refused("a random generator")


def one_hot(**attributes):
    """A model of a table with text, with an altered one-hot encoder."""
    table = pd.DataFrame(X_TRAIN, columns=list("abc")).assign(k=(["x", "y", "z", "w"] * 100)[:N])
    detector = CalibratedDetector(IsolationForest(n_estimators=2), CTAD(), random_state=0)
    encoder = detector.fit(table).encoder_.to_state()[1]["categories"]
    vars(encoder).update(attributes)
    return detector


def plain(detector, **attributes):
    """A model with altered attributes of its detector."""
    made = CalibratedDetector(detector, CTAD(), polarity="higher", random_state=0).fit(X_TRAIN)
    vars(made.detector_).update(attributes)
    return made


N = len(X_TRAIN)
WIDE = FunctionTransformer(None, validate=False)
WIDE.n_features_in_ = 10**7
FOREIGN = {"_fit_X": np.zeros((1, 3)), "n_features_in_": 3}
ALTERED = {
    "codes out of range": lambda: one_hot(_default_to_infrequent_mappings=[np.full(4, 2**30)]),
    "codes of another width": lambda: one_hot(_n_features_outs=[10**8]),
    "rare codes out of range": lambda: one_hot(
        _infrequent_enabled=True,
        _default_to_infrequent_mappings=[None],
        _infrequent_indices=[np.array([2**30])],
    ),
    "a kernel by place": lambda: plain(
        OneClassSVM(), kernel="precomputed", shape_fit_=(3, 3), support_=np.full(N, 2**30)
    ),
    "another kind of machine": lambda: plain(OneClassSVM(), _impl="c_svc"),
    "rows of another width": lambda: plain(QMCD(), _fitted_data=np.zeros((1, 10**4)), **FOREIGN),
    "another scaler": lambda: plain(QMCD(), _scaler=WIDE, _fitted_data=np.zeros((1, 10**4))),
    "bins of another number": lambda: plain(
        HBOS(n_bins=5), hist_=np.ones((1, 3)), bin_edges_=np.zeros((10**4, 3)), **FOREIGN
    ),
    "a method replaced": lambda: plain(IsolationForest(n_estimators=2), score_samples=np.abs),
    "a distance of another width": lambda: plain(
        LocalOutlierFactor(novelty=True, algorithm="brute"),
        effective_metric_="mahalanobis",
        effective_metric_params_={"VI": np.ones((1, 1))},
    ),
    "fewer rows than stated": lambda: plain(LocalOutlierFactor(novelty=True), n_samples_fit_=10**6),
}


@pytest.mark.parametrize("what", ALTERED)
def test_a_model_altered_before_it_was_saved_is_refused(path, what):
    ALTERED[what]().save(path)
    with pytest.raises(ModelFileError, match="inconsistent numbers"):
        load(path)


@pytest.mark.filterwarnings("ignore:CD scores a row differently")
def test_trees_outside_forests_are_checked(path):
    detector = plain(CD(model=ExtraTreeRegressor(max_depth=2)))
    detector.save(path)
    np.testing.assert_array_equal(load(path).base_score(X_TRAIN), detector.base_score(X_TRAIN))
    for part in parts_of(detector.detector_):
        if isinstance(part, ExtraTreeRegressor) and hasattr(part, "tree_"):
            part.n_features_in_ = 10**6
    detector.save(path)
    with pytest.raises(ModelFileError, match="a decision tree"):
        load(path)


@pytest.mark.parametrize("n_jobs", [10**5, np.int64(300), -1e9])
def test_no_file_starts_hundreds_of_processes(path, n_jobs):
    plain(IsolationForest(n_estimators=2), n_jobs=n_jobs).save(path)
    assert load(path).detector_.n_jobs is None


@pytest.mark.parametrize("metric", ["canberra", "braycurtis"])
def test_distances_that_can_be_saved_can_be_loaded(path, metric):
    detector = plain(LocalOutlierFactor(novelty=True, algorithm="ball_tree", metric=metric))
    detector.save(path)
    np.testing.assert_array_equal(load(path).base_score(X_TRAIN), detector.base_score(X_TRAIN))


def test_distances_that_cannot_be_loaded_are_not_saved(path):
    search = LocalOutlierFactor(
        novelty=True, algorithm="ball_tree", metric="seuclidean", metric_params={"V": np.ones(3)}
    )
    with pytest.raises(InputError, match="SEuclideanDistance64"):
        plain(search).save(path)


@pytest.mark.parametrize("dtype", ["|V0", "<U0", "|S0"])
def test_arrays_of_items_of_size_0_are_refused(dtype):
    buffer = io.BytesIO()
    header = {"descr": dtype, "fortran_order": False, "shape": (10**9,)}
    np.lib.format.write_array_header_1_0(buffer, header)
    with pytest.raises(ValueError, match="the size of an array is not that of"):
        array_from_bytes(buffer.getvalue())


def test_models_much_larger_than_their_file_are_refused(path, monkeypatch):
    """As if one array were used in many places."""
    plain(LocalOutlierFactor(novelty=True)).save(path)
    load(path)
    monkeypatch.setattr("ctad.persistence._objects.MAX_GROWTH", 0.1)
    with pytest.raises(ModelFileError, match="much larger in memory"):
        load(path)


def test_too_many_draws_of_a_calibrator_are_refused(path, monkeypatch):
    CTAD().fit(X_TRAIN).save(path)
    monkeypatch.setattr("ctad.persistence._calibrators.MAX_COSTS", 500)  # five times 5 by 20
    manifest, entries = contents(path)
    [draw] = manifest["state"]["draws"]
    for n_draws in (5, 6):
        manifest["state"]["draws"] = [draw] * n_draws
        sign(path, manifest, entries)
        if n_draws == 5:
            assert len(load(path).draws_) == 5
    with pytest.raises(ModelFileError, match="6 times 20 references and 5 centroids are too many"):
        load(path)
