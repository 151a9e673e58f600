"""The interface of the networks: weights, loss and score of a method."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn

from ._layers import StackedLinear


class Network(nn.Module, ABC):
    """The network of a method.

    It is built without values, on PyTorch's "meta" device. `initialise` or a model file gives it
    its weights.
    """

    def initialise(self, random: torch.Generator) -> None:
        """Draw all weights as PyTorch does, uniform in +-1/sqrt(inputs), from `random`."""
        for part in self.modules():
            if isinstance(part, nn.Linear | StackedLinear):
                bound = 1 / math.sqrt(part.in_features)
                for weights in part.parameters():
                    nn.init.uniform_(weights, -bound, bound, generator=random)
            elif isinstance(part, nn.BatchNorm1d):
                part.reset_parameters()  # ones and zeros

    @abstractmethod
    def loss(self, rows: Tensor, random: torch.Generator) -> Tensor:
        """The loss of one batch, which training minimises."""

    @abstractmethod
    def score(self, rows: Tensor) -> Tensor:
        """One score per row, higher = more anomalous. It must not depend on the other rows."""

    def after_training(self, rows: Tensor) -> None:
        """Compute what `score` needs from the final weights and all training rows."""
