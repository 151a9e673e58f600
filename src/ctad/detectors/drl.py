"""DRL: decomposed representation learning."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ._layers import SLOPE, Network, layers
from ._neural import NeuralDetector, in_range


@dataclass(kw_only=True, eq=False, repr=False)
class DRL(NeuralDetector):
    """Compose what is learnt of a row from few fixed vectors; of anomalies more is left over.

    Its authors do not shuffle the rows; `shuffle=False` does as they do. In tables that are sorted,
    the last steps of an epoch then see rows of one kind only.

    Parameters
    ----------
    n_basis : int, default=5
        Number of fixed orthonormal vectors.
    width : int, default=128
        Dimensions in which rows are represented.
    alignment_weight : float, default=0.1
        Of the part of the loss that asks for the row itself from its representation.
    separation_weight : float, default=0.06
        Of the part of the loss that keeps the rows' weights on the vectors apart.
    **others
        As in `NeuralDetector`.

    References
    ----------
    H. Ye, H. Zhao, W. Fan, M. Zhou, D. Guo, Y. Chang: DRL: decomposed representation learning
    for tabular anomaly detection. ICLR 2025.

    Examples
    --------
    >>> import numpy as np
    >>> from ctad.detectors.drl import DRL
    >>> x = np.random.default_rng(0).normal(size=(500, 1))
    >>> X_train = np.hstack([x, -x, x])
    >>> normal, odd = DRL(epochs=20, random_state=0).fit(X_train).decision_function(
    ...     [[1.0, -1.0, 1.0], [1.0, 1.0, 1.0]])
    >>> bool(odd > normal)
    True
    """

    n_basis: int = 5
    width: int = 128
    alignment_weight: float = 0.1
    separation_weight: float = 0.06
    epochs: int = 200
    batch_size: int = 512
    learning_rate: float = 0.05
    weight_decay: float = 1e-5
    decay: float = 0.98

    def _network(self, n_columns: int) -> Network:
        in_range("n_basis", self.n_basis, 1, self.width)
        return DRLNetwork(
            n_columns, self.width, self.n_basis, self.alignment_weight, self.separation_weight
        )


class DRLNetwork(Network):
    """Representation h, weights w on the basis B, and the rest r = h - w B."""

    sampled = 0.8  # share of a batch between whose rows weights are kept apart
    basis: Tensor

    def __init__(
        self,
        n_columns: int,
        width: int,
        n_basis: int,
        alignment_weight: float,
        separation_weight: float,
    ) -> None:
        super().__init__()
        self.alignment_weight = alignment_weight
        self.separation_weight = separation_weight
        bend = nn.LeakyReLU(SLOPE)
        self.encoder = nn.Sequential(layers((n_columns, width, width), bend), bend)
        self.weights = layers((n_columns, width, n_basis), bend)
        self.decoder = nn.Linear(width, n_columns, bias=False)
        self.register_buffer("basis", torch.empty(n_basis, width))

    def draw(self, random: torch.Generator) -> None:
        """Random weights, and a random basis that training leaves as it is."""
        super().draw(random)
        square = torch.randn(self.basis.shape[::-1], generator=random)
        self.basis.copy_(torch.linalg.qr(square).Q.T)

    def loss(self, rows: Tensor, random: torch.Generator) -> Tensor:
        """mean max(|r|^2, |r|^2 / |h|^2) + alignment + separation"""
        hidden, weights = self.encoder(rows), self.weights(rows)
        rest = (hidden - weights @ self.basis).square().sum(dim=1)
        size = hidden.square().sum(dim=1)
        tiny = torch.finfo(size.dtype).tiny  # a row of zeros has hidden = rest = 0
        decomposition = torch.maximum(rest, rest / size.clamp_min(tiny)).mean()
        alignment = (1 - nn.functional.cosine_similarity(self.decoder(hidden), rows)).mean()
        return (
            decomposition
            + self.alignment_weight * alignment
            + self.separation_weight * self._likeness(weights, random)
        )

    def score(self, rows: Tensor) -> Tensor:
        """What the basis leaves over: mean of r^2 over the dimensions."""
        rest: Tensor = self.encoder(rows) - self.weights(rows) @ self.basis
        return rest.square().mean(dim=1)

    def _likeness(self, weights: Tensor, random: torch.Generator) -> Tensor:
        """Sum of cosines between the weights of different rows of a sample, / n^2."""
        n = max(1, int(self.sampled * len(weights)))
        sample = torch.randperm(len(weights), generator=random, device=weights.device)[:n]
        directions = nn.functional.normalize(weights[sample], dim=1)
        # The sum over all pairs is |sum of directions|^2; a row's pair with itself is 1, or 0.
        total = directions.sum(dim=0).square().sum() - directions.square().sum()
        return total / n**2
