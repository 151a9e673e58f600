"""What the calibration term of a row is made of."""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from .._input import Floats

Integers = npt.NDArray[np.int64]


class Moves(NamedTuple):
    """Where the mass of rows goes: one entry per row, draw and centroid that takes some.

    Attributes
    ----------
    row, draw : ndarray of int
        Whose mass it is, and in which draw.
    centroid : ndarray of int
        Its place in the draw's `centroids`.
    share : ndarray of float
        Of the row's mass; of each row and draw they sum to 1.
    distance : ndarray of float
        In the draw's space.
    usual : ndarray of float
        What the distance is divided by to be a cost: 1, or the usual distance there.
    """

    row: Integers
    draw: Integers
    centroid: Integers
    share: Floats
    distance: Floats
    usual: Floats


class Neighbours(NamedTuple):
    """The references of the first draw that are nearest to each row, the nearest first.

    Attributes
    ----------
    reference : ndarray of shape (n, k)
        Their places in `references_`.
    distance : ndarray of shape (n, k)
        In the first draw's space.
    """

    reference: Integers
    distance: Floats


class DeltaParts(NamedTuple):
    """What the terms of rows are made of: `columns.sum(axis=1) + references` is `delta`.

    Attributes
    ----------
    delta : ndarray of shape (n,)
    columns : ndarray of shape (n, D)
        What each column adds to what the row pays: its share of the squared distance to the
        centroids the row goes to.
    references : ndarray of shape (n,)
        What the references pay; with the signal "own" it does not count and is 0.
    moves : Moves
    neighbours : Neighbours
    """

    delta: Floats
    columns: Floats
    references: Floats
    moves: Moves
    neighbours: Neighbours

    def times(self, factor: float) -> Self:
        """The parts of a term that is a multiple of this one."""
        return self._replace(
            delta=factor * self.delta,
            columns=factor * self.columns,
            references=factor * self.references,
        )


def without_transport(delta: Floats, columns: Floats) -> DeltaParts:
    """The parts of a term that is no transport."""
    n, none = len(delta), np.empty(0, dtype=np.int64)
    moves = Moves(none, none, none, np.empty(0), np.empty(0), np.empty(0))
    neighbours = Neighbours(np.empty((n, 0), dtype=np.int64), np.empty((n, 0)))
    return DeltaParts(delta, columns, np.zeros(n), moves, neighbours)
