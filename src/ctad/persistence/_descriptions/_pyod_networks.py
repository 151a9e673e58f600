"""PyOD's neural detectors, and ctad's subclasses of them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.preprocessing import StandardScaler

from ..._thresholds import labels_above
from .._description import Description, Values, set_attributes
from .._kinds import (
    Array,
    Choice,
    Flag,
    Floats,
    Integer,
    Kind,
    ListOf,
    MayBeMissing,
    Number,
    Object,
    OneOf,
    Optional,
    Record,
    Seed,
    require,
)
from ._common import PYOD, PYOD_CONTAMINATION, VERBOSE, SingleOrDouble
from ._network_weights import Weights, network_with, weights_of
from ._transformers_common import check_inner_scaler

if TYPE_CHECKING:
    from .._reader import Scope

COUNT = Integer(1, 2**31 - 1)
COLUMNS = Integer(1, 2**31 - 1, length="d")
# Some versions of PyTorch make a list of this length for each batch.
BATCH_SIZE = Integer(1, 2**20)
# PyOD scores all rows at once, so that a layer needs memory for each of its units and each row.
LAYERS = ListOf(Integer(1, 2**14))
MAX_LAYERS = 50
RATE = Number(0, 1e3)
DROPOUT = Number(0, math.nextafter(1, 0))
ACTIVATION = Choice(
    ("elu", "identity", "leaky_relu", "relu", "sigmoid", "softmax", "softplus", "tanh")
)

# Scores are in single precision. predict_proba needs finite ones.
SCORES_OF_PYOD: dict[str, Kind] = {
    **PYOD,
    "decision_scores_": Array("float32", ("rows",)),
    "threshold_": Number(),
    "_mu": Number(),
    "_sigma": Number(0),
}
SCORES_OF_SUBCLASS: dict[str, Kind] = {
    "decision_scores_": Floats("rows", finite=False),
    "threshold_": Number(infinite=True),
    "_classes": Choice((2,)),
}


def _check_scores(values: Values) -> None:
    require(np.isfinite(values["decision_scores_"]).any(), "decision_scores_: no finite score")


def _check_layers(name: str, layers: list[int], at_least: int) -> None:
    require(at_least <= len(layers) <= MAX_LAYERS, f"{name}: not {at_least} to {MAX_LAYERS} layers")


def _set_labels(detector: Any) -> None:
    if not hasattr(detector, "labels_"):  # the subclasses do not store them
        detector.labels_ = labels_above(detector.threshold_, detector.decision_scores_)


# DeepSVDD ----------------------------------------------------------------------------------------


def _construct_deep_svdd(cls: Any, parameters: Values) -> Any:
    detector = cls(**{**parameters, "random_state": None})  # another seeds PyTorch
    detector.random_state = parameters["random_state"]
    return detector


def _take_deep_svdd_apart(detector: Any) -> Values:
    if detector.model_ is None:
        return {}
    return {"weights": weights_of(detector.model_), "c_": detector.c_.cpu().numpy()}


def _check_deep_svdd(values: Values, scope: Scope) -> None:
    layers = values["hidden_neurons"] or [64, 32]  # as the class has it
    _check_scores(values)
    _check_layers("hidden_neurons", layers, 2)
    require(values["n_features"] is not None, "n_features: missing")
    width = values["n_features"] if values["use_ae"] else layers[-1]
    require(scope.lengths["centre"] == width, "c_: not of the width of the last layer")
    wanted = StandardScaler if values["preprocessing"] else None
    check_inner_scaler("scaler_", values.get("scaler_"), wanted, scope)


def _put_deep_svdd_together(detector: Any, values: dict[str, Any]) -> None:
    import torch
    from pyod.models.deep_svdd import InnerDeepSVDD

    weights, centre = values.pop("weights"), values.pop("c_")
    set_attributes(detector, values)
    detector.model_ = network_with(
        weights,
        lambda: InnerDeepSVDD(
            detector.n_features,
            use_ae=detector.use_ae,
            hidden_neurons=detector.hidden_neurons,
            hidden_activation=detector.hidden_activation,
            output_activation=detector.output_activation,
            dropout_rate=detector.dropout_rate,
            l2_regularizer=detector.l2_regularizer,
        ),
    )
    detector.c_ = torch.tensor(centre)
    _set_labels(detector)


def _deep_svdd(name: str, role: str, scores: dict[str, Kind], rebuilt: str) -> Description:
    return Description(
        type=name,
        role=role,
        parameters={
            "n_features": Optional(COLUMNS),
            "c": Optional(OneOf((Number(), Floats("c")))),
            "use_ae": Flag(),
            "hidden_neurons": Optional(LAYERS),
            "hidden_activation": ACTIVATION,
            "output_activation": ACTIVATION,
            "optimizer": Choice(
                ("sgd", "adam", "rmsprop", "adagrad", "adadelta", "adamw", "nadam", "asgd")
            ),
            "epochs": COUNT,
            "batch_size": BATCH_SIZE,
            "dropout_rate": DROPOUT,
            "l2_regularizer": RATE,
            "validation_size": Number(0, 1),
            "preprocessing": Flag(),
            "verbose": VERBOSE,
            "random_state": Seed(),
            "contamination": PYOD_CONTAMINATION,
            "learning_rate": RATE,
        },
        fitted={
            **scores,
            "n_samples_": Integer(1, length="rows"),
            "n_features_": COLUMNS,
            "scaler_": MayBeMissing(Object(types=("sklearn.preprocessing.StandardScaler",))),
            "weights": Weights(),
            "c_": Array("float32", ("centre",)),
        },
        rebuilt=("model_", "best_model_dict", "c_", rebuilt),
        construct=_construct_deep_svdd,
        take_apart=_take_deep_svdd_apart,
        put_together=_put_deep_svdd_together,
        check=_check_deep_svdd,
        n_in="d",
    )


# AutoEncoder -------------------------------------------------------------------------------------


def _auto_encoder_parameters(detector: Any) -> Values:
    parameters: dict[str, Any] = detector.get_params(deep=False)
    # The class replaces None by a device of the machine.
    device = parameters["device"]
    return {**parameters, "device": device if isinstance(device, str) else None}


def _construct_auto_encoder(cls: Any, parameters: Values) -> Any:
    detector = cls.__new__(cls)
    # The class seeds all global random numbers.
    detector._set_seed = lambda random_state: None
    detector.__init__(**parameters)
    del detector._set_seed
    return detector


def _check_auto_encoder(values: Values, scope: Scope) -> None:
    _check_scores(values)
    _check_layers("hidden_neuron_list", values["hidden_neuron_list"], 1)
    for name in ("X_mean", "X_std"):
        require((values[name] is None) != values["preprocessing"], f"{name}: not its parameters")


def _put_auto_encoder_together(detector: Any, values: dict[str, Any]) -> None:
    import torch

    def build() -> Any:
        detector.build_model()
        return detector.model

    cuda, mps = torch.cuda.is_available(), torch.backends.mps.is_available()
    if (detector.device == "cuda" and not cuda) or (detector.device == "mps" and not mps):
        detector.device = torch.device("cpu")  # trained on another machine
    weights = values.pop("weights")
    set_attributes(detector, values)
    detector.model = network_with(weights, build, detector.device)
    _set_labels(detector)


def _auto_encoder(name: str, role: str, scores: dict[str, Kind], rebuilt: str) -> Description:
    return Description(
        type=name,
        role=role,
        parameters={
            "contamination": PYOD_CONTAMINATION,
            "preprocessing": Flag(),
            "lr": RATE,
            "epoch_num": COUNT,
            "batch_size": BATCH_SIZE,
            "optimizer_name": Choice(("adam", "sgd")),
            "device": Choice((None, "cpu", "cuda", "mps")),
            "random_state": Seed(),
            "use_compile": Flag(),
            "compile_mode": Choice(
                ("default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs")
            ),
            "verbose": VERBOSE,
            "optimizer_params": Record(
                {
                    "weight_decay": MayBeMissing(RATE),
                    "adam_eps": MayBeMissing(RATE),
                    "sgd_momentum": MayBeMissing(RATE),
                    "sgd_nesterov": MayBeMissing(Flag()),
                }
            ),
            "hidden_neuron_list": LAYERS,
            "hidden_activation_name": ACTIVATION,
            "batch_norm": Flag(),
            "dropout_rate": DROPOUT,
        },
        fitted={
            **scores,
            "data_num": Integer(1, length="rows"),
            "feature_size": COLUMNS,
            "X_mean": Optional(SingleOrDouble("d")),
            "X_std": Optional(SingleOrDouble("d", low=0)),
            "weights": Weights(),
        },
        rebuilt=("model", "optimizer", "criterion", "criterion_params", rebuilt),
        given=_auto_encoder_parameters,
        construct=_construct_auto_encoder,
        take_apart=lambda detector: (
            {"weights": weights_of(detector.model)} if hasattr(detector, "model") else {}
        ),
        put_together=_put_auto_encoder_together,
        check=_check_auto_encoder,
        n_in="d",
    )


DESCRIPTIONS = (
    _deep_svdd("pyod.models.deep_svdd.DeepSVDD", "detector", SCORES_OF_PYOD, ""),
    _auto_encoder("pyod.models.auto_encoder.AutoEncoder", "detector", SCORES_OF_PYOD, ""),
    *(
        make(f"ctad.detectors._pyod_networks.{name}", "network", SCORES_OF_SUBCLASS, "labels_")
        for make, name in ((_deep_svdd, "DeepSVDD"), (_auto_encoder, "AutoEncoder"))
    ),
)
