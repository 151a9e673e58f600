"""GOAD: classification of random affine maps."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ._layers import SLOPE, Network, layers
from ._neural import NeuralDetector, in_range

MAX_LAYERS = 100


@dataclass(kw_only=True, eq=False, repr=False)
class GOAD(NeuralDetector):
    """Learn which of many random maps a row went through; of anomalies it is hard to tell.

    Where the description leaves it open: the layer that names the map has a bias, a map's rows are
    kept away from the nearest centre of another map, and the centres that rows are scored by are
    means over all training rows, taken once training is over.

    Parameters
    ----------
    n_maps : int, default=256
    map_width : int, default=32
        Dimensions that the maps lead to.
    n_layers : int, default=1
        Of the network that tells the maps apart. The paper takes 5, and 25 epochs, for large
        tables.
    width : int, default=8
        Of its layers.
    triplet_weight : float, default=0.1
        Of the part of the loss that gathers each map's rows around their centre.
    **others
        As in `NeuralDetector`.

    References
    ----------
    L. Bergman, Y. Hoshen: Classification-based anomaly detection for general data. ICLR 2020.

    Examples
    --------
    >>> import numpy as np
    >>> from ctad.detectors.goad import GOAD
    >>> X_train = np.random.default_rng(0).normal(size=(500, 3)) + 5
    >>> normal, odd = GOAD(random_state=0).fit(X_train).decision_function(
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

    def _network(self, n_columns: int) -> Network:
        in_range("n_layers", self.n_layers, 1, MAX_LAYERS)  # a number that a model file may give
        in_range("n_maps", self.n_maps, 2)  # of one, every row scores 0
        widths = (self.map_width, *[self.width] * self.n_layers)
        return GOADNetwork(n_columns, self.n_maps, widths, self.triplet_weight)


class GOADNetwork(Network):
    """Fixed random maps, a trunk that all of them share, and a centre for each."""

    margin = 1.0
    maps: Tensor
    centres: Tensor

    def __init__(
        self, n_columns: int, n_maps: int, widths: tuple[int, ...], triplet_weight: float
    ) -> None:
        super().__init__()
        self.triplet_weight = triplet_weight
        bend = nn.LeakyReLU(SLOPE)
        self.trunk = nn.Sequential(layers(widths, bend), bend)
        self.head = nn.Linear(widths[-1], n_maps)
        self.register_buffer("maps", torch.empty(n_columns, n_maps, widths[0]))
        self.register_buffer("centres", torch.empty(n_maps, widths[-1]))

    def draw(self, random: torch.Generator) -> None:
        """Random weights, and random maps that training leaves as they are."""
        super().draw(random)
        self.maps.normal_(generator=random)

    def loss(self, rows: Tensor, random: torch.Generator) -> Tensor:
        """Cross-entropy of the map's number + weight * triplet loss around the batch's means."""
        places = self._places(rows)
        numbers = torch.arange(places.shape[1], device=rows.device).expand(len(rows), -1)
        cross_entropy = nn.functional.cross_entropy(
            self.head(places).flatten(0, 1), numbers.flatten()
        )
        away = _squared_distances(places, places.mean(dim=0))
        own = away.diagonal(dim1=1, dim2=2)
        itself = torch.eye(places.shape[1], dtype=torch.bool, device=rows.device)
        nearest_other = away.masked_fill(itself, torch.inf).amin(dim=2)
        triplet = (own + self.margin - nearest_other).clamp_min(0).mean()
        return cross_entropy + self.triplet_weight * triplet

    def finish(self, rows: Tensor) -> None:
        """The centres: means over all training rows."""
        self.centres.zero_()
        for block in rows.split(256):  # each row is 256 maps wide
            self.centres += self._places(block).sum(dim=0)
        self.centres /= len(rows)

    def score(self, rows: Tensor) -> Tensor:
        """- sum over maps of log softmax(- squared distance to the centres) of the map's own"""
        # Without |z|^2, which all distances have in common: it is too large where z is far off.
        nearness = 2 * self._places(rows) @ self.centres.T - self.centres.square().sum(dim=1)
        own = nearness.diagonal(dim1=1, dim2=2)
        return (nearness.logsumexp(dim=2) - own).sum(dim=1)

    def _places(self, rows: Tensor) -> Tensor:
        """Each map of each row behind the trunk, (n, maps, width)."""
        mapped = (rows @ self.maps.flatten(1)).unflatten(1, self.maps.shape[1:])
        places: Tensor = self.trunk(mapped)
        return places


def _squared_distances(places: Tensor, centres: Tensor) -> Tensor:
    """From each place to every centre: |z|^2 + |c|^2 - 2 z c."""
    sizes = places.square().sum(dim=-1, keepdim=True) + centres.square().sum(dim=-1)
    return (sizes - 2 * places @ centres.T).clamp_min(0)
