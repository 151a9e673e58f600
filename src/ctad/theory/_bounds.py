"""Theorems 1 to 4: the term lies between the nearest centroid and a constant more."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from .._types import Floats
from .._validation import check_new_rows
from ..calibration import Draw, TransportCalibrator
from ..transport import euclidean_costs


class Constants(NamedTuple):
    """What is known of a draw after `fit`, whatever the row.

    Attributes
    ----------
    mass : float
        a = 1/(M+1), the mass of a row.
    least : float
        V_min, what the references pay at least.
    forced : ndarray of shape (K,)
        V(a e_j), what they pay if all of the row goes to centroid j; infinite where there is no
        room for it.
    slack : float
        G, the largest finite `forced` less `least`; infinite if no centroid has room for a row.
    lipschitz : float
        The term changes by no more than this, times the distance by which a row moves.
    """

    mass: float
    least: float
    forced: Floats
    slack: float
    lipschitz: float


class Bounds(NamedTuple):
    """Bounds of the term of each row: `paper <= nearest <= lower <= term <= upper`.

    Attributes
    ----------
    paper : ndarray of shape (n,)
        The paper's Proposition 1: the row goes to its nearest centroid, the rest is free.
    nearest : ndarray of shape (n,)
        All points go to their nearest centroid. (The paper's Proposition 2 has this as an upper
        bound.) With the signal "own", where references do not count, the same as `paper`.
    lower, upper : ndarray of shape (n,)
        Theorems 2 and 3. The upper one is infinite where no centroid has room for a row.
    term : ndarray of shape (n,)
    """

    paper: Floats
    nearest: Floats
    lower: Floats
    term: Floats
    upper: Floats


def constants(calibrator: TransportCalibrator) -> list[Constants]:
    """The constants of each draw of a fitted calibrator.

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
    return [_constants_of(draw) for draw in draws_of(calibrator)]


def bounds(calibrator: TransportCalibrator, X: Any) -> Bounds:
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
    draws = draws_of(calibrator)
    rows = check_new_rows(calibrator, X)
    n_draws = len(draws)
    paper, nearest, lower, upper = np.zeros((4, len(rows)))
    counts = calibrator.signal_ == "total"  # whether what the references pay is in the term
    for draw, known in zip(draws, constants(calibrator), strict=True):
        costs = costs_of(draw, rows)
        near, near_with_room = nearest_costs(costs, known)
        references = costs_between(draw, draw.references).min(axis=1).sum()
        paper += known.mass * near / n_draws
        nearest += known.mass * (near + counts * references) / n_draws
        least = known.least if counts else 0.0
        lower += (least + known.mass * near) / n_draws
        upper += (least + known.mass * near_with_room + known.slack) / n_draws
    return Bounds(paper, nearest, lower, calibrator.delta(X), upper)


def draws_of(calibrator: TransportCalibrator) -> list[Draw]:
    """The draws of a fitted calibrator that is a transport."""
    if not isinstance(calibrator, TransportCalibrator):
        raise TypeError(f"calibrator must be CTAD or RelaxedCTAD, not {type(calibrator).__name__}")
    check_is_fitted(calibrator)
    return calibrator.draws_


def costs_of(draw: Draw, rows: npt.NDArray[Any]) -> Floats:
    """What it costs each row to reach each centroid, (n, K)."""
    return costs_between(draw, draw.transform(rows))


def costs_between(draw: Draw, inside: Floats) -> Floats:
    """The same for rows in the space of the draw."""
    return euclidean_costs(inside, draw.centroids) / draw.radius


def nearest_costs(costs: Floats, known: Constants) -> tuple[Floats, Floats]:
    """The least cost, and the least among centroids that have room for the whole row."""
    has_room = np.isfinite(known.forced)
    return costs.min(axis=1), np.where(has_room, costs, np.inf).min(axis=1)


def _constants_of(draw: Draw) -> Constants:
    m, k = len(draw.references), len(draw.centroids)
    mass = 1.0 / (m + 1)
    # A row that costs nothing anywhere leaves the references what is best for them.
    least = float(draw.transport.solve(np.zeros((1, k))).total[0])
    # A row that pays dearly but at one centroid goes there with all that fits.
    highest = costs_between(draw, draw.references).max()
    dear = 4.0 * (highest + 1.0) * k * (m + 1)
    placed = draw.transport.solve(np.where(np.eye(k, dtype=bool), 0.0, dear), mass=True)
    assert placed.mass is not None
    fits = np.diag(placed.mass) >= mass * (1 - 1e-9)
    forced = np.where(fits, placed.total, np.inf)
    slack = float(forced[fits].max() - least) if fits.any() else np.inf
    # (x - shift) / scale moves by at most 1 / min(scale) times what x moves.
    lipschitz = mass / float(draw.radius.min() * np.abs(draw.scale).min())
    return Constants(mass, least, forced, max(slack, 0.0), lipschitz)
