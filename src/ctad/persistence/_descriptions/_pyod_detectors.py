"""PyOD's detectors that consist of arrays, and of scalers of scikit-learn.

SOS and LMDD have no description: they compare the rows of a batch with each other, so a stored one
knows nothing. Nor have FeatureBagging and SUOD, which need further packages (combo, suod), nor
LSCP, which chooses columns at random in every call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._description import Description, Values, set_attributes
from .._kinds import (
    Choice,
    Flag,
    Floats,
    Integer,
    Integers,
    MayBeMissing,
    Number,
    Object,
    OneOf,
    Optional,
    Seed,
    Unsaved,
    require,
)
from ._common import CALL, PYOD, PYOD_CONTAMINATION, SingleOrDouble, check_compared
from ._neighbours import METRICS, ROWS, SEARCH, check_metric, search_work
from ._transformers_common import is_default

if TYPE_CHECKING:
    from .._reader import Scope

# Scores of new rows are made from a distribution function of training rows and new rows.
DISTRIBUTION: dict[str, Any] = {
    "role": "detector",
    # Several jobs are several processes, which a file cannot ask for. Scores are the same.
    "parameters": {"contamination": PYOD_CONTAMINATION, "n_jobs": Unsaved(1)},
    "fitted": {**PYOD, "X_train": ROWS},
    "rebuilt": ("U_l", "U_r", "U_skew", "O"),  # of the rows that were scored last
    "n_in": "d",
}

# Metrics of scikit-learn's DistanceMetric.
SAMPLING_METRICS = tuple(
    metric for metric in METRICS if metric not in ("sqeuclidean", "cosine", "correlation")
)


def _put_together_mad(detector: Any, values: dict[str, Any]) -> None:
    set_attributes(detector, values)
    # Scores of float32 rows are float64 only if these are numbers of numpy.
    detector.median_ = np.float64(detector.median_)
    detector.median_diff_ = np.float64(detector.median_diff_)


def _put_together_sampling(detector: Any, values: dict[str, Any]) -> None:
    from sklearn.metrics import DistanceMetric

    set_attributes(detector, values)
    detector.dist = DistanceMetric.get_metric(detector.metric, **(detector.metric_params or {}))


def _check_sampling(values: Values, scope: Scope) -> None:
    check_metric({**values, "p": 2}, scope)
    check_compared(scope.lengths["sample"])


def _sampling_work(values: Values, scope: Scope) -> int:
    return search_work({**values, "p": 2}, scope.lengths["sample"], scope)


def _check_qmcd(values: Values, scope: Scope) -> None:
    scaler = values["_scaler"]
    require(is_default(scaler), "_scaler: not as QMCD makes it")
    # The loop in compiled code does not check the number of columns.
    require(scope.n_in(scaler) == scope.lengths["d"], "_scaler: not for these columns")


def _check_pca(values: Values, scope: Scope) -> None:
    projection, scaler = values["detector_"], values.get("scaler_")
    if values["standardization"]:
        require(
            scaler is not None
            and is_default(scaler)
            and scope.n_in(scaler) == scope.n_in(projection),
            "scaler_: not for these columns",
        )
    require(
        values["n_selected_components_"] <= projection.n_components_,
        "n_selected_components_: more than components",
    )


def _put_together_pca(detector: Any, values: dict[str, Any]) -> None:
    projection, last = values["detector_"], -values["n_selected_components_"]
    components = projection.components_
    weights = (
        projection.explained_variance_ratio_ if detector.weighted else np.ones(len(components))
    )
    set_attributes(detector, values)
    detector.n_components_ = len(components)
    detector.components_, detector.selected_components_ = components, components[last:]
    detector.w_components_, detector.selected_w_components_ = weights, weights[last:]


DESCRIPTIONS: tuple[Description, ...] = (
    Description(type="pyod.models.ecod.ECOD", **DISTRIBUTION),
    Description(type="pyod.models.copod.COPOD", **DISTRIBUTION),
    Description(
        type="pyod.models.inne.INNE",
        role="detector",
        parameters={
            "n_estimators": Integer(1, length="estimators"),
            "max_samples": OneOf((Choice(("auto",)), Integer(1), Number(0, 1))),
            "contamination": PYOD_CONTAMINATION,
            "random_state": Seed(),
        },
        fitted={
            **PYOD,
            "max_samples_": Integer(1, length="samples"),
            "_centroids": Floats("estimators", "samples", "d"),
            # The radius of a single centroid is infinite, and its ratio is not defined.
            "_centroids_radius": Floats("estimators", "samples", low=0, finite=False, nan=True),
            "_ratio": Floats("estimators", "samples", finite=False, nan=True),
            "_seeds": Integers("estimators", low=0, high=2**32 - 1),
        },
        check=lambda values, scope: check_compared(scope.lengths["samples"]),
        n_in="d",
        work=lambda values, scope: CALL * scope.lengths["estimators"],
    ),
    Description(
        type="pyod.models.mad.MAD",
        role="detector",
        parameters={
            "threshold": Number(infinite=True, nan=True),
            "contamination": PYOD_CONTAMINATION,
        },
        fitted={
            **PYOD,
            "median_": Number(infinite=True, nan=True),
            "median_diff_": Number(0, infinite=True, nan=True),
        },
        put_together=_put_together_mad,
        n_in=lambda values, scope: 1,
    ),
    Description(
        type="pyod.models.pca.PCA",
        role="detector",
        parameters={
            "n_components": OneOf((Choice((None, "mle")), Integer(1), Number(0, 1))),
            "n_selected_components": Optional(Integer(1)),
            "contamination": PYOD_CONTAMINATION,
            "copy": Flag(),
            "whiten": Flag(),
            "svd_solver": Choice(("auto", "full", "covariance_eigh", "arpack", "randomized")),
            "tol": Number(0),
            "iterated_power": OneOf((Choice(("auto",)), Integer(0))),
            "random_state": Seed(),
            "weighted": Flag(),
            "standardization": Flag(),
        },
        fitted={
            **PYOD,
            "scaler_": MayBeMissing(Object(types=("sklearn.preprocessing.StandardScaler",))),
            "detector_": Object(types=("sklearn.decomposition.PCA",)),
            "n_selected_components_": Integer(1),
        },
        rebuilt=(
            *("n_components_", "components_", "selected_components_"),
            *("w_components_", "selected_w_components_"),
        ),
        put_together=_put_together_pca,
        check=_check_pca,
        n_in=lambda values, scope: scope.n_in(values["detector_"]),
    ),
    Description(
        type="pyod.models.qmcd.QMCD",
        role="detector",
        parameters={"contamination": PYOD_CONTAMINATION},
        fitted={
            **PYOD,
            "_scaler": Object(types=("sklearn.preprocessing.MinMaxScaler",)),
            "_fitted_data": SingleOrDouble("rows", "d"),
            "_is_flipped": Flag(),
        },
        check=_check_qmcd,
        n_in="d",
    ),
    Description(
        type="pyod.models.sampling.Sampling",
        role="detector",
        parameters={
            "contamination": PYOD_CONTAMINATION,
            "subset_size": OneOf((Integer(1), Number(0, 1))),
            "metric": Choice(SAMPLING_METRICS),
            "metric_params": SEARCH["metric_params"],
            "random_state": Seed(),
        },
        fitted={
            **PYOD,
            "subset": OneOf((*SingleOrDouble("sample", "d").kinds, Integers("sample", "d"))),
        },
        rebuilt=("dist",),
        put_together=_put_together_sampling,
        check=_check_sampling,
        n_in="d",
        work=_sampling_work,
    ),
)
