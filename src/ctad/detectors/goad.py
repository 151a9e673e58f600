"""GOAD: classification of random affine maps."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ._layers import leaky_relu, linear_layers, n_weights
from ._network import WORK_OF_A_NUMBER, Network
from ._neural_detector import NeuralDetector
from ._parameter_checks import check_integer, check_number

MAX_LAYERS = 100  # a model file must not ask for more


@dataclass(kw_only=True, eq=False, repr=False)
class GOAD(NeuralDetector):
    """Classify which of many random maps was applied to a row; for anomalies this is hard.

    Where the paper leaves a choice: the classification layer has a bias; the triplet loss uses the
    nearest centre of another map; the centres for scoring are means over all training rows,
    computed after training.

    Parameters
    ----------
    n_maps : int, default=256
    map_width : int, default=32
        Dimensions of the maps' output.
    n_layers : int, default=1
        Layers of the classifier. The paper uses 5, and 25 epochs, for large tables.
    width : int, default=8
        Width of these layers.
    triplet_weight : float, default=0.1
        Weight of the loss term that pulls each map's rows to their centre.
    **others
        As in `NeuralDetector`.

    References
    ----------
    L. Bergman, Y. Hoshen: Classification-based anomaly detection for general data. ICLR 2020.

    Examples
    --------
    >>> import numpy as np
    >>> from ctad.detectors.goad import GOAD
    >>> X_train = np.random.default_rng(0).normal(size=(200, 3)) + 5
    >>> normal, odd = GOAD(n_maps=64, random_state=0).fit(X_train).decision_function(
    ...     [[5.0, 5.0, 5.0], [-9.0, 9.0, 9.0]])
    >>> bool(odd > normal)
    True
    """

    n_maps: int = 256
    map_width: int = 32
    n_layers: int = 1
    width: int = 8
    triplet_weight: float = 0.1
    epochs: int = 1
    batch_size: int = 64
    learning_rate: float = 1e-3
    betas: tuple[float, float] = (0.5, 0.999)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_integer("n_maps", self.n_maps, 2)  # with one map, every row would score 0
        check_integer("map_width", self.map_width)
        check_integer("n_layers", self.n_layers, 1, MAX_LAYERS)
        check_integer("width", self.width)
        check_number("triplet_weight", self.triplet_weight)

    def _build_network(self, n_columns: int) -> Network:
        widths = (self.map_width, *[self.width] * self.n_layers)
        return GOADNetwork(n_columns, self.n_maps, widths, self.triplet_weight)


class GOADNetwork(Network):
    """Random maps, the embedding of a mapped row, and the classifier of the map."""

    margin = 1.0
    maps: Tensor
    centres: Tensor

    def __init__(
        self, n_columns: int, n_maps: int, widths: tuple[int, ...], triplet_weight: float
    ) -> None:
        super().__init__()
        self.triplet_weight = triplet_weight
        activation = leaky_relu()
        self.encoder = nn.Sequential(linear_layers(widths, activation), activation)
        self.classifier = nn.Linear(widths[-1], n_maps)
        self.register_buffer("maps", torch.empty(n_columns, n_maps, widths[0]))
        self.register_buffer("centres", torch.empty(n_maps, widths[-1]))

    def initialise(self, random: torch.Generator) -> None:
        """Draw the weights, and maps that training does not change."""
        super().initialise(random)
        self.maps.normal_(generator=random)

    @property
    def work_per_row(self) -> int:
        """Every map is embedded, and every embedding is compared with the centre of every map."""
        n_maps, width = self.centres.shape
        largest = max(n_maps, self.maps.shape[2], width)
        operations = n_weights(self.encoder) + n_maps * width
        return n_maps * (operations + WORK_OF_A_NUMBER * largest)

    def loss(self, rows: Tensor, random: torch.Generator) -> Tensor:
        """Cross-entropy of the map's index + weight * triplet loss around the batch means."""
        embeddings = self._embeddings(rows)
        n_maps = embeddings.shape[1]
        indices = torch.arange(n_maps, device=rows.device).expand(len(rows), -1)
        cross_entropy = nn.functional.cross_entropy(
            self.classifier(embeddings).flatten(0, 1), indices.flatten()
        )
        distances = _squared_distances(embeddings, embeddings.mean(dim=0))
        own = distances.diagonal(dim1=1, dim2=2)
        is_own = torch.eye(n_maps, dtype=torch.bool, device=rows.device)
        nearest_other = distances.masked_fill(is_own, torch.inf).amin(dim=2)
        triplet = (own + self.margin - nearest_other).clamp_min(0).mean()
        return cross_entropy + self.triplet_weight * triplet

    def after_training(self, rows: Tensor) -> None:
        """Set the centres to the means over all training rows."""
        self.centres.zero_()
        for batch in rows.split(256):  # each row takes the memory of all its maps
            self.centres += self._embeddings(batch).sum(dim=0)
        self.centres /= len(rows)

    def score(self, rows: Tensor) -> Tensor:
        """- sum over maps of log softmax(- squared distances to the centres) at the map's own"""
        # |z|^2 is left out: it is the same in all distances, and too large for far rows.
        closeness = 2 * self._embeddings(rows) @ self.centres.T - self.centres.square().sum(dim=1)
        own = closeness.diagonal(dim1=1, dim2=2)
        return (closeness.logsumexp(dim=2) - own).sum(dim=1)

    def _embeddings(self, rows: Tensor) -> Tensor:
        """The embedding of each map of each row, of shape (n, maps, width)."""
        mapped = (rows @ self.maps.flatten(1)).unflatten(1, self.maps.shape[1:])
        embeddings: Tensor = self.encoder(mapped)
        return embeddings


def _squared_distances(embeddings: Tensor, centres: Tensor) -> Tensor:
    """From each embedding to every centre: |z|^2 + |c|^2 - 2 z c."""
    sizes = embeddings.square().sum(dim=-1, keepdim=True) + centres.square().sum(dim=-1)
    return (sizes - 2 * embeddings @ centres.T).clamp_min(0)
