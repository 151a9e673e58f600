"""DTE: diffusion time estimation."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn

from ._network import Network
from ._neural_detector import NeuralDetector
from ._parameter_checks import check_integer, check_number


@dataclass(kw_only=True, eq=False, repr=False)
class DTE(NeuralDetector):
    """Estimate how much noise was added to a row; anomalies look like rows with much noise.

    This is the categorical variant, DTE-C. The noise has a standard deviation below 1, so columns
    must be scaled: noise is invisible in columns with values in the thousands, and all rows may
    get the same score.

    Parameters
    ----------
    n_steps : int, default=400
        Steps of the diffusion.
    n_bins : int, default=7
        Groups of steps that the network classifies.
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
    >>> normal, odd = DTE(epochs=10, random_state=0).fit(X_train).decision_function(
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

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_integer("n_steps", self.n_steps, 2)
        check_integer("n_bins", self.n_bins, 2, self.n_steps)
        check_number("dropout", self.dropout, 0, 0.99)

    def _build_network(self, n_columns: int) -> Network:
        return DTENetwork(n_columns, self.n_steps, self.n_bins, self.dropout)


class DTENetwork(Network):
    """A classifier of the diffusion time t of a noisy row."""

    noise_range = (1e-4, 1e-2)  # variance added in the first and the last step
    widths = (256, 512, 256)

    def __init__(self, n_columns: int, n_steps: int, n_bins: int, dropout: float) -> None:
        super().__init__()
        self.n_steps, self.n_bins, self.dropout = n_steps, n_bins, dropout
        widths = (n_columns, *self.widths, n_bins)
        self.layers = nn.ModuleList(nn.Linear(n_in, n_out) for n_in, n_out in pairwise(widths))

    def loss(self, rows: Tensor, random: torch.Generator) -> Tensor:
        """Cross-entropy of the bin of t, for x + sigma_t * noise with random t."""
        options: dict[str, Any] = {"generator": random, "device": rows.device}
        times = torch.randint(self.n_steps, (len(rows),), **options)
        noisy = rows + self._sigma(rows.device)[times, None] * torch.randn(rows.shape, **options)
        bins = times * self.n_bins // self.n_steps
        return nn.functional.cross_entropy(self._logits(noisy, random), bins)

    def score(self, rows: Tensor) -> Tensor:
        """The expected bin."""
        probabilities = self._logits(rows).softmax(dim=1)
        return probabilities @ torch.arange(self.n_bins, dtype=rows.dtype, device=rows.device)

    def _sigma(self, device: torch.device) -> Tensor:
        """sigma_t^2 = 1 - prod over s <= t of (1 - beta_s)"""
        betas = torch.linspace(*self.noise_range, self.n_steps, device=device)
        return (1 - (1 - betas).cumprod(dim=0)).sqrt()

    def _logits(self, rows: Tensor, dropout_random: torch.Generator | None = None) -> Tensor:
        """Logits of the bins; with a generator, as in training, units are dropped at random."""
        hidden = self.layers[0](rows).relu()
        for layer in self.layers[1:-1]:
            hidden = layer(hidden).relu()
            if dropout_random is not None:
                drawn = torch.rand(hidden.shape, generator=dropout_random, device=rows.device)
                hidden = hidden * (drawn >= self.dropout) / (1 - self.dropout)
        logits: Tensor = self.layers[-1](hidden)
        return logits
