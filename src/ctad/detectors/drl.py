"""DRL: decomposed representation learning."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ._layers import leaky_relu, linear_layers
from ._network import Network
from ._neural_detector import NeuralDetector
from ._parameter_checks import check_integer, check_number


@dataclass(kw_only=True, eq=False, repr=False)
class DRL(NeuralDetector):
    """Approximate the representation of a row by few fixed vectors; the score is the error.

    Its authors do not shuffle the rows; `shuffle=False` reproduces that. If the table is sorted,
    the last steps of an epoch then see rows of one kind only.

    Parameters
    ----------
    n_basis : int, default=5
        Number of fixed orthonormal vectors.
    width : int, default=128
        Dimensions of the representation.
    alignment_weight : float, default=0.1
        Weight of the loss term that reconstructs the row from its representation.
    separation_weight : float, default=0.06
        Weight of the loss term that makes the rows' coefficients differ.
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

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_integer("width", self.width)
        check_integer("n_basis", self.n_basis, 1, self.width)
        check_number("alignment_weight", self.alignment_weight)
        check_number("separation_weight", self.separation_weight)

    def _build_network(self, n_columns: int) -> Network:
        return DRLNetwork(
            n_columns, self.width, self.n_basis, self.alignment_weight, self.separation_weight
        )


class DRLNetwork(Network):
    """Representation h, coefficients w on the basis B, and the residual r = h - w B."""

    sampled_share = 0.8  # of a batch, for the separation term
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
        activation = leaky_relu()
        self.encoder = nn.Sequential(
            linear_layers((n_columns, width, width), activation), activation
        )
        self.coefficients = linear_layers((n_columns, width, n_basis), activation)
        self.decoder = nn.Linear(width, n_columns, bias=False)
        self.register_buffer("basis", torch.empty(n_basis, width))

    def initialise(self, random: torch.Generator) -> None:
        """Draw the weights, and an orthonormal basis that training does not change."""
        super().initialise(random)
        square = torch.randn(self.basis.shape[::-1], generator=random)
        self.basis.copy_(torch.linalg.qr(square).Q.T)

    def loss(self, rows: Tensor, random: torch.Generator) -> Tensor:
        """mean max(|r|^2, |r|^2 / |h|^2) + weighted alignment + weighted separation"""
        hidden, coefficients = self.encoder(rows), self.coefficients(rows)
        residual = (hidden - coefficients @ self.basis).square().sum(dim=1)
        size = hidden.square().sum(dim=1)
        tiny = torch.finfo(size.dtype).tiny  # a row of zeros has h = r = 0
        decomposition = torch.maximum(residual, residual / size.clamp_min(tiny)).mean()
        alignment = (1 - nn.functional.cosine_similarity(self.decoder(hidden), rows)).mean()
        return (
            decomposition
            + self.alignment_weight * alignment
            + self.separation_weight * self._separation(coefficients, random)
        )

    def score(self, rows: Tensor) -> Tensor:
        """Mean of r^2 over the dimensions."""
        residual: Tensor = self.encoder(rows) - self.coefficients(rows) @ self.basis
        return residual.square().mean(dim=1)

    def _separation(self, coefficients: Tensor, random: torch.Generator) -> Tensor:
        """Sum of the cosines between the coefficients of different sampled rows, / n^2."""
        n = max(1, int(self.sampled_share * len(coefficients)))
        sample = torch.randperm(len(coefficients), generator=random, device=coefficients.device)[:n]
        directions = nn.functional.normalize(coefficients[sample], dim=1)
        # The sum over all pairs is |sum of directions|^2. Pairs of a row with itself are left out.
        total = directions.sum(dim=0).square().sum() - directions.square().sum()
        return total / n**2
