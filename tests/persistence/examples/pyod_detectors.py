"""PyOD's detectors that consist of arrays, and of scalers of scikit-learn."""

from functools import partial
from importlib import import_module

import numpy as np

from . import X_NEW, X_TRAIN, Example

WIDE_TRAIN, WIDE_NEW = (np.hstack([rows, rows[:, ::-1] ** 2]) for rows in (X_TRAIN, X_NEW))
TIES = np.round(X_TRAIN)
NUMBERS = np.arange(60).reshape(20, 3) % 7  # integers


def fitted(type_name, rows, parameters):
    module, _, name = type_name.rpartition(".")
    return getattr(import_module(module), name)(**parameters).fit(rows)


def example(name, what="", rows=X_TRAIN, new=X_NEW, **parameters):
    """A fitted detector of PyOD: `name` is that of its module and class."""
    type_name = f"pyod.models.{name}"
    return Example(type_name, partial(fitted, type_name, rows, parameters), new, what)


EXAMPLES = [
    example("ecod.ECOD"),
    example("ecod.ECOD", "one column", X_TRAIN[:, :1], X_NEW[:, :1]),
    example("copod.COPOD", "ties", TIES),
    example("copod.COPOD", "integers", NUMBERS, NUMBERS[::2]),
    example("hbos.HBOS"),
    example("hbos.HBOS", "other parameters", n_bins=3, alpha=0.9, tol=0.1, contamination=0.5),
    example("hbos.HBOS", "auto", WIDE_TRAIN, WIDE_NEW, n_bins="auto"),
    example("hbos.HBOS", "auto, float32", X_TRAIN.astype("float32"), n_bins="auto"),
    example("inne.INNE", n_estimators=5, random_state=0),
    example("inne.INNE", "single centroids", n_estimators=2, max_samples=1, random_state=0),
    example("inne.INNE", "share of rows", n_estimators=2, max_samples=0.3, random_state=0),
    example("loda.LODA", n_random_cuts=7, random_state=0),
    example("loda.LODA", "one bin", n_bins=1, n_random_cuts=2, random_state=0),
    example("loda.LODA", "auto", WIDE_TRAIN, WIDE_NEW, n_bins="auto", random_state=0),
    example("mad.MAD", "", X_TRAIN[:, :1], X_NEW[:, :1]),
    example("mad.MAD", "missing values", [[np.nan], [1.0], [2.0], [4.0]], X_NEW[:, :1]),
    example("pca.PCA"),
    example("pca.PCA", "not scaled", standardization=False, weighted=False, n_components=2),
    example("pca.PCA", "last components", WIDE_TRAIN, WIDE_NEW, n_selected_components=2),
    example("qmcd.QMCD"),
    example("qmcd.QMCD", "ties, float32", TIES.astype("float32")),
    example("rgraph.RGraph", "", X_TRAIN[:20], X_NEW[:3], verbose=False),
    example(
        *("rgraph.RGraph", "not scaled", X_TRAIN[:12], X_NEW[:3]),
        **{"preprocessing": False, "algorithm": "lasso_cd", "verbose": False},
    ),
    example("rgraph.RGraph", "small support", X_TRAIN[:12], support_size=9, verbose=False),
    example("rod.ROD"),
    example("rod.ROD", "more columns", WIDE_TRAIN[:, :5], WIDE_NEW[:, :5]),
    example("sampling.Sampling", random_state=0),
    example("sampling.Sampling", "share of rows", subset_size=0.2, metric="canberra"),
    example("sampling.Sampling", "integers", NUMBERS, NUMBERS[::2], subset_size=5),
    example("sampling.Sampling", "metric_params", metric_params={"p": 3, "w": np.arange(3.0)}),
]
