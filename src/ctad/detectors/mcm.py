"""MCM: masked cell modelling."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ._layers import StackedLinear, leaky_relu, linear_layers, n_weights
from ._network import WORK_OF_A_NUMBER, Network
from ._neural_detector import NeuralDetector
from ._parameter_checks import check_integer, check_number


@dataclass(kw_only=True, eq=False, repr=False)
class MCM(NeuralDetector):
    """Reconstruct rows whose cells are masked by trained masks; the score is the error.

    Its authors do not shuffle the rows; `shuffle=False` reproduces that. If the table is sorted,
    the last steps of an epoch then see rows of one kind only. With their learning rate the loss
    jumps in the first epochs: compare `loss_curve_` with that of a tenth of it, 0.005.

    Parameters
    ----------
    n_masks : int, default=15
        With fewer than 3 the loss has no diversity term.
    diversity_weight : float, default=5
        Weight of the loss term that makes the masks of a row differ.
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
    >>> detector = MCM(n_masks=5, epochs=10, learning_rate=0.005, random_state=0).fit(X_train)
    >>> normal, odd = detector.decision_function([[1.0, -1.0, 1.0], [1.0, 1.0, 1.0]])
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

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_integer("n_masks", self.n_masks)
        check_number("diversity_weight", self.diversity_weight)

    def _build_network(self, n_columns: int) -> Network:
        return MCMNetwork(n_columns, self.n_masks, self.diversity_weight)


class MCMNetwork(Network):
    """Mask generators, and one auto-encoder for all masks."""

    temperature = 0.1

    def __init__(self, n_columns: int, n_masks: int, diversity_weight: float) -> None:
        super().__init__()
        self.n_columns, self.n_masks = n_columns, n_masks
        self.diversity_weight = diversity_weight
        self.mask_generators = nn.Sequential(
            StackedLinear(n_masks, n_columns, n_columns),
            nn.ReLU(),
            StackedLinear(n_masks, n_columns, n_columns),
            nn.ReLU(),
            StackedLinear(n_masks, n_columns, n_columns),
        )
        activation = leaky_relu()
        self.auto_encoder = nn.Sequential(
            linear_layers((n_columns, 256, 256, 128), activation),
            linear_layers((128, 256, 256, n_columns), activation),
        )

    @property
    def work_per_row(self) -> int:
        """The row is encoded and decoded with every mask."""
        largest = max(self.n_columns, 256)
        return self.n_masks * (n_weights(self.auto_encoder) + WORK_OF_A_NUMBER * largest)

    def loss(self, rows: Tensor, random: torch.Generator) -> Tensor:
        """Mean reconstruction error + weight * mean similarity of the masks of a row."""
        masks = self.mask_generators(rows)
        error = self._reconstruction_error(rows, masks).mean()
        return error + self.diversity_weight * self._mask_similarity(masks)

    def score(self, rows: Tensor) -> Tensor:
        """Mean over the masks of the distance between the row and its reconstruction."""
        return self._reconstruction_error(rows, self.mask_generators(rows))

    def _reconstruction_error(self, rows: Tensor, masks: Tensor) -> Tensor:
        reconstructed = self.auto_encoder(torch.sigmoid(masks) * rows)
        distances: Tensor = torch.linalg.vector_norm(reconstructed - rows, dim=-1)
        return distances.mean(dim=0)

    def _mask_similarity(self, masks: Tensor) -> Tensor:
        """Sum over masks i of log(sum over j != i of exp(cos(i, j) / temperature)), scaled."""
        n_others = len(masks) - 1
        if n_others < 2:
            return masks.new_zeros(())  # the scale below is 0, or there is no other mask
        directions = nn.functional.normalize(masks, dim=-1).transpose(0, 1)  # (rows, masks, D)
        cosines = directions @ directions.transpose(1, 2) / self.temperature
        is_same = torch.eye(len(masks), dtype=torch.bool, device=masks.device)
        total = cosines.masked_fill(is_same, -torch.inf).logsumexp(dim=-1).sum(dim=-1)
        return total.mean() / abs(n_others * math.log(1 / n_others))
