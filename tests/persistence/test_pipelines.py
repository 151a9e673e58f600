"""Pipelines, unions, column transformers and encoders whose parts do not fit together."""

import copy
import math
from contextlib import nullcontext

import numpy as np
import pandas as pd
import pytest
from pyod.models.hbos import HBOS
from pyod.models.rod import ROD
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.decomposition import PCA, KernelPCA
from sklearn.ensemble import IsolationForest
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    SplineTransformer,
    StandardScaler,
)
from sklearn.svm import OneClassSVM

from ctad import CalibratedDetector, load
from ctad.persistence import ModelFileError
from ctad.persistence._arrays import array_to_bytes
from ctad.persistence._kinds import NotDescribedError, Object
from ctad.persistence._reader import MAX_DEPTH, Reader
from ctad.persistence._writer import Writer
from ctad.tables import TableEncoder

from .examples import X_TRAIN
from .files import FRAME, contents, sign
from .stored import ANYWHERE, restore, store

DETECTOR = Object(roles=("detector",))
TEXT = pd.DataFrame({"kind": ["x", "y", "z"] * 20, "size": np.arange(60.0)})
ROUNDED = np.round(X_TRAIN)


def forest(n_columns):
    return IsolationForest(n_estimators=2, random_state=0).fit(np.resize(X_TRAIN, (60, n_columns)))


def scaler(n_columns=3):
    return StandardScaler().fit(X_TRAIN[:, :n_columns])


def refused(item, match, kind=ANYWHERE):
    """Assert that an object can be written and is not read."""
    writer = Writer()
    reader = Reader("", {"model": kind.write(item, writer)}, writer._entries)
    with pytest.raises(NotDescribedError, match=match):
        reader.model(kind)


def of_text(encoder):
    return encoder.fit(TEXT[["kind"]].astype(object))


@pytest.mark.parametrize(
    ("steps", "match"),
    [
        ((scaler(2), forest(3)), "gets 2 columns and expects 3"),
        ((scaler(), None, forest(4)), "gets 3 columns and expects 4"),
        ((PCA(2).fit(X_TRAIN), forest(3)), "gets 2 columns and expects 3"),
        ((PolynomialFeatures(2).fit(X_TRAIN), forest(3)), "gets 10 columns and expects 3"),
        ((make_pipeline(scaler(), PCA(1).fit(X_TRAIN)), forest(3)), "gets 1 columns"),
        ((FeatureUnion([("a", scaler()), ("b", scaler())]), forest(3)), "gets 6 columns"),
        ((OneHotEncoder().fit(ROUNDED), MinMaxScaler().fit(np.ones((2, 15)))), "sparse rows"),
        ((OneHotEncoder().fit(ROUNDED), FunctionTransformer(np.log).fit(np.ones((2, 15)))), "spar"),
        ((OneHotEncoder().fit(ROUNDED), MaxAbsScaler().fit(np.ones((2, 15))), forest(14)), "15"),
        (
            (OneHotEncoder().fit(ROUNDED), PolynomialFeatures(4).fit(np.ones((2, 15)))),
            "sparse rows",
        ),
        (
            (OneHotEncoder().fit(ROUNDED), Nystroem("chi2", n_components=1).fit(np.ones((2, 15)))),
            "sparse rows",
        ),
        ((scaler(1), of_text(OneHotEncoder())), "numbers, not text"),
        ((scaler(1), make_pipeline("passthrough", of_text(OrdinalEncoder()))), "numbers, not text"),
        ((VarianceThreshold().fit(X_TRAIN).set_params(threshold=9), forest(3)), "no columns"),
    ],
)
def test_rows_between_steps(steps, match):
    refused(make_pipeline(*steps), match)


def test_names_of_steps():
    for names, match in (
        (("a", "a"), "same name twice"),
        (("a", "b__c"), "cannot be a name"),
        (("a", "memory"), "cannot be a name"),
        (("self", "b"), "cannot be a name"),
    ):
        with pytest.raises(NotDescribedError, match=match):
            store(Pipeline(list(zip(names, (scaler(), forest(3)), strict=True))))


def test_the_last_step_of_a_detector_is_a_detector():
    pipelines = make_pipeline(scaler()), make_pipeline(scaler(), make_pipeline(scaler()))
    for pipeline in pipelines:
        with pytest.raises(NotDescribedError, match="StandardScaler cannot be stored here"):
            DETECTOR.write(pipeline, Writer())
        stored, entries = store(pipeline)
        with pytest.raises(NotDescribedError, match="StandardScaler cannot be here"):
            Reader("", {"model": stored}, entries).model(DETECTOR)
    with pytest.raises(NotDescribedError, match="without a step that does something"):
        store(make_pipeline("passthrough", None))


def test_steps_are_fitted_and_transform():
    with pytest.raises(NotDescribedError, match="not fitted"):
        store(make_pipeline(StandardScaler(), forest(3)))
    with pytest.raises(NotDescribedError, match="IsolationForest cannot be stored here"):
        store(make_pipeline(forest(3), forest(3)))
    stored, entries = store(make_pipeline(scaler(), forest(3)))
    stored["parameters"]["steps"][0][1]["fitted"] = None
    with pytest.raises(NotDescribedError, match="not fitted"):
        restore(stored, entries)


def test_scores_of_a_projection_do_not_get_sparse_rows():
    encoder = OneHotEncoder().fit(ROUNDED)
    pipeline = make_pipeline(encoder, PCA(2).fit(encoder.transform(ROUNDED).toarray()))
    restore(*store(pipeline))
    refused(pipeline, "sparse rows", DETECTOR)


def test_work_of_scores_grows_with_the_cube_of_columns():
    wide = PCA(1).fit(np.random.default_rng(0).normal(size=(3, 3000)))
    for kind, is_much in ((DETECTOR, True), (Object(roles=("transformer",)), False)):
        writer = Writer()
        reader = Reader("", {"model": kind.write(wide, writer)}, writer._entries)
        reader.model(kind)
        assert (reader.work > 10**9) == is_much


@pytest.mark.parametrize(
    "make",
    [
        lambda: StandardScaler().set_output(transform="pandas"),
        lambda: StandardScaler().set_output(transform="polars"),
        lambda: QuantileTransformer(n_quantiles=2),
        PowerTransformer,
        lambda: KBinsDiscretizer(2, strategy="uniform"),
        lambda: SplineTransformer(2),
        lambda: OneHotEncoder(),
        lambda: OrdinalEncoder(),
        lambda: KNNImputer(n_neighbors=2),
        lambda: HBOS(n_bins="auto"),
    ],
)
def test_work_counts_loops_of_libraries_over_columns(make):
    rows = np.round(np.resize(X_TRAIN, (20, 300)), 1)
    stored, entries = store(make().fit(rows))
    reader = Reader("", {"model": stored}, entries)
    with np.errstate(all="ignore"):
        reader.model(ANYWHERE)
    assert reader.work > 300 * 1000


@pytest.mark.parametrize("kind", ["union", "columns"])
def test_names_of_parts_count_as_parts_of_the_names_of_columns(kind):
    bins = KBinsDiscretizer(600, encode="onehot-dense", strategy="uniform")
    part = ("n" * 100_000, bins.set_output(transform="pandas"))
    rows = np.linspace(0, 1, 1000)[:, np.newaxis]
    made = {"union": FeatureUnion([part]), "columns": ColumnTransformer([(*part, [0])])}
    refused(
        made[kind].set_output(transform="pandas").fit(rows),
        "600 columns with names of 100002 characters",
    )


def test_subspaces_and_splines_are_objects_so_their_number_is_limited():
    stored, entries = store(ROD().fit(np.resize(X_TRAIN, (20, 5)) + np.arange(20)[:, np.newaxis]))
    n_columns, n_subspaces = 101, math.comb(101, 3)
    fitted = stored["fitted"]
    scaler = fitted["data_scaler_"]["fitted"]
    scaler["n_features_in_"] = n_columns
    arrays = {
        **{name: np.ones(n_columns) for name in ("center_", "scale_")},
        "geometric_medians": np.ones((n_subspaces, 3)),
        "cost_medians": np.ones(n_subspaces),
        "angle_counts": np.full((2, n_subspaces), 5),
        "angle_scales": np.ones((2, n_subspaces, 5)),
    }
    for name, values in arrays.items():
        entries[{**fitted, **scaler}[name]["array"]] = array_to_bytes(values)
    with pytest.raises(NotDescribedError, match="more than 100 columns"):
        restore(stored, entries)
    stored, entries = store(SplineTransformer(2, degree=0).fit(X_TRAIN))
    stored["fitted"]["n_features_in_"] = 100_001
    knots = np.tile([[0.0], [1.0]], 100_001)
    entries[stored["fitted"]["all_knots"]["array"]] = array_to_bytes(knots)
    with pytest.raises(NotDescribedError, match="all_knots: too many columns"):
        restore(stored, entries)


def test_parts_that_are_not_fitted_are_few():
    steps = [(f"s{number}", StandardScaler()) for number in range(1000)]
    unfitted = Object(roles=("detector",), fitted=None)
    for n_steps, is_refused in ((999, False), (1000, True)):
        pipeline = Pipeline([*steps[:n_steps], ("detect", IsolationForest())])
        stored = unfitted.write(pipeline, Writer())
        with (
            pytest.raises(NotDescribedError, match="more than 1000 unf")
            if is_refused
            else nullcontext()
        ):
            Reader("", {"model": stored}, {}).model(unfitted)


def test_a_file_cannot_ask_for_printing():
    stored, entries = store(
        IsolationForest(n_estimators=2, verbose=100, random_state=0).fit(X_TRAIN)
    )
    assert restore(stored, entries).verbose == 0
    stored["parameters"]["verbose"] = 100
    with pytest.raises(NotDescribedError, match="verbose"):
        restore(stored, entries)


def test_parts_of_a_union():
    refused(FeatureUnion([("a", scaler(2)), ("b", scaler(3))]), "gets 2 columns and expects 3")
    refused(FeatureUnion([("a", scaler()), ("a", scaler())]), "same name twice")
    refused(FeatureUnion([("a", "passthrough"), ("b", "drop")]), "without a transformer")


def columns(*transformers, **parameters):
    table = pd.DataFrame(X_TRAIN, columns=["a", "b", "c"])
    return ColumnTransformer(list(transformers), **parameters).fit(table)


def change(item, **changes):
    """The stored form of an object with other fitted values."""
    stored, entries = store(item)
    stored = copy.deepcopy(stored)
    for name, value in changes.items():
        stored["fitted"][name] = value(stored["fitted"][name])
    return stored, entries


@pytest.mark.parametrize(
    ("selected", "match"),
    [
        (["a", "z"], "no column 'z'"),
        ([0, 3], "no column 3"),
        ([0, -4], "no column -4"),
        ([True, False], "2 flags"),
        ({"slice": [None, "z", None]}, "no column 'z'"),
        ({"slice": ["a", "b", 2]}, "step between names"),
        ({"slice": [0, 2, 0]}, "step of 0"),
        ({"slice": [0, 2, "a"]}, "not a slice"),
        ({"slice": [0, 3, None]}, "not the columns of 'x'"),
        ([1, 0], "not the columns of 'x'"),
        ([0], "not the columns of 'x'"),
        (0, "not the columns of 'x'"),
    ],
)
def test_columns_that_do_not_exist_or_are_others(selected, match):
    stored, entries = store(columns(("x", StandardScaler(), ["a", "b"])))
    stored["fitted"]["transformers_"][0][2] = selected
    stored["parameters"]["transformers"][0][2] = selected
    with pytest.raises(NotDescribedError, match=match):
        restore(stored, entries)


def test_fitted_transformers_are_those_of_the_parameters():
    item = columns(("x", StandardScaler(), ["a"]), ("y", "drop", ["b"]))

    def altered(change_entry):
        return change(item, transformers_=lambda entries: [change_entry(e) for e in entries])

    for change_entry in (
        lambda entry: [f"{entry[0]}2", *entry[1:]],
        lambda entry: [entry[0], "drop", entry[2]],
        lambda entry: [*entry[:2], entry[2] * 2],
    ):
        with pytest.raises(NotDescribedError, match="transformers_: 'x"):
            restore(*altered(change_entry))
    for fewer in (lambda entries: entries[:1], lambda entries: entries[1:], lambda entries: []):
        with pytest.raises(NotDescribedError):
            restore(*change(item, transformers_=fewer, indices=fewer, widths=fewer))


def test_widths_and_indices_of_column_transformers():
    item = columns(("x", PCA(1), ["a", "b"]), remainder="passthrough")
    for changes, match in (
        ({"widths": lambda widths: [2, 1]}, "widths: not that of 'x'"),
        ({"widths": lambda widths: [1, 2]}, "widths: not that of 'remainder'"),
    ):
        with pytest.raises(NotDescribedError, match=match):
            restore(*change(item, **changes))
    stored, entries = store(item)
    for name, indices in ((0, [0, 2]), (1, [1])):
        array = stored["fitted"]["indices"][name]["array"]
        with pytest.raises(NotDescribedError, match="indices: not the columns"):
            restore(stored, {**entries, array: array_to_bytes(np.array(indices))})
    single = change(
        columns(("x", "drop", "a"), ("y", StandardScaler(), ["b"])),
        transformers_=lambda entries: [["x", entries[1][1], "a"], *entries[1:]],
    )
    with pytest.raises(NotDescribedError):
        restore(*single)


def test_patterns_of_selectors_do_not_repeat():
    simple = make_column_selector("^a$|b", dtype_include=["number", float])
    again = restore(*store(columns(("x", StandardScaler(), simple))))
    assert vars(again.transformers[0][2]) == vars(simple)
    for pattern, match in (("(a+)+$", "simple pattern"), ("[", "pattern: ")):
        item = columns(("x", StandardScaler(), make_column_selector("a")))
        item.transformers[0][2].pattern = pattern
        with pytest.raises(NotDescribedError, match=match):
            store(item)


def test_a_name_in_a_column_transformer_is_not_reserved():
    for name in ("remainder", "self", "n_jobs", "a__b"):
        item = columns(("x", StandardScaler(), ["a"]))
        stored, entries = store(item)
        stored["parameters"]["transformers"][0][0] = name
        stored["fitted"]["transformers_"][0][0] = name
        with pytest.raises(NotDescribedError, match="name"):
            restore(stored, entries)


def test_codes_of_categories():
    encoder = OneHotEncoder(min_frequency=5, drop="first").fit(ROUNDED)
    again = restore(*store(encoder))
    for name in ("_n_features_outs", "_infrequent_enabled"):
        assert getattr(again, name) == getattr(encoder, name)
    for name in ("_default_to_infrequent_mappings", "_infrequent_indices"):
        for ours, theirs in zip(getattr(again, name), getattr(encoder, name), strict=True):
            np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(again._drop_idx_after_grouping, encoder._drop_idx_after_grouping)
    np.testing.assert_array_equal(again.drop_idx_, encoder.drop_idx_)
    stored, entries = store(encoder)
    rare = stored["fitted"]["_infrequent_indices"]
    for indices in ([9], [1, 0], [0, 0]):
        array = rare[0]["array"]
        with pytest.raises(NotDescribedError, match="_infrequent_indices"):
            restore(stored, {**entries, array: array_to_bytes(np.array(indices))})
    with pytest.raises(NotDescribedError, match="drop_idx_"):
        restore(*change(encoder, drop_idx_=lambda dropped: [99, *dropped[1:]]))
    with pytest.raises(NotDescribedError, match="drop_idx_"):
        restore(*change(encoder, drop_idx_=lambda dropped: None))
    categories = stored["fitted"]["categories_"][0]["array"]
    for numbers in ([1.0, 0.0], [np.nan, 1.0], [1.0, 1.0], [np.inf], [np.nan, np.nan]):
        with pytest.raises(NotDescribedError):
            restore(stored, {**entries, categories: array_to_bytes(np.array(numbers))})


def test_values_that_are_filled_in_are_of_the_type_of_rows():
    imputer = SimpleImputer(strategy="constant", fill_value=1).fit(ROUNDED.astype(int))
    for values in (["a", 1, 2], [2**62, 1, 10**30], [None, 1, 2]):
        with pytest.raises(NotDescribedError):
            restore(*change(imputer, statistics_=lambda _, values=values: values))
    with pytest.raises(NotDescribedError, match="not numbers"):
        restore(*change(imputer, statistics_=lambda _: ["a", 1, 2]))


def test_inner_objects_are_for_the_same_columns():
    kernel = KernelPCA(2).fit(X_TRAIN)
    kernel._centerer = KernelPCA(2).fit(X_TRAIN[:9])._centerer
    refused(kernel, "_centerer: not for these rows")
    imputer = SimpleImputer(add_indicator=True).fit(X_TRAIN)
    imputer.indicator_ = SimpleImputer(add_indicator=True).fit(X_TRAIN[:, :2]).indicator_
    refused(imputer, "indicator_")


def test_parts_of_a_table_encoder():
    encoder = TableEncoder().fit(TEXT)
    for part, other, match in (
        ("number_scaler_", scaler(), "number_scaler_"),
        ("number_imputer_", SimpleImputer().fit(X_TRAIN[:, :1]), "number_imputer_"),
        ("number_imputer_", None, "number_imputer_"),
        ("date_imputer_", SimpleImputer().fit(X_TRAIN), "date_imputer_"),
        ("category_encoder_", OneHotEncoder().fit(TEXT[["kind"]]), "category_encoder_"),
        ("varies_", np.array([True]), "varies_"),
        ("varies_", np.array([True, True, True, False]), "varies_"),
        ("dropped_", {"kind": "twice"}, "same name twice"),
        ("dropped_", {"other": "unknown"}, "other names"),
    ):
        changed = copy.copy(encoder)
        setattr(changed, part, other)
        refused(changed, match)
    refused(copy.deepcopy(encoder).set_output(transform="pandas"), "gives tables")


def test_products_are_counted_before_they_are_made():
    item = PolynomialFeatures(2).fit(X_TRAIN)
    for changed in (
        {"_max_degree": lambda _: 100},
        {"_max_degree": lambda _: 100, "_min_degree": lambda _: 100},
        {"n_features_in_": lambda _: 2**53, "_max_degree": lambda _: 100},
    ):
        stored, entries = change(item, **changed)
        with pytest.raises(NotDescribedError, match=r"more than [0-9,]+ columns are made"):
            restore(stored, entries)


def test_columns_that_leave_a_union_are_limited():
    many = FeatureUnion([(f"n{i}", Normalizer().fit(X_TRAIN)) for i in range(50)])
    stored, entries = store(many)
    for _, part in stored["parameters"]["transformer_list"]:
        part["fitted"]["n_features_in_"] = 3000
    with pytest.raises(NotDescribedError, match="100,000 columns are made of 3,000"):
        restore(stored, entries)


def nested_pipelines(depth):
    """The JSON of pipelines inside each other."""
    stored, entries = store(make_pipeline(Normalizer().fit(X_TRAIN)))
    for _ in range(depth - 1):
        stored = {**stored, "parameters": {**stored["parameters"], "steps": [["again", stored]]}}
    return stored, entries


def test_pipelines_inside_pipelines_are_limited():
    """scikit-learn asks what is inside several times per level."""
    restore(*nested_pipelines(MAX_DEPTH - 1))
    with pytest.raises(NotDescribedError, match=f"more than {MAX_DEPTH} objects in each other"):
        restore(*nested_pipelines(MAX_DEPTH))


def test_steps_count_as_work(tmp_path):
    path = tmp_path / "model.ctad"
    steps = [Normalizer() for _ in range(5)]
    CalibratedDetector(make_pipeline(*steps, OneClassSVM())).fit(X_TRAIN).save(path)
    manifest, entries = contents(path)
    of_pipeline = manifest["model"]["fitted"]["detector_"]["parameters"]
    *inner, last = of_pipeline["steps"]
    of_pipeline["steps"] = [[f"n{i}", step] for i, (_, step) in enumerate(inner * 1000)] + [last]
    sign(path, manifest, entries)
    with pytest.raises(ModelFileError, match="operations, more than max_work"):
        load(path)


def test_names_are_not_multiplied():
    item = OneHotEncoder().set_output(transform="default").fit(FRAME[["kind"]])
    stored, entries = store(item)
    restore(stored, entries)
    stored["fitted"]["feature_names_in_"] = ["x" * 10**8]
    with pytest.raises(NotDescribedError, match="columns with names of 100000000 characters"):
        restore(stored, entries)
