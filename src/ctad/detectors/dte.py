"""DTE: diffusion time estimation."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn

from ._layers import Network
from ._neural import NeuralDetector, in_range


@dataclass(kw_only=True, eq=False, repr=False)
class DTE(NeuralDetector):
    """Learn to tell how much noise was added to a row; anomalies look like much noise.

    The categorical variant, DTE-C. Noise has a standard deviation below 1, so columns need to be
    scaled: among numbers in the thousands it cannot be seen, and all rows may score alike.

    Parameters
    ----------
    n_steps : int, default=400
        Of the diffusion.
    n_bins : int, default=7
        Groups of steps that are told apart.
    dropout : float, default=0.5
    **others
        As in `NeuralDetector`.

    References
    ----------
    V. Livernoche, V. Jain, Y. Hezaveh, S. Ravanbakhsh: On diffusion modeling for anomaly
    detection. ICLR 2024.

    Examples
    --------
    >>> import numpy as np
    >>> from ctad.detectors.dte import DTE
    >>> X_train = np.random.default_rng(0).normal(size=(500, 3))
    >>> normal, odd = DTE(epochs=20, random_state=0).fit(X_train).decision_function(
    ...     [[0.0, 0.0, 0.0], [9.0, 9.0, 9.0]])
    >>> bool(odd > normal)
    True
    """

    n_steps: int = 400
    n_bins: int = 7
    dropout: float = 0.5
    epochs: int = 400
    batch_size: int = 64
    learning_rate: float = 1e-4
    weight_decay: float = 5e-4

    def _network(self, n_columns: int) -> Network:
        in_range("n_steps", self.n_steps, 2)
        in_range("n_bins", self.n_bins, 2, self.n_steps)
        in_range("dropout", self.dropout, 0, 0.99)
        return DTENetwork(n_columns, self.n_steps, self.n_bins, self.dropout)


class DTENetwork(Network):
    """A classifier of the time at which a row was left in the diffusion."""

    noise_range = (1e-4, 1e-2)  # variance added in the first and the last step
    widths = (256, 512, 256)

    def __init__(self, n_columns: int, n_steps: int, n_bins: int, dropout: float) -> None:
        super().__init__()
        self.n_steps, self.n_bins, self.dropout = n_steps, n_bins, dropout
        widths = (n_columns, *self.widths, n_bins)
        self.layers = nn.ModuleList(nn.Linear(n_in, n_out) for n_in, n_out in pairwise(widths))

    def loss(self, rows: Tensor, random: torch.Generator) -> Tensor:
        """Cross-entropy of the bin of t, for x + sigma_t * noise with random t."""
        at: dict[str, Any] = {"generator": random, "device": rows.device}
        times = torch.randint(self.n_steps, (len(rows),), **at)
        noisy = rows + self._sigma(rows.device)[times, None] * torch.randn(rows.shape, **at)
        bins = times * self.n_bins // self.n_steps
        return nn.functional.cross_entropy(self._logits(noisy, random), bins)

    def score(self, rows: Tensor) -> Tensor:
        """The expected bin."""
        chances = self._logits(rows).softmax(dim=1)
        return chances @ torch.arange(self.n_bins, dtype=rows.dtype, device=rows.device)

    def _sigma(self, device: torch.device) -> Tensor:
        """sigma_t^2 = 1 - prod over s <= t of (1 - beta_s)"""
        betas = torch.linspace(*self.noise_range, self.n_steps, device=device)
        return (1 - (1 - betas).cumprod(dim=0)).sqrt()

    def _logits(self, rows: Tensor, random: torch.Generator | None = None) -> Tensor:
        hidden = self.layers[0](rows).relu()
        for layer in self.layers[1:-1]:
            hidden = layer(hidden).relu()
            if random is not None:  # in training
                kept = torch.rand(hidden.shape, generator=random, device=rows.device)
                hidden = hidden * (kept >= self.dropout) / (1 - self.dropout)
        logits: Tensor = self.layers[-1](hidden)
        return logits
