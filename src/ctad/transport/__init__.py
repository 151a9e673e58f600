"""Exact optimal transport of one row against a fixed rest. Knows arrays only."""

from ._costs import EuclideanCosts
from ._distances import euclidean_costs
from ._partial_transport import PartialTransport
from ._row_transport import RowTransport
from ._transport import Transported

__all__ = [
    "EuclideanCosts",
    "PartialTransport",
    "RowTransport",
    "Transported",
    "euclidean_costs",
]
