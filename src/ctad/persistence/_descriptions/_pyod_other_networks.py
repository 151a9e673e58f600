"""Further neural detectors of PyOD.

VAE, ALAD and DIF are not described, because a row gets another score with each call or in another
batch, nor AnoGAN, which trains to score, nor AE1SVM, which fails on a last batch of one row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.preprocessing import MinMaxScaler

from .._description import Description, Values, set_attributes
from .._kinds import Choice, Integer, Kind, Number, Object, Optional, Seed, require
from ._common import PYOD_CONTAMINATION, VERBOSE
from ._neighbours import SEARCH
from ._network_weights import Weights, network_with, weights_of
from ._pyod_networks import COLUMNS, COUNT, RATE, SCORES_OF_PYOD
from ._transformers_common import check_inner_scaler

if TYPE_CHECKING:
    from .._reader import Scope


# SO_GAAL and MO_GAAL: the discriminator scores rows. The generators are needed in training only ---


def _take_discriminator_apart(detector: Any) -> Values:
    if not hasattr(detector, "discriminator"):
        return {}
    network = detector.discriminator
    return {"n_columns": network.layer1.in_features, "weights": weights_of(network)}


def _put_discriminator_together(detector: Any, values: dict[str, Any]) -> None:
    from pyod.models.gaal_base import create_discriminator
    from pyod.models.so_gaal import SO_GAAL, Discriminator

    build = Discriminator if isinstance(detector, SO_GAAL) else create_discriminator
    weights, n_columns = values.pop("weights"), values.pop("n_columns")
    set_attributes(detector, values)
    detector.discriminator = network_with(
        weights,
        lambda: build(n_columns, len(detector.decision_scores_)),
        getattr(detector, "device", "cpu"),
    )


def _adversarial(name: str, parameters: dict[str, Kind]) -> Description:
    return Description(
        type=name,
        role="detector",
        parameters={
            "stop_epochs": Integer(0, 2**31 - 1),
            "lr_d": RATE,
            "lr_g": RATE,
            "momentum": RATE,
            "contamination": PYOD_CONTAMINATION,
            **parameters,
        },
        fitted={**SCORES_OF_PYOD, "n_columns": COLUMNS, "weights": Weights()},
        rebuilt=("discriminator", "generator", "train_history", "device"),
        take_apart=_take_discriminator_apart,
        put_together=_put_discriminator_together,
        n_in="d",
    )


# LUNAR: a network that gets the distances to the nearest neighbours -------------------------------


def _construct_lunar(cls: Any, parameters: Values) -> Any:
    import torch

    with torch.random.fork_rng():  # the class draws the weights of its network
        detector = cls(**{**parameters, "random_state": None})
    detector.random_state = parameters["random_state"]
    return detector


def _check_lunar(values: Values, scope: Scope) -> None:
    search, n_columns = values["neigh"], scope.n_in(values["neigh"])
    require(values["n_neighbours"] <= search.n_neighbors, "n_neighbours: more than those of neigh")
    scope.fix_length("d", n_columns or 0)
    wanted = MinMaxScaler if values["scaler"] is None else None
    check_inner_scaler("scaler_", values["scaler_"], wanted, scope)


def _put_lunar_together(detector: Any, values: dict[str, Any]) -> None:
    from pyod.models.lunar import SCORE_MODEL, WEIGHT_MODEL

    network = SCORE_MODEL if detector.model_type == "SCORE" else WEIGHT_MODEL
    weights = values.pop("weights")
    set_attributes(detector, values)
    detector.network = network_with(
        weights, lambda: network(detector.n_neighbours), detector.device
    )


LUNAR = Description(
    type="pyod.models.lunar.LUNAR",
    role="detector",
    parameters={
        "model_type": Choice(("WEIGHT", "SCORE")),
        # The class builds a network of this width before it is fitted.
        "n_neighbours": Integer(1, 1000),
        "negative_sampling": Choice(("UNIFORM", "SUBSPACE", "MIXED")),
        "val_size": Number(0, 2**31),
        "scaler": Choice((None, False)),
        "epsilon": RATE,
        "proportion": RATE,
        "n_epochs": COUNT,
        "lr": RATE,
        "wd": RATE,
        "verbose": VERBOSE,
        "contamination": PYOD_CONTAMINATION,
        **{name: kind for name, kind in SEARCH.items() if name != "n_neighbors"},
        "random_state": Seed(),
    },
    fitted={
        **SCORES_OF_PYOD,
        "neigh": Object(types=("sklearn.neighbors.NearestNeighbors",)),
        "scaler_": Optional(Object(types=("sklearn.preprocessing.MinMaxScaler",))),
        "weights": Weights(),
    },
    rebuilt=("network", "device"),
    construct=_construct_lunar,
    take_apart=lambda detector: {"weights": weights_of(detector.network)},
    put_together=_put_lunar_together,
    check=_check_lunar,
    n_in="d",
)

DESCRIPTIONS = (
    _adversarial("pyod.models.so_gaal.SO_GAAL", {}),
    _adversarial("pyod.models.mo_gaal.MO_GAAL", {"k": Integer(1, 10_000)}),
    LUNAR,
)
