"""The calibration term of a row, attributed to its columns and to where its mass goes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from .._types import Floats, Integers


@dataclass(frozen=True, eq=False)
class Moves:
    """Where the mass of rows goes: one entry per row, draw and centroid that receives some.

    Attributes
    ----------
    row, draw : ndarray of int
        The row and the draw.
    centroid : ndarray of int
        Its index in the draw's `centroids`.
    share : ndarray of float
        Share of the row's mass; the shares of a row in a draw sum to 1.
    distance : ndarray of float
        In the draw's space.
    usual : ndarray of float
        The usual distance at the centroid, which the distance is divided by; 1 for plain costs.
    """

    row: Integers
    draw: Integers
    centroid: Integers
    share: Floats
    distance: Floats
    usual: Floats


@dataclass(frozen=True, eq=False)
class Neighbours:
    """The references of the first draw that are nearest to each row, nearest first.

    Attributes
    ----------
    reference : ndarray of shape (n, k)
        Their index in `references_`.
    distance : ndarray of shape (n, k)
        In the first draw's space.
    """

    reference: Integers
    distance: Floats


@dataclass(frozen=True, eq=False)
class DeltaParts:
    """The terms of rows by source: `columns.sum(axis=1) + references` equals `delta`.

    Attributes
    ----------
    delta : ndarray of shape (n,)
    columns : ndarray of shape (n, D)
        The contribution of each column: its share of the squared distance to the centroids that
        the row goes to.
    references : ndarray of shape (n,)
        What the references pay; 0 with the signal "own".
    moves : Moves
    neighbours : Neighbours
    """

    delta: Floats
    columns: Floats
    references: Floats
    moves: Moves
    neighbours: Neighbours

    @classmethod
    def without_transport(cls, delta: Floats, columns: Floats) -> Self:
        """The parts of a term that is not a transport: no references, moves or neighbours."""
        n, none = len(delta), np.empty(0, dtype=np.int64)
        moves = Moves(none, none, none, np.empty(0), np.empty(0), np.empty(0))
        neighbours = Neighbours(np.empty((n, 0), dtype=np.int64), np.empty((n, 0)))
        return cls(delta, columns, np.zeros(n), moves, neighbours)
