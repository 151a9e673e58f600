"""Pipelines, unions, column transformers and frozen estimators of scikit-learn."""

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.ensemble import IsolationForest
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    OneHotEncoder,
    PolynomialFeatures,
    StandardScaler,
)

from . import X_NEW, X_TRAIN, Example

TABLE = pd.DataFrame(X_TRAIN, columns=list("abc")).assign(kind=["x", "y", "z"] * 20)
NEW_TABLE = pd.DataFrame(X_NEW, columns=list("abc")).assign(kind=["x", "y", "new", "z", "x"] * 2)
FOREST = IsolationForest(n_estimators=3, random_state=0)
KINDS = OneHotEncoder(handle_unknown="ignore")


def fitted(estimator, rows, output=None):
    """Examples share their parts, so each one is fitted to a copy."""

    def make():
        made = clone(estimator)
        return (made if output is None else made.set_output(transform=output)).fit(rows)

    return make


def pipeline(name, *steps, rows=X_TRAIN, new=X_NEW, output=None, **parameters):
    made = make_pipeline(*steps, **parameters)
    return Example("sklearn.pipeline.Pipeline", fitted(made, rows, output), new, name)


def union(name, *parts, rows=X_TRAIN, new=X_NEW, **parameters):
    made = FeatureUnion(list(parts), **parameters)
    return Example("sklearn.pipeline.FeatureUnion", fitted(made, rows), new, name)


def columns(name, *transformers, rows=TABLE, new=NEW_TABLE, output=None, **parameters):
    made = ColumnTransformer(list(transformers), **parameters)
    return Example("sklearn.compose.ColumnTransformer", fitted(made, rows, output), new, name)


def frozen(name, estimator):
    return Example(
        "sklearn.frozen.FrozenEstimator",
        lambda: FrozenEstimator(clone(estimator).fit(X_TRAIN)),
        name=name,
    )


ALL_COLUMNS = ColumnTransformer(
    [
        ("kind", KINDS, ["kind"]),
        ("first", SimpleImputer(add_indicator=True), slice(0, 2)),
        ("all", StandardScaler(), make_column_selector(dtype_include=float)),
    ]
)
POSITIONS = ColumnTransformer(
    [("products", PolynomialFeatures(2), [0, -1])], remainder="passthrough"
)

EXAMPLES = [
    pipeline("", StandardScaler(), FOREST),
    pipeline("of transformers", StandardScaler(), PCA(2)),
    pipeline("with steps left out", StandardScaler(), None, "passthrough", FOREST),
    pipeline("that ends in nothing", StandardScaler(), "passthrough", verbose=False),
    pipeline("in a pipeline", make_pipeline(FunctionTransformer(np.arctan), PCA(2)), FOREST),
    pipeline("that ends in a projection", StandardScaler(), PCA(2, svd_solver="full")),
    pipeline("with tables inside", StandardScaler(), FOREST, output="pandas"),
    pipeline("of columns", ALL_COLUMNS, FOREST, rows=TABLE, new=NEW_TABLE),
    pipeline("of positions", POSITIONS, StandardScaler(), Nystroem(n_components=5), FOREST),
    pipeline(
        "with sparse rows",
        ColumnTransformer([("kind", KINDS, ["kind"])], sparse_threshold=1.0),
        MaxAbsScaler(),
        FunctionTransformer(np.sqrt),
        TruncatedSVD(2, random_state=0),
        FOREST,
        rows=TABLE,
        new=NEW_TABLE,
    ),
    pipeline("with a sparse last step", KINDS, FOREST, rows=np.round(X_TRAIN)),
    pipeline("with a frozen step", FrozenEstimator(StandardScaler().fit(X_TRAIN)), FOREST),
    union("", ("scale", StandardScaler()), ("project", PCA(2))),
    union("with words", ("scale", StandardScaler()), ("same", "passthrough"), ("none", "drop")),
    union("with weights", ("a", StandardScaler()), ("b", PCA(1)), transformer_weights={"a": 2.5}),
    union(
        "with sparse rows",
        ("kind", OneHotEncoder(handle_unknown="ignore")),
        ("scale", StandardScaler()),
        rows=np.round(X_TRAIN),
    ),
    columns("", ("kind", KINDS, ["kind"]), ("numbers", StandardScaler(), ["a", "b"])),
    columns("by positions", ("x", StandardScaler(), [0, 2]), ("y", "drop", [-1])),
    columns("by an array", ("x", StandardScaler(), np.array([2, 0])), rows=X_TRAIN, new=X_NEW),
    columns("by a slice", ("x", StandardScaler(), slice(0, 2)), ("y", KINDS, slice("kind", None))),
    columns("by a slice of names", ("x", StandardScaler(), slice("a", "b"))),
    columns("by flags", ("x", StandardScaler(), [True, False, True, False])),
    columns("by an array of flags", ("x", PCA(1), np.array([True, False, True, False]))),
    columns(
        "by type",
        ("kind", KINDS, make_column_selector(dtype_exclude=["number", bool])),
        ("numbers", StandardScaler(), make_column_selector("^[ab]$", dtype_include=np.number)),
    ),
    columns(
        "with the rest",
        ("kind", KINDS, ["kind"]),
        ("none", StandardScaler(), []),
        ("no flag", StandardScaler(), [False] * 4),
        remainder="passthrough",
    ),
    columns("with the rest scaled", ("kind", KINDS, ["kind"]), remainder=StandardScaler()),
    columns("with the rest of flags", ("a", PCA(1), [True] * 3 + [False]), remainder=KINDS),
    columns("without a rest of flags", ("a", KINDS, [True] * 4), remainder=StandardScaler()),
    columns("with one column left out", ("id", "drop", "kind"), ("a", StandardScaler(), ["a"])),
    columns("sparse", ("kind", KINDS, ["kind"]), sparse_threshold=1.0, n_jobs=1),
    columns(
        "that gives tables",
        ("scale", StandardScaler(), ["a", "b"]),
        ("same", "passthrough", ["c"]),
        output="pandas",
        verbose_feature_names_out=False,
        transformer_weights={"scale": 2},
    ),
    columns(
        "with pipelines",
        ("kind", make_pipeline(SimpleImputer(strategy="most_frequent"), KINDS), ["kind"]),
        ("numbers", make_pipeline(SimpleImputer(), StandardScaler()), ["a", "b", "c"]),
    ),
    frozen("", FOREST),
    frozen("transformer", StandardScaler()),
    frozen("pipeline", Pipeline([("scale", StandardScaler()), ("detect", FOREST)])),
]
