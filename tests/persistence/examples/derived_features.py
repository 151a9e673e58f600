"""Features that scikit-learn derives from columns."""

import numpy as np
from sklearn.feature_selection import VarianceThreshold
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    PolynomialFeatures,
    SplineTransformer,
)

from . import X_NEW, X_TRAIN, Example
from .scalers import CONSTANT, GAPS, NEW_SINGLE, NEW_TABLE, SINGLE, TABLE


def bins(name="", rows=X_TRAIN, new=X_NEW, **parameters):
    return Example(
        "sklearn.preprocessing.KBinsDiscretizer",
        lambda: KBinsDiscretizer(**{"encode": "onehot-dense", **parameters}).fit(rows),
        new,
        name,
    )


def splines(name="", rows=X_TRAIN, new=X_NEW, **parameters):
    return Example(
        "sklearn.preprocessing.SplineTransformer",
        lambda: SplineTransformer(**parameters).fit(rows),
        new,
        name,
    )


def products(name="", rows=X_TRAIN, new=X_NEW, **parameters):
    return Example(
        "sklearn.preprocessing.PolynomialFeatures",
        lambda: PolynomialFeatures(**parameters).fit(rows),
        new,
        name,
    )


def function(name="", *functions, rows=X_TRAIN, new=X_NEW, **parameters):
    return Example(
        "sklearn.preprocessing.FunctionTransformer",
        lambda: FunctionTransformer(*functions, **parameters).fit(rows),
        new,
        name,
    )


def varying(name="", rows=X_TRAIN, new=X_NEW, **parameters):
    return Example(
        "sklearn.feature_selection.VarianceThreshold",
        lambda: VarianceThreshold(**parameters).fit(rows),
        new,
        name,
    )


KNOTS = np.linspace([-2.0] * 3, [2.0] * 3, 4)

EXAMPLES = [
    bins(),
    bins("sparse", encode="onehot"),
    bins("as numbers", encode="ordinal", n_bins=[2, 3, 4], strategy="uniform"),
    bins("by k-means", n_bins=np.array([2, 3, 4]), strategy="kmeans", random_state=0),
    bins("of a constant", CONSTANT),
    bins("of float32", SINGLE, NEW_SINGLE, strategy="uniform"),
    bins("in float32", TABLE, NEW_TABLE, dtype=np.float32),
    splines(),
    splines("with names", TABLE, NEW_TABLE, include_bias=False, knots="quantile", order="F"),
    splines("that go on", extrapolation="continue", degree=2, knots=KNOTS),
    splines("that go on straight", extrapolation="linear", degree=1),
    splines("that repeat", extrapolation="periodic"),
    splines("that repeat, sparse", extrapolation="periodic", sparse_output=True),
    splines("that step", degree=0, n_knots=3, extrapolation="continue"),
    splines("sparse", sparse_output=True, degree=2),
    splines("of missing values", GAPS, handle_missing="zeros"),
    splines("of a constant", CONSTANT, n_knots=2),
    products(),
    products("of float32", SINGLE, NEW_SINGLE, degree=3, include_bias=False),
    products("of a range of degrees", TABLE, NEW_TABLE, degree=(2, 3)),
    products("of different columns", interaction_only=True, degree=3, order="F"),
    products("of degree 0", degree=0),
    function(),
    function("log1p", np.log1p, np.expm1, rows=abs(X_TRAIN), new=abs(X_NEW), validate=True),
    function("abs", np.abs, feature_names_out="one-to-one", rows=TABLE, new=NEW_TABLE),
    function("sqrt", np.sqrt, kw_args={}, accept_sparse=True, check_inverse=False),
    varying(),
    varying("of some columns", CONSTANT),
    varying("with names", TABLE, NEW_TABLE, threshold=1.0),
]
