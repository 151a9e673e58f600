"""Theorem 5 and its corollary: what the term tells apart for sure."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._input import new_rows
from ..calibration import CTAD
from ._bounds import constants, costs_of, draws_of, nearest_costs


class Separation(NamedTuple):
    """How far anomalies are from normal rows, and by how much their terms differ.

    Attributes
    ----------
    eps : float
        The mean cost of normal rows to the nearest centroid with room for them.
    eta : float
        The mean cost of anomalies to the nearest centroid.
    slack : float
        G.
    guaranteed : float
        a (eta - eps) - G: the mean terms differ by at least this.
    measured : float
        By what they do differ.
    """

    eps: float
    eta: float
    slack: float
    guaranteed: float
    measured: float


class Room(NamedTuple):
    """How much room the term has to tell rows apart, from training rows alone.

    Attributes
    ----------
    usual : float
        The cost to the nearest centroid (with room for the row; mean over draws) that 95 % of the
        training rows do not exceed.
    needed : float
        A row whose cost to the nearest centroid (mean over draws) is above this gets a larger term
        than all of these.
    factor : float
        `needed / usual`: 1 is best, as with the target "free".
    """

    usual: float
    needed: float
    factor: float


def separation(calibrator: CTAD, X: Any, y: Any) -> Separation:
    """What Theorem 5 guarantees of labelled rows, and what is measured; means over draws.

    Parameters
    ----------
    calibrator : CTAD
    X : array-like of shape (n, D)
    y : array-like of shape (n,)
        1 = anomaly.

    Returns
    -------
    Separation

    Examples
    --------
    >>> from ctad import CTAD
    >>> from ctad.theory import separation
    >>> calibrator = CTAD(1, 1, target="free", random_state=0).fit([[1.0], [1.0]])
    >>> found = separation(calibrator, [[1.0], [5.0]], [0, 1])
    >>> found.guaranteed, found.measured
    (2.0, 2.0)
    """
    rows, anomalous = new_rows(calibrator, X), np.asarray(y).astype(bool)
    if anomalous.shape != (len(rows),) or anomalous.all() or not anomalous.any():
        raise ValueError("y must have a label for each row: 0 for some, 1 for others")
    parts = []
    for draw, known in zip(draws_of(calibrator), constants(calibrator), strict=True):
        near, near_with_room = nearest_costs(costs_of(draw, rows), known)
        eps, eta = float(near_with_room[~anomalous].mean()), float(near[anomalous].mean())
        parts.append((eps, eta, known.slack, known.mass * (eta - eps) - known.slack))
    eps, eta, slack, guaranteed = map(float, np.mean(parts, axis=0))
    terms = calibrator.delta(X)
    measured = float(terms[anomalous].mean() - terms[~anomalous].mean())
    return Separation(eps, eta, slack, guaranteed, measured)


def room(calibrator: CTAD, X_train: Any, *, share: float = 0.95) -> Room:
    """How much farther than training rows a row must be to be told apart for sure.

    Parameters
    ----------
    calibrator : CTAD
    X_train : array-like of shape (n, D)
        Training rows, or rows like them.
    share : float, default=0.95
        Of the training rows, that must be told apart from.

    Returns
    -------
    Room

    Examples
    --------
    >>> import numpy as np
    >>> from ctad import CTAD
    >>> from ctad.theory import room
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> room(CTAD(target="free", random_state=0).fit(X), X).factor
    1.0
    """
    rows = new_rows(calibrator, X_train)
    known = constants(calibrator)
    costs = [
        nearest_costs(costs_of(draw, rows), of_draw)[1]
        for draw, of_draw in zip(draws_of(calibrator), known, strict=True)
    ]
    usual = float(np.quantile(np.mean(costs, axis=0), share, method="higher"))
    slack = float(np.mean([of_draw.slack for of_draw in known]))
    needed = usual + slack / known[0].mass
    if slack == 0.0:
        return Room(usual, needed, 1.0)
    # Nothing is sure if no centroid has room for a row, or training rows are centroids.
    is_sure = np.isfinite(needed) and usual > 0
    return Room(usual, needed, needed / usual if is_sure else np.inf)
