"""Calibrators in model files: parameters and numbers, from which each rebuilds itself."""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..modelfile import Reader, Writer, integer, number, plain_parameters, text
from ._combination import Combination

# What later versions let one choose: files of format version 1 do not name it.
BEFORE_FORMAT_2 = {"columns": "all", "cost": "distance", "rows_per_centroid": None}


def save(calibrator: Any, path: str | PathLike[str]) -> None:
    """Write a fitted calibrator to a file."""
    writer = Writer()
    description = describe(calibrator, writer)
    writer.save(path, description, training_rows=calibrator._n_training_rows)


def describe(calibrator: Any, writer: Writer) -> dict[str, Any]:
    """Class, parameters and state of a fitted calibrator."""
    description = describe_unfitted(calibrator)
    check_is_fitted(calibrator)
    names = getattr(calibrator, "feature_names_in_", None)
    by = calibrator._combination
    state = {
        "n_columns": calibrator.n_features_in_,
        "column_names": None if names is None else names.tolist(),
        "training_rows": calibrator._n_training_rows,
        "combination": None if by is None else {"score": list(by.score), "delta": list(by.delta)},
        **calibrator._state(writer),
    }
    return {**description, "state": state}


def describe_unfitted(calibrator: Any) -> dict[str, Any]:
    """Class and parameters of a calibrator."""
    name = type(calibrator).__name__
    if type(calibrator) is not _classes().get(name):
        raise TypeError(f"{name} is not one of ctad's own calibrators, so it cannot be saved")
    calibrator._check_parameters()
    return {"class": name, "parameters": plain_parameters(calibrator.get_params(deep=False))}


def restore(description: dict[str, Any], reader: Reader) -> Any:
    """The calibrator that `describe` described."""
    calibrator = restore_unfitted(description)
    state = description["state"]
    calibrator.n_features_in_ = integer(state["n_columns"], at_least=1)
    if state["column_names"] is not None:
        names = [text(name) for name in state["column_names"]]
        if len(names) != calibrator.n_features_in_:
            raise ValueError(f"{len(names)} names of {calibrator.n_features_in_} columns")
        calibrator.feature_names_in_ = np.array(names, dtype=object)
    calibrator._n_training_rows = integer(state["training_rows"], at_least=2)
    calibrator._set_state(state, reader)
    by = state["combination"]
    calibrator._combination = (
        None if by is None else Combination(_location(by["score"]), _location(by["delta"]))
    )
    return calibrator


def restore_unfitted(description: dict[str, Any]) -> Any:
    """The calibrator that `describe_unfitted` described."""
    parameters = {
        name: tuple(value) if isinstance(value, list) else value  # JSON knows no tuples
        for name, value in description["parameters"].items()
    }
    kind = _classes()[text(description["class"])]
    known = kind().get_params(deep=False)
    before = {name: value for name, value in BEFORE_FORMAT_2.items() if name in known}
    calibrator = kind(**{**before, **parameters})
    calibrator._check_parameters()
    return calibrator


def _location(values: Any) -> tuple[float, float]:
    shift, scale = map(number, values)
    if scale <= 0:
        raise ValueError(f"scores are divided by {scale}")
    return shift, scale


def _classes() -> dict[str, Any]:
    from . import CTAD, CentroidDistance, MahalanobisDistance, TransportOnly

    return {
        cls.__name__: cls for cls in (CTAD, CentroidDistance, MahalanobisDistance, TransportOnly)
    }
