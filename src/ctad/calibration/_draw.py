"""One random draw: normal data described by reference rows (P) and by centroids (Q)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from sklearn.preprocessing import MinMaxScaler, RobustScaler, StandardScaler

from .._types import Floats, Integers, Rows
from .._validation import LARGEST_VALUE
from ..errors import InputError
from ..transport import EuclideanCosts, RowTransport, Transported, euclidean_costs
from ._delta_parts import Moves, Neighbours
from ._kmeans import BLOCK_NUMBERS, find_centroids, leave_one_out_costs, usual_distances

N_NEIGHBOURS = 3  # nearest reference rows in an explanation

TARGETS = ("uniform", "sizes", "free")
FEATURE_SCALINGS = (None, "standard", "robust", "minmax")


@dataclass(frozen=True)
class DrawSettings:
    """Settings of a draw.

    Attributes
    ----------
    n_centroids, n_references : int
        K and M.
    target : {"uniform", "sizes", "free"}
        The mass on the centroids.
    feature_scaling : {None, "standard", "robust", "minmax"}
    relative_costs : bool
        Whether costs are ratios of the distance to the usual distance of the rows at a centroid,
        or plain distances.
    random_columns : bool
        Whether to use a random subset, more than half, of the columns.
    max_kmeans_rows : int or None
        k-means uses a random sample of at most this many rows.
    min_rows_per_centroid : int or None
        There is at most one centroid per this many distinct rows. None: no such limit.
    """

    n_centroids: int
    n_references: int
    target: str = "uniform"
    feature_scaling: str | None = None
    relative_costs: bool = False
    random_columns: bool = False
    max_kmeans_rows: int | None = None
    min_rows_per_centroid: int | None = None


@dataclass(frozen=True, eq=False)
class Draw:
    """Reference rows (P without the row to score), centroids (Q), and the space they are in.

    A row is in that space after its columns were selected, shifted and divided, in this order.

    Attributes
    ----------
    references : ndarray of shape (M, d)
    centroids : ndarray of shape (K, d)
    radius : ndarray of shape (K,)
        Distances to a centroid are divided by this.
    columns, shift, scale : ndarray of shape (d,)
        The columns in use, and what is subtracted from them and what they are divided by.
    target : "uniform", "free", or ndarray of int of shape (K,)
        Mass on the centroids, as for `RowTransport`.
    transport : RowTransport
        The transport of a row and the references to the centroids.
    """

    references: Floats
    centroids: Floats
    radius: Floats
    columns: Integers
    shift: Floats
    scale: Floats
    target: str | Integers
    transport: RowTransport

    @classmethod
    def solved(
        cls,
        references: Floats,
        centroids: Floats,
        radius: Floats,
        columns: Integers,
        shift: Floats,
        scale: Floats,
        target: str | Integers,
    ) -> Self:
        """A draw whose transport is solved here."""
        transport = RowTransport(euclidean_costs(references, centroids) / radius, target)
        return cls(references, centroids, radius, columns, shift, scale, target, transport)

    @cached_property
    def _costs(self) -> EuclideanCosts:
        return EuclideanCosts(
            self.centroids,
            radius=self.radius,
            columns=self.columns,
            shift=self.shift,
            scale=self.scale,
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
        """The same centroids with these rows as references."""
        target = self.target
        if not isinstance(target, str):
            target = _in_proportion(target, len(rows) + 1)
        return Draw.solved(
            self.transform(rows),
            self.centroids,
            self.radius,
            self.columns,
            self.shift,
            self.scale,
            target,
        )

    def transform(self, rows: Rows) -> Floats:
        """Rows in the space of this draw."""
        return np.ascontiguousarray((rows[:, self.columns] - self.shift) / self.scale)

    def inverse_transform(self, points: Floats) -> Floats:
        """Points of this space in the units of the rows; for a draw that uses all columns."""
        restored: Floats = points * self.scale + self.shift
        return restored

    def rounding(self, rows: Floats) -> float:
        """An upper bound of the rounding error of a row's cost."""
        largest = np.abs(self.transform(rows)).max()
        return float(10 * np.finfo(np.float64).eps * largest / self.radius.min())


def new_draw(
    rows: Floats, settings: DrawSettings, random: np.random.RandomState
) -> tuple[Draw, Floats]:
    """Draw references and centroids from training rows.

    Returns
    -------
    Draw
    ndarray of shape (n,)
        How much more each row would pay if k-means had not used it, as for a new row. It is known
        for the target "free"; for others it is 0.
    """
    n, n_columns = rows.shape
    columns = np.arange(n_columns)
    if settings.random_columns:
        # More than half of them, as in Lazarevic and Kumar: Feature Bagging for Outlier Detection.
        n_used = random.randint(n_columns // 2 + 1, n_columns + 1)
        columns = np.sort(random.choice(n_columns, n_used, replace=False))
    shift, scale = _location(settings.feature_scaling, np.ascontiguousarray(rows[:, columns]))
    references = rows[random.choice(n, settings.n_references, replace=False)]
    most = settings.max_kmeans_rows
    sample: Any = slice(None) if most is None or most >= n else random.choice(n, most, False)
    inside, references = (
        np.ascontiguousarray((part[:, columns] - shift) / scale)
        for part in (rows[sample], references)
    )
    largest = max(max(part.max(), -part.min()) for part in (inside, references))
    if largest > LARGEST_VALUE:
        raise InputError(
            f"values of X reach {largest:g} after feature_scaling={settings.feature_scaling!r}, "
            "too large to be squared: rescale X"
        )
    k = settings.n_centroids
    if settings.min_rows_per_centroid is not None:
        k = min(k, max(1, len(np.unique(inside, axis=0)) // settings.min_rows_per_centroid))
    centroids, labels = find_centroids(inside, k, random)
    radius = np.ones(k)
    if settings.relative_costs:
        radius = usual_distances(inside, centroids, labels)
    extra = np.zeros(n)
    if settings.target == "free":
        with_row, without_row = leave_one_out_costs(inside, centroids, radius, labels)
        extra[sample] = (without_row - with_row) / (settings.n_references + 1)
    target: Any = settings.target
    if target == "sizes":
        target = _in_proportion(np.bincount(labels, minlength=k), settings.n_references + 1)
    return Draw.solved(references, centroids, radius, columns, shift, scale, target), extra


def _location(scaling: str | None, rows: Floats) -> tuple[Floats, Floats]:
    """Shift and scale of each column; the scale of a constant column is 1."""
    if scaling is None:
        return np.zeros(rows.shape[1]), np.ones(rows.shape[1])
    if scaling == "minmax":
        scaler = MinMaxScaler().fit(rows)
        return scaler.data_min_, 1.0 / scaler.scale_
    if scaling == "robust":
        scaler = RobustScaler().fit(rows)
        return scaler.center_, scaler.scale_
    scaler = StandardScaler().fit(rows)
    return scaler.mean_, scaler.scale_


def _in_proportion(sizes: Integers, total: int) -> Integers:
    """Integers in proportion to `sizes` that sum to `total` (largest remainders)."""
    rounded, remainder = np.divmod(sizes * total, sizes.sum())
    most_cut = np.argsort(-remainder, kind="stable")
    rounded[most_cut[: total - rounded.sum()]] += 1
    return rounded
