"""One random draw: normal data described by reference rows (P) and by centroids (Q)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from .._types import Floats, Integers, Rows
from .._validation import LARGEST_VALUE
from ..errors import InputError
from ..transport import (
    EuclideanCosts,
    PartialTransport,
    RowTransport,
    Transported,
    euclidean_costs,
)
from ._column_scaling import ColumnScaling
from ._delta_parts import Moves, Neighbours
from ._kmeans import BLOCK_NUMBERS, find_centroids, leave_one_out_costs

N_NEIGHBOURS = 3  # nearest reference rows in an explanation

TARGETS = ("uniform", "sizes", "free")


@dataclass(frozen=True, eq=False)
class Draw:
    """Reference rows (P without the row to score), centroids (Q), and the space they are in.

    Attributes
    ----------
    references : ndarray of shape (M, D)
    centroids : ndarray of shape (K, D)
        Both in the space of the draw.
    radius : ndarray of shape (K,)
        Distances to a centroid are divided by this.
    scaling : ColumnScaling
        Brings rows to the space of the draw.
    target : "uniform", "free", "partial", or ndarray of int of shape (K,)
        Mass on the centroids, as for `RowTransport`; "partial": limited capacities.
    transport : RowTransport or PartialTransport
        The transport of a row and the references to the centroids, or of the row alone.
    """

    references: Floats
    centroids: Floats
    radius: Floats
    scaling: ColumnScaling
    target: str | Integers
    transport: RowTransport | PartialTransport

    @classmethod
    def solved(
        cls,
        references: Floats,
        centroids: Floats,
        radius: Floats,
        scaling: ColumnScaling,
        target: str | Integers,
    ) -> Self:
        """A draw whose transport of references is solved here."""
        transport = RowTransport(euclidean_costs(references, centroids) / radius, target)
        return cls(references, centroids, radius, scaling, target, transport)

    @cached_property
    def _costs(self) -> EuclideanCosts:
        return EuclideanCosts(
            self.centroids,
            radius=self.radius,
            shift=self.scaling.shift,
            scale=self.scaling.scale,
            bound=np.inf if self.scaling.bound is None else self.scaling.bound,
        )

    def solve(self, rows: Rows, *, mass: bool = False, n_threads: int = 1) -> Transported:
        """The transport of each row."""
        try:
            return self.transport.solve_points(rows, self._costs, mass=mass, n_threads=n_threads)
        except ValueError as error:
            if self._are_in_range(rows):  # not the fault of the rows
                raise
            raise InputError(str(error)) from error

    def _are_in_range(self, rows: Rows) -> bool:
        """Whether the distances of rows in the space of this draw can be computed."""
        with np.errstate(over="ignore"):
            return bool((np.abs(self.transform(rows)) <= LARGEST_VALUE).all())

    def attribute(
        self, rows: Rows, columns: Floats, number: int, n_threads: int = 1
    ) -> tuple[Transported, Moves]:
        """The transport of each row, and where its mass goes.

        Adds the contribution of each column to the cost of the row to `columns` (n, D). `number` is
        the number of this draw in the moves.
        """
        is_free = isinstance(self.target, str) and self.target == "free"
        transported = self.solve(rows, mass=not is_free, n_threads=n_threads)
        n_sources = len(self.references) + 1
        if transported.nearest is not None:
            row, centroid = np.arange(len(rows)), transported.nearest
            share = np.ones(len(rows))
        else:
            assert transported.mass is not None
            row, centroid = np.nonzero(transported.mass)
            share = transported.mass[row, centroid] * n_sources
        distance = np.linalg.norm(self.transform(rows)[row] - self.centroids[centroid], axis=1)
        usual = self.radius[centroid]
        self._costs.add_shares(rows, row, centroid, share * distance / usual / n_sources, columns)
        draw = np.full(len(row), number)
        return transported, Moves(row, draw, centroid, share, distance, usual)

    def neighbours(self, rows: Rows) -> Neighbours:
        """The references nearest to each row."""
        n_nearest = min(N_NEIGHBOURS, len(self.references))
        nearest = np.empty((len(rows), n_nearest), dtype=np.int64)
        distance = np.empty(nearest.shape)
        step = max(1, BLOCK_NUMBERS // len(self.references))
        for start in range(0, len(rows), step):
            part = slice(start, start + step)
            distances = euclidean_costs(self.transform(rows[part]), self.references)
            nearest[part] = np.argsort(distances, axis=1, kind="stable")[:, :N_NEIGHBOURS]
            distance[part] = np.take_along_axis(distances, nearest[part], axis=1)
        return Neighbours(nearest, distance)

    def with_references(self, rows: Rows) -> Draw:
        """The same centroids with these rows as references; not for the target "partial"."""
        target = self.target
        if not isinstance(target, str):
            target = _in_proportion(target, len(rows) + 1)
        return Draw.solved(self.transform(rows), self.centroids, self.radius, self.scaling, target)

    def transform(self, rows: Rows) -> Floats:
        """Rows in the space of this draw."""
        return self.scaling.transform(rows)

    def inverse_transform(self, points: Floats) -> Floats:
        """Points of this space in the units of the rows."""
        return self.scaling.inverse_transform(points)

    def rounding(self, rows: Floats) -> float:
        """An upper bound of the rounding error of a row's cost."""
        largest = np.abs(self.transform(rows)).max()
        return float(10 * np.finfo(np.float64).eps * largest / self.radius.min())


def new_draw(
    rows: Floats,
    n_centroids: int,
    n_references: int,
    target: str,
    feature_scaling: str | None,
    random: np.random.RandomState,
) -> tuple[Draw, Floats]:
    """Draw references and centroids from training rows, as in the paper.

    Returns
    -------
    Draw
    ndarray of shape (n,)
        How much more each row would pay if k-means had not used it, as for a new row. It is known
        for the target "free"; for others it is 0.
    """
    scaling = ColumnScaling.from_training(feature_scaling, rows)
    inside = scaling.transform(rows)
    references = inside[random.choice(len(rows), n_references, replace=False)]
    largest = max(inside.max(), -inside.min())
    if largest > LARGEST_VALUE:
        raise InputError(
            f"values of X reach {largest:g} after feature_scaling={feature_scaling!r}, "
            "too large to be squared: rescale X"
        )
    centroids, labels = find_centroids(inside, n_centroids, random)
    radius = np.ones(n_centroids)
    extra = np.zeros(len(rows))
    masses: Any = target
    if target == "free":
        with_row, without_row = leave_one_out_costs(inside, centroids, radius, labels)
        extra = (without_row - with_row) / (n_references + 1)
    elif target == "sizes":
        sizes = np.bincount(labels, minlength=n_centroids)
        masses = _in_proportion(sizes, n_references + 1)
    return Draw.solved(references, centroids, radius, scaling, masses), extra


def _in_proportion(sizes: Integers, total: int) -> Integers:
    """Integers in proportion to `sizes` that sum to `total` (largest remainders)."""
    rounded, remainder = np.divmod(sizes * total, sizes.sum())
    most_cut = np.argsort(-remainder, kind="stable")
    rounded[most_cut[: total - rounded.sum()]] += 1
    return rounded
