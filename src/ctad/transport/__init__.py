"""Exact optimal transport of one row against a fixed rest. Knows arrays only."""

from ._distances import add_shares, euclidean_costs
from ._row_transport import RowTransport, Transported

__all__ = ["RowTransport", "Transported", "add_shares", "euclidean_costs"]
