"""NeuTraLAD: neural transformation learning."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ..errors import InputError
from ._layers import StackedLinear, linear_layers, n_weights, unit_vectors
from ._network import WORK_OF_A_NUMBER, Network
from ._neural_detector import NeuralDetector
from ._parameter_checks import check_integer, check_number


@dataclass(kw_only=True, eq=False, repr=False)
class NeuTraLAD(NeuralDetector):
    """Train views of a row that are similar to it but not to each other; anomalies fit badly.

    The network has no biases and compares by angles, so a scaled row and its double get the same
    score: distance alone does not make a row anomalous. Columns of mean 0 would put normal rows at
    all angles, so the default scaling is "minmax". Where the paper leaves a choice: the learning
    rate is halved after 100 epochs, and the encoder's last layer has no activation.

    Parameters
    ----------
    n_views : int, default=11
    temperature : float, default=0.1
        Divides the similarities.
    **others
        As in `NeuralDetector`.

    References
    ----------
    C. Qiu, T. Pfrommer, M. Kloft, S. Mandt, M. Rudolph: Neural transformation learning for deep
    anomaly detection beyond images. ICML 2021.

    Examples
    --------
    >>> import numpy as np
    >>> from ctad.detectors.neutralad import NeuTraLAD
    >>> x = np.random.default_rng(0).normal(size=(500, 1))
    >>> X_train = np.hstack([x, -x, x])
    >>> normal, odd = NeuTraLAD(epochs=20, random_state=0).fit(X_train).decision_function(
    ...     [[1.0, -1.0, 1.0], [1.0, 1.0, 1.0]])
    >>> bool(odd > normal)
    True
    """

    n_views: int = 11
    temperature: float = 0.1
    epochs: int = 200
    batch_size: int = 128
    learning_rate: float = 1e-3
    decay: float = 0.5
    decay_epochs: int = 100
    scaling: str = "minmax"

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_integer("n_views", self.n_views, 2)  # with one view, every row would score 0
        check_number("temperature", self.temperature, 1e-6)

    def _build_network(self, n_columns: int) -> Network:
        if n_columns < 2:
            raise InputError("NeuTraLAD needs at least two columns: it compares angles")
        return NeuTraLADNetwork(n_columns, self.n_views, self.temperature)


class NeuTraLADNetwork(Network):
    """Views T_k(x) = x + M_k(x), and the encoder in whose space they are compared."""

    def __init__(self, n_columns: int, n_views: int, temperature: float) -> None:
        super().__init__()
        self.temperature = temperature
        if n_columns < 32:
            width = hidden = 2 * n_columns
        else:
            width, hidden = (32, 64) if n_columns <= 300 else (64, 256)
        self.n_views, self.largest_width = n_views, max(n_columns, hidden)
        self.transformations = nn.Sequential(
            StackedLinear(n_views, n_columns, hidden),
            nn.ReLU(),
            StackedLinear(n_views, hidden, n_columns),
        )
        self.encoder = linear_layers((n_columns, *[hidden] * 4, width), nn.ReLU())

    @property
    def work_per_row(self) -> int:
        """All views and the row are encoded, and compared with each other."""
        views, width = self.n_views + 1, self.largest_width
        operations = n_weights(self.encoder) + views * width
        return views * (operations + WORK_OF_A_NUMBER * max(views, width))

    def loss(self, rows: Tensor, random: torch.Generator) -> Tensor:
        """The mean score."""
        return self.score(rows).mean()

    def score(self, rows: Tensor) -> Tensor:
        """Sum over k of log(exp(s(k,0)/t) + sum over l != k of exp(s(k,l)/t)) - s(k,0)/t

        with the cosine similarity s; 0 is the row itself.
        """
        views = torch.cat([rows[None], rows + self.transformations(rows)])
        encoded = unit_vectors(self.encoder(views)).transpose(0, 1)
        similarity = encoded[:, 1:] @ encoded.transpose(1, 2) / self.temperature
        is_same = torch.eye(views.shape[0], dtype=torch.bool, device=rows.device)[1:]
        total = similarity.masked_fill(is_same, -torch.inf).logsumexp(dim=2)
        return (total - similarity[:, :, 0]).sum(dim=1)
