"""Parts of networks that several methods are made of."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn

SLOPE = 0.2  # of LeakyReLU, in every method here that has one


class Network(nn.Module):
    """What a method has to say: its weights, its loss, its score.

    It is built without values, so that a model file can fill it; `draw` gives it random ones.
    """

    def draw(self, random: torch.Generator) -> None:
        """Draw all weights as PyTorch does, uniform in +-1/sqrt(inputs), by this generator."""
        for part in self.modules():
            if isinstance(part, nn.Linear | StackedLinear):
                bound = 1 / math.sqrt(part.in_features)
                for weights in part.parameters():
                    nn.init.uniform_(weights, -bound, bound, generator=random)
            elif isinstance(part, nn.BatchNorm1d):
                part.reset_parameters()  # ones and zeros

    def loss(self, rows: Tensor, random: torch.Generator) -> Tensor:
        """What training makes small, of one batch."""
        raise NotImplementedError

    def finish(self, rows: Tensor) -> None:
        """What is left to learn from the training rows when the weights are final."""

    def score(self, rows: Tensor) -> Tensor:
        """One number per row, higher = more anomalous; of no row but itself."""
        raise NotImplementedError


class StackedLinear(nn.Module):
    """Several linear maps without bias side by side, in one matrix product.

    Maps rows of shape (n, in) or (maps, n, in) to (maps, n, out).
    """

    def __init__(self, n_maps: int, in_features: int, out_features: int) -> None:
        super().__init__()
        self.in_features = in_features
        self.weight = nn.Parameter(torch.empty(n_maps, in_features, out_features))

    def forward(self, rows: Tensor) -> Tensor:
        """All maps of all rows."""
        return rows @ self.weight


def directions(vectors: Tensor) -> Tensor:
    """Vectors at length 1; NaN where single precision cannot hold the length."""
    lengths: Tensor = torch.linalg.vector_norm(vectors, dim=-1, keepdim=True)
    return vectors / lengths.clamp_min(1e-12).where(lengths.isfinite(), float("nan"))


def layers(widths: Sequence[int], activation: nn.Module) -> nn.Sequential:
    """Linear layers without bias, an activation between each two."""
    parts: list[nn.Module] = []
    for n_in, n_out in pairwise(widths):
        parts += [nn.Linear(n_in, n_out, bias=False), activation]
    return nn.Sequential(*parts[:-1])
