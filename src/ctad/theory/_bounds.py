"""Theorems 1 to 4 and 8: lower and upper bounds of the term."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._types import Floats, Rows
from .._validation import check_new_rows
from ..calibration import CTAD, Draw, RelaxedCTAD
from ..transport import PartialTransport, euclidean_costs


@dataclass(frozen=True, eq=False)
class Constants:
    """Constants of a draw, the same for all rows.

    Attributes
    ----------
    mass : float
        a = 1/(M+1), the mass of a row.
    least : float
        V_min, the least cost of the references.
    forced : ndarray of shape (K,)
        V(a e_j), the cost of the references if all of the row goes to centroid j; infinite if the
        centroid has no capacity for a whole row.
    slack : float
        G, the largest finite `forced` minus `least`; infinite if no centroid has capacity for a
        whole row.
    """

    mass: float
    least: float
    forced: Floats
    slack: float


@dataclass(frozen=True, eq=False)
class Bounds:
    """Bounds of the term of each row: `paper <= nearest <= lower <= term <= upper`.

    The term of `RelaxedCTAD` is at least that of its near view, which the lower bounds are of. Its
    upper bound is the larger one of those of the two views.

    Attributes
    ----------
    paper : ndarray of shape (n,)
        The paper's Proposition 1: the row goes to its nearest centroid, the rest is free.
    nearest : ndarray of shape (n,)
        All points go to their nearest centroid. (The paper's Proposition 2 has this as an upper
        bound.) The same as `paper` with the signal "own", which does not include the references.
    lower, upper : ndarray of shape (n,)
        Theorems 2, 3 and 8. The upper bound is infinite if no centroid has capacity for a whole
        row.
    term : ndarray of shape (n,)
    """

    paper: Floats
    nearest: Floats
    lower: Floats
    term: Floats
    upper: Floats


def constants(calibrator: CTAD | RelaxedCTAD) -> list[Constants]:
    """The constants of each draw of a fitted calibrator; of `RelaxedCTAD`, of its near views.

    Parameters
    ----------
    calibrator : CTAD or RelaxedCTAD

    Returns
    -------
    list of Constants

    Examples
    --------
    >>> from ctad import CTAD
    >>> from ctad.theory import constants
    >>> rows = [[0.0], [0.0], [4.0], [4.0]]
    >>> constants(CTAD(2, 3, target="free", random_state=0).fit(rows))[0].slack
    0.0
    """
    return [_draw_constants(draw) for draw in fitted_draws(calibrator)]


def bounds(calibrator: CTAD | RelaxedCTAD, X: Any) -> Bounds:
    """Bounds of the term of each row, and the term.

    Parameters
    ----------
    calibrator : CTAD or RelaxedCTAD
    X : array-like of shape (n, D)

    Returns
    -------
    Bounds

    Examples
    --------
    >>> import numpy as np
    >>> from ctad import CTAD
    >>> from ctad.theory import bounds
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> found = bounds(CTAD(random_state=0).fit(X), X)
    >>> bool((found.lower <= found.term).all() and (found.term <= found.upper).all())
    True
    """
    draws = fitted_draws(calibrator)
    rows = check_new_rows(calibrator, X)
    n_draws = len(draws)
    paper, nearest, lower, upper = np.zeros((4, len(rows)))
    with_references = calibrator.signal_ == "total"  # whether the term includes their cost
    for draw, known in zip(draws, constants(calibrator), strict=True):
        near, near_with_capacity = nearest_costs(draw, rows, known)
        references = _costs(draw, draw.references).min(axis=1).sum()
        paper += known.mass * near / n_draws
        nearest += known.mass * (near + with_references * references) / n_draws
        least = known.least if with_references else 0.0
        lower += (least + known.mass * near) / n_draws
        upper += (least + known.mass * near_with_capacity + known.slack) / n_draws
    wide = getattr(calibrator, "wide_draws_", [])
    if wide:  # the term is the larger one of two means
        upper = np.maximum(upper, np.mean([_most_wide(draw, rows) for draw in wide], axis=0))
    return Bounds(paper, nearest, lower, calibrator.delta(X), upper)


def lipschitz(calibrator: CTAD | RelaxedCTAD) -> float:
    """Theorem 4: if a row moves by a distance, its term changes by at most this factor of it.

    Parameters
    ----------
    calibrator : CTAD or RelaxedCTAD

    Returns
    -------
    float

    Examples
    --------
    >>> from ctad import CTAD
    >>> from ctad.theory import lipschitz
    >>> lipschitz(CTAD(1, 3, random_state=0).fit([[0.0], [2.0], [4.0]]))
    0.25
    """
    views = [fitted_draws(calibrator), getattr(calibrator, "wide_draws_", [])]
    return max(
        float(np.mean([_draw_lipschitz(draw, 1.0 / (len(draw.references) + 1)) for draw in draws]))
        for draws in views
        if draws
    )


def _most_wide(draw: Draw, rows: Rows) -> Floats:
    """Theorem 8: the cost in a wide view if the mass of a row is spread over all centroids, in
    proportion to their room."""
    assert isinstance(draw.transport, PartialTransport)
    room = draw.transport.capacity
    mean_cost: Floats = _costs(draw, draw.transform(rows)) @ (room / room.sum())
    return draw.transport.mass * mean_cost


def fitted_draws(calibrator: CTAD | RelaxedCTAD) -> list[Draw]:
    """The draws of a fitted calibrator; of `RelaxedCTAD`, the near views."""
    if not isinstance(calibrator, CTAD | RelaxedCTAD):
        raise TypeError(f"calibrator must be CTAD or RelaxedCTAD, not {type(calibrator).__name__}")
    check_is_fitted(calibrator)
    return calibrator.draws_


def nearest_costs(draw: Draw, rows: Rows, known: Constants) -> tuple[Floats, Floats]:
    """The least cost of each row, and the least among centroids with capacity for a whole row."""
    costs = _costs(draw, draw.transform(rows))
    has_capacity = np.isfinite(known.forced)
    return costs.min(axis=1), np.where(has_capacity, costs, np.inf).min(axis=1)


def _costs(draw: Draw, points: Floats) -> Floats:
    """The costs (n, K) of points in the space of the draw."""
    return euclidean_costs(points, draw.centroids) / draw.radius


def _draw_constants(draw: Draw) -> Constants:
    m, k = len(draw.references), len(draw.centroids)
    mass = 1.0 / (m + 1)
    # A row that costs nothing anywhere leaves the references their cheapest plan.
    least = float(draw.transport.solve(np.zeros((1, k))).total[0])
    # A row that pays a high cost at all centroids but one goes there with all mass that fits.
    highest = _costs(draw, draw.references).max()
    high = 4.0 * (highest + 1.0) * k * (m + 1)
    placed = draw.transport.solve(np.where(np.eye(k, dtype=bool), 0.0, high), mass=True)
    assert placed.mass is not None
    fits = np.diag(placed.mass) >= mass * (1 - 1e-9)
    forced = np.where(fits, placed.total, np.inf)
    slack = float(forced[fits].max() - least) if fits.any() else np.inf
    return Constants(mass, least, forced, max(slack, 0.0))


def _draw_lipschitz(draw: Draw, mass: float) -> float:
    # (x - shift) / scale moves by at most 1 / min(scale) times what x moves; a bound makes it less.
    return mass / float(draw.radius.min() * np.abs(draw.scaling.scale).min())
