"""One random description of normal data, twice: by training rows (P) and by centroids (Q)."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import MinMaxScaler, RobustScaler, StandardScaler
from threadpoolctl import threadpool_limits

from .._input import Floats, Rows, one_of
from ..transport import RowTransport, Transported, add_shares, euclidean_costs
from ._parts import Moves, Neighbours

if TYPE_CHECKING:
    from ..modelfile import Reader, Writer

Integers = npt.NDArray[np.int64]

NEIGHBOURS = 3  # references that are named in an explanation

FEATURE_SCALINGS = (None, "standard", "robust", "minmax")
COLUMNS = ("all", "random")
COSTS = ("distance", "relative")

MOST_CENTROIDS = 200  # that "many" are
# A centroid's usual distance is learnt from its rows, and as if from this many with the mean one.
PRIOR_ROWS = 10

BLOCK_NUMBERS = 2**20  # costs worked on at a time

# A model file may not ask for more memory than about this many numbers.
MAX_SAVED_COSTS = 2**28


class Settings(NamedTuple):
    """How to describe normal data; see `CTAD`."""

    n_centroids: int | Literal["many"]
    n_references: int
    target: str
    cost: str
    columns: str
    rows_per_centroid: int | None


class Draw(NamedTuple):
    """P without the row, Q, the space they are in, and their transport.

    Columns are taken from a row first, then shifted, then divided.

    Attributes
    ----------
    references : ndarray of shape (M, d)
    centroids : ndarray of shape (K, d)
    transport : RowTransport
    target : str or ndarray of int
        Mass on the centroids, as `transport` was given it.
    radius : ndarray of shape (K,)
        What distances to a centroid are divided by.
    columns, shift, scale : ndarray of shape (d,)
        The space: which columns, what is subtracted, what they are divided by.
    """

    references: Floats
    centroids: Floats
    transport: RowTransport
    target: str | Integers
    radius: Floats
    columns: Integers
    shift: Floats
    scale: Floats

    def solve(self, rows: Rows, *, mass: bool = False, n_threads: int = 1) -> Transported:
        """The transport of each row."""
        return self.transport.solve_points(
            rows,
            self.centroids,
            radius=self.radius,
            columns=self.columns,
            shift=self.shift,
            scale=self.scale,
            mass=mass,
            n_threads=n_threads,
        )

    def divide(self, rows: Rows, columns: Floats, n_threads: int = 1) -> tuple[Transported, Moves]:
        """The transport of each row, where its mass goes, and, added to `columns` (n, D), what each
        column adds to what the row pays."""
        is_free = isinstance(self.target, str) and self.target == "free"
        inside = self.inside(rows)
        transported = self.transport.solve_points(
            inside,
            self.centroids,
            radius=self.radius,
            mass=not is_free,
            nearest=is_free,
            n_threads=n_threads,
        )
        n_sources = len(self.references) + 1
        if transported.nearest is not None:
            row, centroid = np.arange(len(inside)), transported.nearest
            share = np.ones(len(inside))
        else:
            assert transported.mass is not None
            row, centroid = np.nonzero(transported.mass)
            share = transported.mass[row, centroid] * n_sources
        distance = np.linalg.norm(inside[row] - self.centroids[centroid], axis=1)
        usual = self.radius[centroid]
        paid = share * distance / usual / n_sources
        add_shares(inside, self.centroids, row, centroid, paid, self.columns, columns)
        first = np.zeros(len(row), dtype=np.int64)
        return transported, Moves(row, first, centroid, share, distance, usual)

    def neighbours(self, rows: Rows) -> Neighbours:
        """The references nearest to each row."""
        distances = euclidean_costs(self.inside(rows), self.references)
        nearest = np.argsort(distances, axis=1, kind="stable")[:, :NEIGHBOURS]
        return Neighbours(nearest, np.take_along_axis(distances, nearest, axis=1))

    def with_references(self, rows: Rows) -> Draw:
        """The same centroids with these rows as references."""
        target = self.target
        if not isinstance(target, str):
            target = _in_proportion(target, len(rows) + 1)
        return _draw_of(
            self.inside(rows),
            self.centroids,
            self.radius,
            self.columns,
            self.shift,
            self.scale,
            target,
        )

    def inside(self, rows: Rows) -> Floats:
        """Rows in the space of this draw."""
        return np.ascontiguousarray((rows[:, self.columns] - self.shift) / self.scale)

    def rounding(self, rows: Floats) -> float:
        """What the cost of a row may be off by."""
        largest = np.abs(self.inside(rows)).max()
        return float(10 * np.finfo(np.float64).eps * largest / self.radius.min())

    def state(self, writer: Writer) -> dict[str, Any]:
        """For a model file."""
        arrays = ("references", "centroids", "radius", "columns", "shift", "scale")
        state: dict[str, Any] = {name: writer.array(getattr(self, name)) for name in arrays}
        own = isinstance(self.target, str)
        state["target"] = self.target if own else {"array": writer.array(self.target)}
        return state


def new_draw(
    rows: Floats,
    settings: Settings,
    scaling: str | None,
    random: np.random.RandomState,
    *,
    all_columns: bool,
) -> tuple[Draw, Floats]:
    """Describe rows; also what each of them would pay more if k-means had not seen it.

    A centroid is close to a row because it is the mean of that row among others; a row that is far
    from all others may even be a centroid. New rows have no such advantage. That is known for the
    target "free"; for others it is 0.
    """
    n, n_columns = rows.shape
    columns = np.arange(n_columns)
    if settings.columns == "random" and not all_columns:
        # More than half of them, as in Lazarevic and Kumar: Feature Bagging for Outlier Detection.
        n_seen = random.randint(n_columns // 2 + 1, n_columns + 1)
        columns = np.sort(random.choice(n_columns, n_seen, replace=False))
    shift, scale = _location(scaling, np.ascontiguousarray(rows[:, columns]))
    references = rows[random.choice(n, settings.n_references, replace=False)]
    sample = _sample(n, settings, random)
    inside, references = (
        np.ascontiguousarray((part[:, columns] - shift) / scale)
        for part in (rows[sample], references)
    )
    if settings.n_centroids == "many":
        k = min(MOST_CENTROIDS, max(1, len(np.unique(inside, axis=0)) // 3))
    else:
        k = settings.n_centroids
    kmeans = KMeans(k, n_init="auto", random_state=random.randint(2**31 - 1))
    # One thread: k-means adds up its centroids in the order its threads finish.
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct rows than k
        labels = kmeans.fit_predict(inside)
    centroids = np.ascontiguousarray(kmeans.cluster_centers_, dtype=np.float64)
    radius = np.ones(k)
    if settings.cost == "relative":
        radius = _usual_distances(inside, centroids, labels)
    extra = np.zeros(n)
    if settings.target == "free":
        seen, unseen = _least_costs(inside, centroids, radius, labels)
        extra[sample] = (unseen - seen) / (settings.n_references + 1)
    target: Any = settings.target
    if target == "sizes":
        target = _in_proportion(np.bincount(labels, minlength=k), settings.n_references + 1)
    return _draw_of(references, centroids, radius, columns, shift, scale, target), extra


def saved_draw(state: dict[str, Any], reader: Reader, n_columns: int, n_draws: int) -> Draw:
    """The draw that `Draw.state` described; files of format version 1 know plain distances only."""
    columns = np.arange(n_columns)
    if "columns" in state:
        columns = reader.array(state["columns"])
        if columns.dtype != np.int64 or not _increase(columns, n_columns):
            raise ValueError("columns that are not there")
    d = len(columns)
    references = reader.floats(state["references"], (None, d))
    centroids = reader.floats(state["centroids"], (None, d))
    shift, scale = (_saved_location(state[name], reader, d) for name in ("shift", "scale"))
    if not scale.all():
        raise ValueError("columns are divided by zero")
    k, m = len(centroids), len(references)
    radius = reader.floats(state["radius"], (k,)) if "radius" in state else np.ones(k)
    if not (radius > 0).all():
        raise ValueError("distances are divided by zero")
    if n_draws * k * max(k, m) > MAX_SAVED_COSTS:
        raise ValueError(f"{n_draws} times {m} references and {k} centroids are too many")
    target: Any = state["target"]
    if isinstance(target, dict):
        target = reader.array(target["array"])
        # A sum may overflow: no centroid takes more than there is.
        if target.dtype != np.int64 or target.min() < 0 or target.max() > m + 1:
            raise ValueError("centroids with a mass that cannot be")
    return _draw_of(references, centroids, radius, columns, shift, scale, target)


def _saved_location(name: Any, reader: Reader, n_columns: int) -> Floats:
    """A shift or scale: one number per column, or, in format version 1, one for all."""
    if reader.array(name).ndim == 0:
        return np.full(n_columns, float(reader.floats(name, ())))
    return reader.floats(name, (n_columns,))


def _draw_of(
    references: Floats,
    centroids: Floats,
    radius: Floats,
    columns: Integers,
    shift: Floats,
    scale: Floats,
    target: Any,
) -> Draw:
    transport = RowTransport(euclidean_costs(references, centroids) / radius, target)
    return Draw(references, centroids, transport, target, radius, columns, shift, scale)


def _sample(n: int, settings: Settings, random: np.random.RandomState) -> slice | Integers:
    """Which of n rows k-means sees."""
    if settings.rows_per_centroid is None:
        return slice(None)
    k = MOST_CENTROIDS if settings.n_centroids == "many" else settings.n_centroids
    wanted = max(2, settings.rows_per_centroid * k)
    return slice(None) if wanted >= n else random.choice(n, wanted, replace=False)


def _least_costs(
    rows: Floats, centroids: Floats, radius: Floats, labels: npt.NDArray[np.int32]
) -> tuple[Floats, Floats]:
    """The least cost of each row, and what it would be if its centroid were the mean of the others.

    Without x, the mean of n rows is n / (n - 1) times as far from x. Alone, a row is its centroid,
    and without it there is none.
    """
    n = np.bincount(labels, minlength=len(centroids))[labels]
    seen, unseen = np.empty(len(rows)), np.empty(len(rows))
    step = max(1, BLOCK_NUMBERS // len(centroids))
    for start in range(0, len(rows), step):
        part = slice(start, start + step)
        costs = euclidean_costs(rows[part], centroids) / radius
        seen[part] = costs.min(axis=1)
        own = np.arange(len(costs)), labels[part]
        costs[own] = np.where(
            n[part] > 1, costs[own] * n[part] / np.maximum(n[part] - 1, 1), np.inf
        )
        unseen[part] = costs.min(axis=1)
    return seen, unseen


def _usual_distances(rows: Floats, centroids: Floats, labels: npt.NDArray[np.int32]) -> Floats:
    """The mean distance from each centroid of its rows, each as if not seen, drawn towards that of
    all rows."""
    _, away = _least_costs(rows, centroids, np.ones(len(centroids)), labels)
    of_all = away.mean()
    if of_all <= 10 * np.finfo(np.float64).eps * np.abs(rows).max():
        return np.ones(len(centroids))  # each distinct row is a centroid: nothing is usual
    n = np.bincount(labels, minlength=len(centroids))
    total = np.bincount(labels, away, minlength=len(centroids))
    usual: Floats = (total + PRIOR_ROWS * of_all) / (n + PRIOR_ROWS)
    return usual


def _location(scaling: str | None, rows: Floats) -> tuple[Floats, Floats]:
    """What to subtract from and divide each column by; constant columns by 1."""
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
    """Whole numbers in proportion to `sizes` that sum to `total` (largest remainders)."""
    whole, remainder = np.divmod(sizes * total, sizes.sum())
    most_cut = np.argsort(-remainder, kind="stable")
    whole[most_cut[: total - whole.sum()]] += 1
    return whole


def _increase(columns: Integers, n_columns: int) -> bool:
    """Whether these are places of columns, in order."""
    return (
        columns.ndim == 1
        and len(columns) > 0
        and bool((np.diff(columns, prepend=-1, append=n_columns) > 0).all())
    )


def check_feature_scaling(scaling: Any) -> tuple[str | None, ...]:
    """The scalings that draws take in turn."""
    turns = tuple(scaling) if isinstance(scaling, list | tuple) else (scaling,)
    if not turns:
        raise ValueError("feature_scaling must name one scaling at least")
    for one in turns:
        one_of("feature_scaling", one, FEATURE_SCALINGS)
    return turns
