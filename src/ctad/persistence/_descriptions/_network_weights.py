"""Weights of networks: arrays, named as in the `state_dict` of a PyTorch module."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._kinds import Kind, NotDescribedError, read_fields, require, write_fields

if TYPE_CHECKING:
    from .._reader import Scope
    from .._writer import Writer

DTYPES = ("float32", "int64")
NOT_NEGATIVE = ("running_var", "num_batches_tracked")  # of batch normalisation


@dataclass(frozen=True)
class WeightArray(Kind):
    """An array of float32 or int64 of any shape, without NaN and infinity."""

    def write(self, value: Any, writer: Writer) -> dict[str, str]:
        require(value.dtype.name in DTYPES, f"an array of {value.dtype}")
        return {"array": writer.array(value)}

    def read(self, stored: Any, scope: Scope) -> npt.NDArray[Any]:
        values = scope.array(stored)
        require(values.dtype.name in DTYPES, f"an array of {values.dtype}")
        require(np.isfinite(values).all(), "NaN or infinity in an array")
        return values


@dataclass(frozen=True)
class Weights(Kind):
    """A dictionary of arrays, those of the network that the parameters describe.

    `network_with` checks that they are.
    """

    def __str__(self) -> str:
        return "a dictionary of arrays: the state_dict of the network of these parameters"

    def write(self, value: Any, writer: Writer) -> dict[str, Any]:
        return write_fields(dict.fromkeys(value, WeightArray()), value, writer)

    def read(self, stored: Any, scope: Scope) -> dict[str, npt.NDArray[Any]]:
        require(isinstance(stored, dict), "not a dictionary of arrays")
        return read_fields(dict.fromkeys(stored, WeightArray()), stored, scope)


def weights_of(network: Any) -> dict[str, npt.NDArray[Any]]:
    """The weights of a network."""
    network = getattr(network, "_orig_mod", network)  # of one that `torch.compile` made
    return {name: tensor.cpu().numpy() for name, tensor in network.state_dict().items()}


def network_with(
    weights: Mapping[str, npt.NDArray[Any]], build: Callable[[], Any], device: Any = "cpu"
) -> Any:
    """Build a network, and give it weights that have exactly its names, shapes and types."""
    import torch

    try:
        with torch.device("meta"):  # shapes only: it takes no memory, whatever its sizes are
            network = build()
    except RuntimeError as error:
        raise NotDescribedError("no network can have these sizes") from error
    expected = network.state_dict()
    require(weights.keys() == expected.keys(), "weights: not those of this network")
    for name, tensor in expected.items():
        shape, dtype = tuple(tensor.shape), str(tensor.dtype).removeprefix("torch.")
        values = weights[name]
        require(
            values.shape == shape and values.dtype.name == dtype,
            f"weights: {name} is an array of {values.dtype} of shape {values.shape} instead of "
            f"{dtype} of shape {shape}",
        )
        if name.endswith(NOT_NEGATIVE):
            require((values >= 0).all(), f"weights: {name} has a value below 0")
    tensors = {name: torch.tensor(values) for name, values in weights.items()}
    network.load_state_dict(tensors, assign=True)
    return network.eval().to(device)
