"""Values of detectors that are fine one by one, but do not fit together, are refused."""

import numpy as np
import pytest

from ctad.persistence._arrays import array_from_bytes, array_to_bytes
from ctad.persistence._kinds import NotDescribedError
from ctad.persistence._reader import Reader

from .examples import X_NEW, X_TRAIN
from .examples.pyod_detectors import EXAMPLES as PYOD_ARRAY_EXAMPLES
from .examples.pyod_wrappers import EXAMPLES as PYOD_EXAMPLES
from .examples.scikit_learn_detectors import EXAMPLES as SCIKIT_LEARN_EXAMPLES
from .stored import ANYWHERE, restore, store

EXAMPLES = {
    str(example): example
    for example in (*SCIKIT_LEARN_EXAMPLES, *PYOD_EXAMPLES, *PYOD_ARRAY_EXAMPLES)
}


class Altered:
    """A stored example; values and arrays are altered by their path, such as "fitted.rows"."""

    def __init__(self, name):
        self.stored, self.entries = store(EXAMPLES[name].made())

    def at(self, path):
        value = self.stored
        for key in path.split("."):
            value = value[int(key) if key.isdecimal() else key]
        return value

    def set(self, path, value):
        parent, _, key = path.rpartition(".")
        self.at(parent)[key] = value

    def array(self, path):
        return array_from_bytes(self.entries[self.at(path)["array"]])

    def set_array(self, path, values):
        self.entries[self.at(path)["array"]] = array_to_bytes(values)

    def restored(self):
        return restore(self.stored, self.entries)


def refused(name, reason, values=None, arrays=None, slow=False):
    marks = [pytest.mark.slow] * slow
    return pytest.param(
        name, reason, values or {}, arrays or {}, id=f"{name}, {reason}", marks=marks
    )


def with_item(number, value):
    def changed(values):
        values[number] = value
        return values

    return changed


NODES = "fitted.nodes"
LEFT, RIGHT = f"{NODES}.children_left", f"{NODES}.children_right"


@pytest.mark.parametrize(
    ("name", "reason", "values", "arrays"),
    [
        refused("IsolationForest", "not a tree", arrays={LEFT: with_item(0, 0)}),
        refused("IsolationForest", "not a tree", arrays={RIGHT: with_item(0, 10**6)}),
        refused("IsolationForest", "not a tree", arrays={RIGHT: with_item(0, 1)}),
        refused("IsolationForest", "a leaf with", arrays={LEFT: with_item(0, -1)}),
        refused("IsolationForest", "a leaf with", arrays={f"{NODES}.feature": with_item(0, -2)}),
        refused("IsolationForest", "a value above 2", arrays={f"{NODES}.feature": with_item(0, 3)}),
        refused(
            "IsolationForest",
            "both children",
            arrays={f"{NODES}.n_node_samples": with_item(0, 1000)},
        ),
        refused(
            "IsolationForest", "number of nodes", arrays={"fitted.n_nodes": lambda n: n[::-1] + 1}
        ),
        refused("IsolationForest of some columns", "length", {"fitted._max_features": 3}),
        refused(
            "IsolationForest of some columns",
            "a value above 2",
            arrays={"fitted.estimators_features_": lambda columns: columns + 1},
        ),
        refused("LocalOutlierFactor", "novelty", {"parameters.novelty": False}),
        refused("LocalOutlierFactor", "length", {"fitted.n_neighbors_": 4}),
        refused("NearestNeighbors", "more than rows", {"parameters.n_neighbors": 61}),
        refused("NearestNeighbors", "needs V", {"parameters.metric": "seuclidean"}),
        refused("NearestNeighbors", "two columns", {"parameters.metric": "haversine"}),
        refused("NearestNeighbors", "needs p", {"parameters.p": None}),
        refused("NearestNeighbors by V", "needs VI", {"parameters.algorithm": "brute"}),
        refused("NearestNeighbors by V", "not those of", {"parameters.metric": "minkowski"}),
        refused(
            "NearestNeighbors by brute force", "not valid", {"parameters.algorithm": "kd_tree"}
        ),
        refused(
            "KernelDensity with weights", "all are zero", arrays={"fitted.weights": np.zeros_like}
        ),
        refused("OneClassSVM", "same columns", {"fitted.shape_fit_": [60, 2]}),
        refused("OneClassSVM", "among the training rows", {"fitted.shape_fit_": [10, 3]}),
        refused("EllipticEnvelope", "store_precision", {"parameters.store_precision": False}),
        refused("GaussianMixture", "covariance_type", {"parameters.covariance_type": "tied"}),
        refused(
            "BayesianGaussianMixture",
            "not of this prior",
            {"parameters.weight_concentration_prior_type": "dirichlet_distribution"},
        ),
        refused("KMeans", "a value above 2", arrays={"fitted.labels_": with_item(0, 3)}),
        refused(
            "HDBSCAN without clusters", "twice", arrays={"fitted.merges.left_node": lambda x: x * 0}
        ),
        refused(
            "HDBSCAN without clusters",
            "not exist",
            arrays={"fitted.merges.left_node": with_item(0, 60)},
        ),
        refused("KNN", "more than rows", {"parameters.n_neighbors": 61}),
        refused("KNN", "length", arrays={"fitted.search.fitted.rows": lambda rows: rows[1:]}),
        refused("COF", "not less than rows", {"fitted.n_neighbors_": 60}),
        refused(
            "CD",
            "other columns",
            {"fitted._models.0.fitted.n_features_in_": 1},
            {"fitted._models.0.fitted.coef_": lambda coefficients: coefficients[1:]},
        ),
        refused(
            "CBLOF",
            "large or small",
            arrays={"fitted.large_cluster_labels_": lambda labels: labels * 0},
            slow=True,
        ),
        refused("HBOS", "bin_counts", arrays={"fitted.bin_counts": lambda n: n + 1}),
        refused("HBOS", "bin_counts", arrays={"fitted.bin_counts": lambda n: n * 2**61}),
        refused("HBOS", "bin_counts", arrays={"fitted.edges": lambda edges: edges[1:]}),
        refused("HBOS", "decrease", arrays={"fitted.edges": lambda edges: edges[::-1]}),
        refused("HBOS", "n_bins", {"parameters.n_bins": 11}),
        refused("HBOS", "n_bins", arrays={"fitted.bin_counts": lambda n: n + np.array([1, -1, 0])}),
        refused("LODA", "length", {"parameters.n_random_cuts": 8}),
        refused("LODA", "decrease", arrays={"fitted.edges": lambda edges: -edges}),
        refused("PCA", "scaler_: not for", {"fitted.scaler_.parameters.copy": False}),
        refused("PCA", "more than components", {"fitted.n_selected_components_": 4}),
        refused("PCA not scaled", "scaler_: not for", {"parameters.standardization": True}),
        refused("QMCD", "these columns", arrays={"fitted._fitted_data": lambda rows: rows[:, :2]}),
        refused(
            *("QMCD", "not as QMCD makes it"),
            {"fitted._scaler.fitted._sklearn_output_config": {"transform": "pandas"}},
        ),
        refused(
            *("QMCD", "not as QMCD makes it"), {"fitted._scaler.parameters.feature_range": [0, 2]}
        ),
        refused("RGraph", "close to zero", arrays={"fitted.X_train": with_item(0, 1e-300)}),
        refused("RGraph", "too large", arrays={"fitted.X_train": with_item(0, 1e300)}),
        refused("RGraph", "n_nonzero", {"parameters.n_nonzero": 2**40}),
        refused("RGraph", "not an integer from 1", {"parameters.blocksize_test_data": 10**5}),
        refused(
            *("RGraph", "more than 10,000 rows"),
            arrays={
                "fitted.X_train": lambda rows: np.resize(rows, (10_001, 3)),
                "fitted.decision_scores_": lambda scores: np.resize(scores, 10_001),
                "fitted.labels_": lambda labels: np.resize(labels, 10_001),
            },
        ),
        refused(
            *("PCA", "more than columns"),
            {"fitted.detector_.fitted.n_components_": 4},
            {
                "fitted.detector_.fitted.components_": lambda axes: np.resize(axes, (4, 3)),
                **{
                    f"fitted.detector_.fitted.{name}": lambda values: np.resize(values, 4)
                    for name in (
                        *("explained_variance_", "explained_variance_ratio_"),
                        "singular_values_",
                    )
                },
            },
        ),
        refused(
            *("Sampling metric_params", "to compare with"),
            arrays={"fitted.subset": lambda rows: np.resize(rows, (100_001, rows.shape[1]))},
        ),
        refused(
            *("ROD more columns", "not as ROD"),
            {"fitted.data_scaler_.parameters.with_centering": False},
        ),
        refused(
            *("ROD more columns", "not one for every three columns"),
            arrays={
                "fitted.geometric_medians": lambda medians: medians[1:],
                "fitted.cost_medians": lambda medians: medians[1:],
                "fitted.angle_counts": lambda counts: counts[:, 1:],
                "fitted.angle_scales": lambda scales: scales[:, 1:],
            },
        ),
        refused("ROD", "length", arrays={"fitted.cost_medians": lambda medians: medians[[0, 0]]}),
        refused("Sampling metric_params", "not those of", {"parameters.metric": "euclidean"}),
    ],
)
def test_refused(name, reason, values, arrays):
    altered = Altered(name)
    for path, value in values.items():
        altered.set(path, value)
    for path, change in arrays.items():
        altered.set_array(path, change(altered.array(path).copy()))
    with pytest.raises(NotDescribedError, match=reason):
        altered.restored()


@pytest.mark.parametrize(
    ("name", "values", "least"),
    [
        ("INNE", {}, 10**5),
        ("ROD more columns", {}, 4 * 10**5),
        ("RGraph", {"parameters.transition_steps": 10**6}, 10**6 * (20 + 256) ** 2),
        ("KernelDensity", {}, 60 * 500),
        ("NearestNeighbors", {"parameters.p": 1.5}, 60 * 3 * 30),
        ("GaussianMixture", {}, 10**5),
        pytest.param("ABOD of all pairs", {}, 12**2 * 10**5, marks=pytest.mark.slow),
    ],
)
def test_work_that_is_more_than_the_numbers_in_a_file_is_counted(name, values, least):
    altered = Altered(name)
    for path, value in values.items():
        altered.set(path, value)
    reader = Reader("", {"model": altered.stored}, altered.entries)
    reader.model(ANYWHERE)
    assert reader.work >= least


def test_distances_to_many_columns_are_stored():
    from pyod.models.sampling import Sampling

    rows = np.random.default_rng(0).normal(size=(60, 31))
    detector = Sampling(metric="mahalanobis", metric_params={"V": np.eye(31)}, random_state=0)
    again = restore(*store(detector.fit(rows)))
    np.testing.assert_array_equal(again.decision_function(rows), detector.decision_function(rows))


@pytest.mark.parametrize("name", ["OneClassSVM", "KMeans", "LocalOutlierFactor"])
def test_arrays_in_another_order_do_not_matter(name):
    altered = Altered(name)
    expected = altered.restored().predict(X_NEW)
    for path in (
        *("fitted.support_vectors_", "fitted.cluster_centers_", "fitted.rows"),
        "fitted._distances_fit_X_",
    ):
        if path.partition(".")[2] in altered.stored["fitted"]:
            altered.set_array(path, np.asfortranarray(altered.array(path)))
    np.testing.assert_array_equal(altered.restored().predict(X_NEW), expected)


def test_a_forest_computes_what_it_does_not_store():
    stored = Altered("IsolationForest")
    forest, original = stored.restored(), EXAMPLES["IsolationForest"].made()
    for tree, same in zip(forest.estimators_, original.estimators_, strict=True):
        assert tree.get_params() == same.get_params()
        assert tree.tree_.max_depth == same.tree_.max_depth
        np.testing.assert_array_equal(tree.feature_importances_, same.feature_importances_)
        paths = [each.decision_path(X_NEW.astype(np.float32)).toarray() for each in (tree, same)]
        np.testing.assert_array_equal(*paths)


def test_rod_of_two_columns_is_not_stored_because_it_does_not_know_their_number():
    from pyod.models.rod import ROD

    with pytest.raises(NotDescribedError, match="fewer than three columns"):
        store(ROD().fit(X_TRAIN[:, :2]))


def test_loda_keeps_the_weights_of_its_cuts():
    from pyod.models.loda import LODA

    detector = LODA(n_random_cuts=10, random_state=0).set_params(n_random_cuts=5).fit(X_TRAIN)
    again = restore(*store(detector))
    np.testing.assert_array_equal(again.decision_function(X_NEW), detector.decision_function(X_NEW))


def test_a_file_does_not_ask_for_processes():
    from pyod.models.ecod import ECOD

    detector = ECOD().fit(X_TRAIN)
    expected = detector.decision_function(X_NEW)
    again = restore(*store(detector.set_params(n_jobs=2)))
    assert again.n_jobs == 1
    np.testing.assert_array_equal(again.decision_function(X_NEW), expected)
