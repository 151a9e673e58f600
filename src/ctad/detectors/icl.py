"""ICL: internal contrastive learning."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ..errors import InputError
from ._layers import leaky_relu, n_weights, unit_vectors
from ._network import WORK_OF_A_NUMBER, Network
from ._neural_detector import NeuralDetector
from ._parameter_checks import check_integer, check_number

EMBEDDING_WIDTH = 200


@dataclass(kw_only=True, eq=False, repr=False)
class ICL(NeuralDetector):
    """Match each window of columns with the row's other columns; anomalies match badly.

    At least three columns are needed. Windows are compared by angles, so a far row whose columns
    match each other may look normal. Its authors use batches of 3,000 rows and at most 2,000
    epochs. Here a batch has 64 rows, and training stops after the epoch with the 1,000th step.

    Parameters
    ----------
    window : int, default=None
        Consecutive columns in a window. None: 2 up to 40 columns, 10 up to 160, columns - 150
        above.
    temperature : float, default=0.01
        Divides the similarities. This is the paper's value; a public copy of the code has 0.1.
    stop_loss : float, default=None
        Training stops below this loss. None: 0.001 up to 40 columns, 0.01 above.
    **others
        As in `NeuralDetector`.

    Attributes
    ----------
    window_ : int
        Columns in a window.
    stop_loss_ : float
        Training stops below this loss.
    others
        As in `NeuralDetector`.

    References
    ----------
    T. Shenkar, L. Wolf: Anomaly detection for tabular data with internal contrastive learning.
    ICLR 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from ctad.detectors.icl import ICL
    >>> x = np.random.default_rng(0).normal(size=(200, 1))
    >>> X_train = np.hstack([x, -x, x])
    >>> detector = ICL(epochs=20, batch_size=16, random_state=0).fit(X_train)
    >>> normal, odd = detector.decision_function([[1.0, -1.0, 1.0], [1.0, 1.0, 1.0]])
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

    @property
    def window_(self) -> int:
        """Columns in a window."""
        return self._window(self.n_features_in_)

    @property
    def stop_loss_(self) -> float:
        """Training stops below this loss."""
        if self.stop_loss is not None:
            return self.stop_loss
        return 1e-3 if self.n_features_in_ <= 40 else 1e-2

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_integer("window", self.window, optional=True)
        check_number("temperature", self.temperature, 1e-6)
        check_number("stop_loss", self.stop_loss, optional=True)

    def _build_network(self, n_columns: int) -> Network:
        window = self._window(n_columns)
        if n_columns < 3 or window >= n_columns:
            raise InputError(
                f"ICL needs at least three columns, and more than its window of {window}, but X "
                f"has {n_columns}. Use another detector."
            )
        return ICLNetwork(n_columns, window, self.temperature)

    def _window(self, n_columns: int) -> int:
        if self.window is not None:
            return self.window
        return 2 if n_columns <= 40 else 10 if n_columns <= 160 else n_columns - 150

    def _may_stop(self, loss: float) -> bool:
        return loss < self.stop_loss_


class ICLNetwork(Network):
    """Two encoders into one space: for windows and for their complements."""

    def __init__(self, n_columns: int, window: int, temperature: float) -> None:
        super().__init__()
        self.n_columns, self.window, self.temperature = n_columns, window, temperature
        m = self.n_windows = n_columns - window + 1
        activation = leaky_relu()
        # Batch norm is per window, over rows and hidden units.
        self.window_encoder = nn.Sequential(
            *(nn.Linear(window, 50), activation, nn.BatchNorm1d(m)),
            *(nn.Linear(50, 100), activation),
            *(nn.Linear(100, EMBEDDING_WIDTH), activation),
        )
        self.complement_encoder = nn.Sequential(
            *(nn.Linear(n_columns - window, 200), nn.Tanh(), nn.BatchNorm1d(m)),
            *(nn.Linear(200, 400), activation, nn.BatchNorm1d(m)),
            *(nn.Linear(400, EMBEDDING_WIDTH), activation),
        )

    @property
    def work_per_row(self) -> int:
        """All windows and complements are encoded, and compared with each other."""
        m = self.n_windows
        largest = max(m, self.window, self.n_columns - self.window, 400)
        operations = n_weights(self) + m * EMBEDDING_WIDTH
        return m * (operations + WORK_OF_A_NUMBER * largest)

    def loss(self, rows: Tensor, random: torch.Generator) -> Tensor:
        """The mean score."""
        return self.score(rows).mean()

    def score(self, rows: Tensor) -> Tensor:
        """Mean over windows of the cross-entropy of the complement's own window."""
        first = torch.arange(self.n_windows, device=rows.device)[:, None]
        inside = first + torch.arange(self.window, device=rows.device)
        outside = torch.arange(self.n_columns - self.window, device=rows.device)
        outside = outside + self.window * (outside >= first)
        windows = unit_vectors(self.window_encoder(rows[:, inside]))
        complements = unit_vectors(self.complement_encoder(rows[:, outside]))
        similarity = complements @ windows.transpose(1, 2) / self.temperature  # (n, m, m)
        own = similarity.diagonal(dim1=1, dim2=2)
        return (similarity.logsumexp(dim=2) - own).mean(dim=1)
