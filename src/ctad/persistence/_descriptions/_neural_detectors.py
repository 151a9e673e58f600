"""The neural detectors of ctad."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from ..._thresholds import labels_above
from .._description import Description, Values, set_attributes
from .._kinds import (
    Choice,
    Flag,
    Floats,
    Integer,
    Kind,
    ListOf,
    Number,
    Object,
    Optional,
    Seed,
    require,
)
from ._common import COLUMNS, POSITIVE
from ._network_weights import Weights, network_with, weights_of
from ._pyod_networks import DESCRIPTIONS as PYOD_NETWORKS
from ._pyod_other_networks import DESCRIPTIONS as PYOD_OTHER_NETWORKS
from ._transformers_common import check_inner_scaler

if TYPE_CHECKING:
    from .._reader import Scope

COUNT = SIZE = Integer(1, 2**31 - 1)  # sizes are those of the weights, or the network is refused
BELOW_ONE = math.nextafter(1, 0)
SCALERS = {"standard": StandardScaler, "minmax": MinMaxScaler, "none": None}

PARAMETERS: dict[str, Kind] = {
    "epochs": COUNT,
    "max_steps": Optional(COUNT),
    "batch_size": COUNT,
    "learning_rate": Number(0, 1e3),
    "weight_decay": Number(0, 1e3),
    "betas": ListOf(Number(0, BELOW_ONE), 2, tuple),
    "decay": Number(0, 1e3),
    "decay_epochs": COUNT,
    "shuffle": Flag(),
    "scaling": Choice(tuple(SCALERS)),
    "patience": Optional(COUNT),
    "contamination": Number(POSITIVE, 0.5),
    "device": Choice(("auto", "cpu", "cuda")),
    "show_progress": Flag(),
    "random_state": Seed(),
}
FITTED: dict[str, Kind] = {
    **COLUMNS,
    "scaler_": Optional(
        Object(types=("sklearn.preprocessing.StandardScaler", "sklearn.preprocessing.MinMaxScaler"))
    ),
    "weights": Weights(),
    "loss_curve_": ListOf(Number()),
    "decision_scores_": Floats("rows", finite=False),
    "threshold_": Number(infinite=True),
}


def _take_apart(detector: Any) -> Values:
    return {"weights": weights_of(detector.network_)} if hasattr(detector, "network_") else {}


def _check(values: Values, scope: Scope) -> None:
    check_inner_scaler("scaler_", values["scaler_"], SCALERS[values["scaling"]], scope)
    require(np.isfinite(values["decision_scores_"]).any(), "decision_scores_: no finite score")


def _put_together(detector: Any, values: dict[str, Any]) -> None:
    weights = values.pop("weights")
    set_attributes(detector, values)
    detector.network_ = network_with(weights, detector.empty_network, detector.torch_device)
    detector.labels_ = labels_above(detector.threshold_, detector.decision_scores_)


def _description(name: str, parameters: dict[str, Kind]) -> Description:
    return Description(
        type=name,
        role="network",
        parameters={**PARAMETERS, **parameters},
        fitted=FITTED,
        rebuilt=("network_", "labels_"),
        take_apart=_take_apart,
        put_together=_put_together,
        check=_check,
        n_in="d",
        work=lambda values, scope: values["network_"].work_per_row,
    )


DESCRIPTIONS = (
    _description(
        "ctad.detectors.drl.DRL",
        {
            "n_basis": SIZE,
            "width": SIZE,
            "alignment_weight": Number(0, 1e9),
            "separation_weight": Number(0, 1e9),
        },
    ),
    _description(
        "ctad.detectors.dte.DTE", {"n_steps": SIZE, "n_bins": SIZE, "dropout": Number(0, 0.99)}
    ),
    _description(
        "ctad.detectors.goad.GOAD",
        {
            "n_maps": SIZE,
            "map_width": SIZE,
            "n_layers": Integer(1, 100),
            "width": SIZE,
            "triplet_weight": Number(0, 1e9),
        },
    ),
    _description(
        "ctad.detectors.icl.ICL",
        {
            "window": Optional(SIZE),
            "temperature": Number(1e-6, 1e9),
            "stop_loss": Optional(Number(0, 1e9)),
        },
    ),
    _description("ctad.detectors.mcm.MCM", {"n_masks": SIZE, "diversity_weight": Number(0, 1e9)}),
    _description(
        "ctad.detectors.neutralad.NeuTraLAD",
        {"n_views": SIZE, "temperature": Number(1e-6, 1e9)},
    ),
    *PYOD_NETWORKS,
    *PYOD_OTHER_NETWORKS,
)
