"""MCM: masked cell modelling."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ._layers import SLOPE, Network, StackedLinear, layers
from ._neural import NeuralDetector


@dataclass(kw_only=True, eq=False, repr=False)
class MCM(NeuralDetector):
    """Hide cells of a row by learnt masks and restore them; anomalies are restored badly.

    Its authors do not shuffle the rows; `shuffle=False` does as they do. In tables that are sorted,
    the last steps of an epoch then see rows of one kind only. Their learning rate lets the loss
    jump in the first epochs: compare `loss_curve_` with that of a tenth of it, 0.005.

    Parameters
    ----------
    n_masks : int, default=15
        Below 3 the loss has no part that keeps them apart.
    diversity_weight : float, default=5
        Of the part of the loss that keeps the masks of a row apart.
    **others
        As in `NeuralDetector`.

    References
    ----------
    J. Yin, Y. Qiao, Z. Zhou, X. Wang, J. Yang: MCM: masked cell modeling for anomaly detection
    in tabular data. ICLR 2024.

    Examples
    --------
    >>> import numpy as np
    >>> from ctad.detectors.mcm import MCM
    >>> x = np.random.default_rng(0).normal(size=(200, 1))
    >>> X_train = np.hstack([x, -x, x])
    >>> normal, odd = MCM(epochs=30, random_state=0).fit(X_train).decision_function(
    ...     [[1.0, -1.0, 1.0], [1.0, 1.0, 1.0]])
    >>> bool(odd > normal)
    True
    """

    n_masks: int = 15
    diversity_weight: float = 5.0
    epochs: int = 200
    batch_size: int = 512
    learning_rate: float = 0.05
    weight_decay: float = 1e-5
    decay: float = 0.98

    def _network(self, n_columns: int) -> Network:
        return MCMNetwork(n_columns, self.n_masks, self.diversity_weight)


class MCMNetwork(Network):
    """Mask generators and the auto-encoder that all masks share."""

    temperature = 0.1

    def __init__(self, n_columns: int, n_masks: int, diversity_weight: float) -> None:
        super().__init__()
        self.diversity_weight = diversity_weight
        self.masks = nn.Sequential(
            StackedLinear(n_masks, n_columns, n_columns),
            nn.ReLU(),
            StackedLinear(n_masks, n_columns, n_columns),
            nn.ReLU(),
            StackedLinear(n_masks, n_columns, n_columns),
        )
        bend = nn.LeakyReLU(SLOPE)
        self.auto_encoder = nn.Sequential(
            layers((n_columns, 256, 256, 128), bend), layers((128, 256, 256, n_columns), bend)
        )

    def loss(self, rows: Tensor, random: torch.Generator) -> Tensor:
        """Mean error + weight * mean similarity of the masks of a row."""
        masks = self.masks(rows)
        return self._error(rows, masks).mean() + self.diversity_weight * self._likeness(masks)

    def score(self, rows: Tensor) -> Tensor:
        """Mean over the masks of the distance between row and restored row."""
        return self._error(rows, self.masks(rows))

    def _error(self, rows: Tensor, masks: Tensor) -> Tensor:
        restored = self.auto_encoder(torch.sigmoid(masks) * rows)
        away: Tensor = torch.linalg.vector_norm(restored - rows, dim=-1)
        return away.mean(dim=0)

    def _likeness(self, masks: Tensor) -> Tensor:
        """Sum over masks i of log(sum over j != i of exp(cos(i, j) / temperature)), scaled."""
        others = len(masks) - 1
        if others < 2:
            return masks.new_zeros(())  # the scale below has no value, and one mask no other
        directions = nn.functional.normalize(masks, dim=-1).transpose(0, 1)  # (rows, masks, D)
        cosines = directions @ directions.transpose(1, 2) / self.temperature
        itself = torch.eye(len(masks), dtype=torch.bool, device=masks.device)
        total = cosines.masked_fill(itself, -torch.inf).logsumexp(dim=-1).sum(dim=-1)
        return total.mean() / abs(others * math.log(1 / others))
