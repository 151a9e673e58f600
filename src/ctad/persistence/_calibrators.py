"""Calibrators in model files: their parameters and arrays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..calibration import (
    CTAD,
    BaseCalibrator,
    CentroidDistance,
    Draw,
    MahalanobisDistance,
    RelaxedCTAD,
    ScoreScaling,
    TransportOnly,
)
from ..errors import InputError
from ._columns import describe_columns, restore_columns
from ._reader import Reader
from ._values import integer, number, plain_parameters, string
from ._writer import Writer

# The largest number of transport costs that a model file may need in memory.
MAX_COSTS = 2**28


def describe(calibrator: BaseCalibrator, writer: Writer) -> dict[str, Any]:
    """Class, parameters and state of a fitted calibrator."""
    description = describe_unfitted(calibrator)
    check_is_fitted(calibrator)
    scaling = calibrator.score_scaling_
    state = {
        **describe_columns(calibrator),
        "training_rows": calibrator.n_training_rows_,
        "score_scaling": None
        if scaling is None
        else {"score": list(scaling.score), "delta": list(scaling.delta)},
        **KINDS[type(calibrator).__name__].state(calibrator, writer),
    }
    return {**description, "state": state}


def describe_unfitted(calibrator: Any) -> dict[str, Any]:
    """Class and parameters of a calibrator."""
    name = type(calibrator).__name__
    if name not in KINDS or type(calibrator) is not KINDS[name].type:
        raise InputError(f"{name} is not one of ctad's own calibrators, so it cannot be saved")
    calibrator.check_parameters()
    return {"class": name, "parameters": plain_parameters(calibrator.get_params(deep=False))}


def restore(description: dict[str, Any], reader: Reader) -> Any:
    """The calibrator that `describe` described."""
    calibrator = restore_unfitted(description)
    state = description["state"]
    restore_columns(calibrator, state)
    calibrator.n_training_rows_ = integer(state["training_rows"], at_least=2)
    KINDS[description["class"]].restore(calibrator, state, reader)
    scaling = state["score_scaling"]
    calibrator.score_scaling_ = (
        None
        if scaling is None
        else ScoreScaling(_location(scaling["score"]), _location(scaling["delta"]))
    )
    return calibrator


def restore_unfitted(description: dict[str, Any]) -> Any:
    """The calibrator that `describe_unfitted` described."""
    parameters = {
        name: tuple(value) if isinstance(value, list) else value  # JSON has no tuples
        for name, value in description["parameters"].items()
    }
    calibrator: BaseCalibrator = KINDS[string(description["class"])].type(**parameters)
    calibrator.check_parameters()
    return calibrator


def _location(values: Any) -> tuple[float, float]:
    shift, scale = map(number, values)
    if scale <= 0:
        raise InputError(f"scores are divided by {scale}, which is not positive")
    return shift, scale


# CTAD and RelaxedCTAD


def _transport_state(calibrator: CTAD | RelaxedCTAD, writer: Writer) -> dict[str, Any]:
    return {
        "signal": calibrator.signal_,
        "draws": [_draw_state(draw, writer) for draw in calibrator.draws_],
    }


def _restore_transport(
    calibrator: CTAD | RelaxedCTAD, state: dict[str, Any], reader: Reader
) -> None:
    if state["signal"] not in ("total", "own"):
        raise InputError(f"signal is {state['signal']!r}")
    n_columns, n_draws = calibrator.n_features_in_, len(state["draws"])
    draws = [_restore_draw(draw, reader, n_columns, n_draws) for draw in state["draws"]]
    if len(draws[0].columns) != n_columns:
        raise InputError("the first draw does not use all columns")
    calibrator.set_draws(draws, state["signal"])


def _draw_state(draw: Draw, writer: Writer) -> dict[str, Any]:
    arrays = ("references", "centroids", "radius", "columns", "shift", "scale")
    state: dict[str, Any] = {name: writer.array(getattr(draw, name)) for name in arrays}
    is_name = isinstance(draw.target, str)
    state["target"] = draw.target if is_name else {"array": writer.array(draw.target)}
    return state


def _restore_draw(state: dict[str, Any], reader: Reader, n_columns: int, n_draws: int) -> Draw:
    columns = reader.array(state["columns"])
    if columns.dtype != np.int64 or columns.ndim != 1 or not len(columns):
        raise InputError("columns are not integers")
    if not (np.diff(columns, prepend=-1, append=n_columns) > 0).all():
        raise InputError("column index out of range or out of order")
    d = len(columns)
    references = reader.floats(state["references"], (None, d))
    centroids = reader.floats(state["centroids"], (None, d))
    shift, scale = (reader.floats(state[name], (d,)) for name in ("shift", "scale"))
    if not scale.all():
        raise InputError("columns are divided by zero")
    k, m = len(centroids), len(references)
    radius = reader.floats(state["radius"], (k,))
    if not (radius > 0).all():
        raise InputError("distances are divided by zero")
    if n_draws * k * max(k, m) > MAX_COSTS:
        raise InputError(f"{n_draws} times {m} references and {k} centroids are too many")
    target: Any = state["target"]
    if isinstance(target, dict):
        target = reader.array(target["array"])
        # Each is checked, because their sum may overflow.
        if target.dtype != np.int64 or target.min() < 0 or target.max() > m + 1:
            raise InputError("the mass of a centroid is out of range")
    elif target not in ("uniform", "free"):
        raise InputError(f"target is {target!r}")
    draw = Draw(references, centroids, radius, columns, shift, scale, target)
    _ = draw.transport  # raises now if the target does not fit, not when rows are scored
    return draw


# The baselines


def _centroids_state(calibrator: CentroidDistance, writer: Writer) -> dict[str, Any]:
    return {"centroids": writer.array(calibrator.centroids_)}


def _restore_centroids(calibrator: CentroidDistance, state: dict[str, Any], reader: Reader) -> None:
    calibrator.centroids_ = reader.floats(state["centroids"], (None, calibrator.n_features_in_))


def _mahalanobis_state(calibrator: MahalanobisDistance, writer: Writer) -> dict[str, Any]:
    return {
        "location": writer.array(calibrator.location_),
        "precision": writer.array(calibrator.precision_),
    }


def _restore_mahalanobis(
    calibrator: MahalanobisDistance, state: dict[str, Any], reader: Reader
) -> None:
    n = calibrator.n_features_in_
    calibrator.location_ = reader.floats(state["location"], (n,))
    calibrator.precision_ = reader.floats(state["precision"], (n, n))


def _transport_only_state(calibrator: TransportOnly, writer: Writer) -> dict[str, Any]:
    return {"transport": describe(calibrator.transport_, writer)}


def _restore_transport_only(
    calibrator: TransportOnly, state: dict[str, Any], reader: Reader
) -> None:
    transport = restore(state["transport"], reader)
    if type(transport) is not CTAD or transport.n_features_in_ != calibrator.n_features_in_:
        raise InputError("the transport is not a CTAD of these columns")
    calibrator.transport_ = transport


@dataclass(frozen=True)
class Kind:
    """A class of calibrators, and how its fitted attributes are saved and restored."""

    type: Any
    state: Callable[[Any, Writer], dict[str, Any]]
    restore: Callable[[Any, dict[str, Any], Reader], None]


KINDS = {
    kind.type.__name__: kind
    for kind in (
        Kind(CTAD, _transport_state, _restore_transport),
        Kind(RelaxedCTAD, _transport_state, _restore_transport),
        Kind(CentroidDistance, _centroids_state, _restore_centroids),
        Kind(MahalanobisDistance, _mahalanobis_state, _restore_mahalanobis),
        Kind(TransportOnly, _transport_only_state, _restore_transport_only),
    )
}
