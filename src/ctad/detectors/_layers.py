"""Layers that several networks use."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn


class StackedLinear(nn.Module):
    """Several linear layers without bias, computed as one matrix product.

    Input of shape (n, in) or (layers, n, in) gives output of shape (layers, n, out).
    """

    def __init__(self, n_layers: int, in_features: int, out_features: int) -> None:
        super().__init__()
        self.in_features = in_features
        self.weight = nn.Parameter(torch.empty(n_layers, in_features, out_features))

    def forward(self, rows: Tensor) -> Tensor:
        """Apply all layers to all rows."""
        return rows @ self.weight


def linear_layers(widths: Sequence[int], activation: nn.Module) -> nn.Sequential:
    """Linear layers without bias, with an activation between each two."""
    parts: list[nn.Module] = []
    for n_in, n_out in pairwise(widths):
        parts += [nn.Linear(n_in, n_out, bias=False), activation]
    return nn.Sequential(*parts[:-1])


def n_weights(network: nn.Module) -> int:
    """The number of weights of a network."""
    return sum(weights.numel() for weights in network.parameters())


def leaky_relu() -> nn.LeakyReLU:
    """The activation of MCM, DRL, GOAD and ICL."""
    return nn.LeakyReLU(0.2)


def unit_vectors(vectors: Tensor) -> Tensor:
    """Scale vectors to length 1; NaN where the length overflows."""
    lengths: Tensor = torch.linalg.vector_norm(vectors, dim=-1, keepdim=True)
    return vectors / lengths.clamp_min(1e-12).where(lengths.isfinite(), float("nan"))
