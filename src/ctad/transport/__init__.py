"""Exact optimal transport of one row against a fixed rest. Knows arrays only."""

from ._costs import EuclideanCosts
from ._distances import euclidean_costs
from ._row_transport import RowTransport, Transported

__all__ = ["EuclideanCosts", "RowTransport", "Transported", "euclidean_costs"]
