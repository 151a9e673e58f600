"""The interface of the networks: weights, loss and score of a method."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn

from ._layers import StackedLinear

WORK_OF_A_NUMBER = 256  # an exponential takes about as long


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

    @property
    def work_per_row(self) -> int:
        """Operations to score one row, beyond one for each weight.

        A number of an array that `score` makes for the row counts as `WORK_OF_A_NUMBER`, so that
        the bound is also one of memory.
        """
        return 0

    @abstractmethod
    def loss(self, rows: Tensor, random: torch.Generator) -> Tensor:
        """The loss of one batch, which training minimises."""

    @abstractmethod
    def score(self, rows: Tensor) -> Tensor:
        """One score per row, higher = more anomalous. It must not depend on the other rows."""

    def after_training(self, rows: Tensor) -> None:
        """Compute what `score` needs from the final weights and all training rows."""
