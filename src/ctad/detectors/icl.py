"""ICL: internal contrastive learning."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ..errors import InputError
from ._layers import SLOPE, Network, directions
from ._neural import NeuralDetector, in_range

WIDTH = 200  # in which windows and their complements are compared


@dataclass(kw_only=True, eq=False, repr=False)
class ICL(NeuralDetector):
    """Match each window of columns with the row's other columns; in anomalies they match badly.

    Needs three columns at least. Windows are compared by angles, so a row far off whose columns go
    together may pass for normal. Its authors take 3,000 rows for a step and 2,000 epochs at most.
    Here a step takes 64 rows, and training ends with the epoch of the 1,000th step.

    Parameters
    ----------
    window : int, default=None
        Consecutive columns in a window. None: 2 up to 40 columns, 10 up to 160, columns - 150
        above.
    temperature : float, default=0.01
        Of the similarities. The paper's; a public copy has 0.1.
    stop_loss : float, default=None
        The loss below which training ends. None: 0.001 up to 40 columns, 0.01 above.
    **others
        As in `NeuralDetector`.

    References
    ----------
    T. Shenkar, L. Wolf: Anomaly detection for tabular data with internal contrastive learning.
    ICLR 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from ctad.detectors.icl import ICL
    >>> x = np.random.default_rng(0).normal(size=(500, 1))
    >>> X_train = np.hstack([x, -x, x])
    >>> normal, odd = ICL(epochs=20, random_state=0).fit(X_train).decision_function(
    ...     [[1.0, -1.0, 1.0], [1.0, 1.0, 1.0]])
    >>> bool(odd > normal)
    True
    """

    window: int | None = None
    temperature: float = 0.01
    stop_loss: float | None = None
    epochs: int = 2000
    max_steps: int | None = 1000
    batch_size: int = 64
    learning_rate: float = 1e-3

    def _network(self, n_columns: int) -> Network:
        window = self.window
        if window is None:
            window = 2 if n_columns <= 40 else 10 if n_columns <= 160 else n_columns - 150
        if not 1 <= window <= n_columns - 1 or n_columns < 3:
            raise InputError(
                f"ICL needs three columns at least, and more than its window of {window}: there "
                f"are {n_columns}. Use another detector for so few."
            )
        in_range("temperature", self.temperature, 1e-6)
        return ICLNetwork(n_columns, window, self.temperature)

    def _enough(self, loss: float, n_columns: int) -> bool:
        stop_loss = self.stop_loss
        if stop_loss is None:
            stop_loss = 1e-3 if n_columns <= 40 else 1e-2
        return loss < stop_loss


class ICLNetwork(Network):
    """One network for windows, one for their complements, into one space."""

    def __init__(self, n_columns: int, window: int, temperature: float) -> None:
        super().__init__()
        self.n_columns, self.window, self.temperature = n_columns, window, temperature
        m = self.n_windows = n_columns - window + 1
        bend = nn.LeakyReLU(SLOPE)
        # Batches are normalised per window, over rows and hidden units.
        self.of_window = nn.Sequential(
            *(nn.Linear(window, 50), bend, nn.BatchNorm1d(m)),
            *(nn.Linear(50, 100), bend),
            *(nn.Linear(100, WIDTH), bend),
        )
        self.of_complement = nn.Sequential(
            *(nn.Linear(n_columns - window, 200), nn.Tanh(), nn.BatchNorm1d(m)),
            *(nn.Linear(200, 400), bend, nn.BatchNorm1d(m)),
            *(nn.Linear(400, WIDTH), bend),
        )

    def loss(self, rows: Tensor, random: torch.Generator) -> Tensor:
        """Mean cross-entropy."""
        return self.score(rows).mean()

    def score(self, rows: Tensor) -> Tensor:
        """Mean over windows of the cross-entropy of finding a complement's own window."""
        first = torch.arange(self.n_windows, device=rows.device)[:, None]
        inside = first + torch.arange(self.window, device=rows.device)
        outside = torch.arange(self.n_columns - self.window, device=rows.device)
        outside = outside + self.window * (outside >= first)
        windows = directions(self.of_window(rows[:, inside]))
        complements = directions(self.of_complement(rows[:, outside]))
        likeness = complements @ windows.transpose(1, 2) / self.temperature  # (n, m, m)
        own = likeness.diagonal(dim1=1, dim2=2)
        return (likeness.logsumexp(dim=2) - own).mean(dim=1)
