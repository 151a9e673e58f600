"""Theorem 5 and its corollary: which rows the term is sure to separate."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._validation import check_new_rows
from ..calibration import TransportCalibrator
from ..errors import InputError
from ._bounds import bounds, constants, costs_of, draws_of, nearest_costs


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
    """How well the term can separate rows, estimated from normal rows alone.

    Attributes
    ----------
    usual : float
        The term that 95 % of the normal rows do not exceed.
    needed : float
        A row whose cost to the nearest centroid (mean over draws) is above this is sure to have a
        larger term than that.
    sure : float
        The share of such rows among rows with shuffled columns: values as in training, each from
        another row.
    measured : float
        The share of rows with shuffled columns whose term is larger than the usual one.
    """

    usual: float
    needed: float
    sure: float
    measured: float


def separation(calibrator: TransportCalibrator, X: Any, y: Any) -> Separation:
    """What Theorem 5 guarantees of labelled rows, and what is measured; means over draws.

    Parameters
    ----------
    calibrator : CTAD or RelaxedCTAD
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
    >>> calibrator = CTAD(1, 1, random_state=0).fit([[1.0], [1.0]])
    >>> found = separation(calibrator, [[1.0], [5.0]], [0, 1])
    >>> found.guaranteed, found.measured
    (2.0, 2.0)
    """
    rows, anomalous = check_new_rows(calibrator, X), np.asarray(y).astype(bool)
    if anomalous.shape != (len(rows),) or anomalous.all() or not anomalous.any():
        raise InputError("y must have a label for each row: 0 for some, 1 for others")
    parts = []
    for draw, known in zip(draws_of(calibrator), constants(calibrator), strict=True):
        near, near_with_room = nearest_costs(costs_of(draw, rows), known)
        eps, eta = float(near_with_room[~anomalous].mean()), float(near[anomalous].mean())
        parts.append((eps, eta, known.slack, known.mass * (eta - eps) - known.slack))
    eps, eta, slack, guaranteed = map(float, np.mean(parts, axis=0))
    terms = calibrator.delta(X)
    measured = float(terms[anomalous].mean() - terms[~anomalous].mean())
    return Separation(eps, eta, slack, guaranteed, measured)


def room(
    calibrator: TransportCalibrator,
    X_train: Any,
    *,
    terms: Any = None,
    share: float = 0.95,
    seed: int = 0,
) -> Room:
    """How well the term can separate rows; no labels are needed.

    Rows with shuffled columns need not be anomalies. But if even they have usual terms, the term
    can detect only values that are out of range.

    Parameters
    ----------
    calibrator : CTAD or RelaxedCTAD
    X_train : array-like of shape (n, D)
        Training rows, or rows like them, to be shuffled.
    terms : array-like of shape (m,), default=None
        Terms of normal rows that `fit` did not use. None: those of `X_train`; if `fit` used these,
        they are too small, and the result is too optimistic.
    share : float, default=0.95
        Share of the normal rows that a row must exceed.
    seed : int, default=0

    Returns
    -------
    Room

    Examples
    --------
    >>> import numpy as np
    >>> from ctad import RelaxedCTAD
    >>> from ctad.theory import room
    >>> random = np.random.default_rng(0)
    >>> angle = random.uniform(0, 2 * np.pi, size=600)
    >>> circle = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> calibrator = RelaxedCTAD(random_state=0).fit(circle[:300])
    >>> found = room(calibrator, circle[:300], terms=calibrator.delta(circle[300:]))
    >>> found.sure > 0.8  # most pairs of a cosine and a sine are not on the circle
    True
    >>> blob = random.normal(size=(600, 2))
    >>> calibrator = RelaxedCTAD(random_state=0).fit(blob[:300])
    >>> found = room(calibrator, blob[:300], terms=calibrator.delta(blob[300:]))
    >>> found.sure < 0.1  # columns that do not depend on each other can be shuffled
    True
    """
    rows = np.asarray(check_new_rows(calibrator, X_train))
    usual = float(
        np.quantile(calibrator.delta(X_train) if terms is None else terms, share, method="higher")
    )
    shuffled = np.random.default_rng(seed).permuted(rows, axis=0)
    found = bounds(calibrator, shuffled)
    known = constants(calibrator)
    counts = calibrator.signal_ == "total"  # whether what the references pay is in the term
    least = np.mean([of_draw.least for of_draw in known]) if counts else 0.0
    needed = max(0.0, float((usual - least) / known[0].mass))
    is_larger = found.term > usual
    is_sure = is_larger & (found.lower > usual)  # by rounding, a bound may be above the term
    return Room(usual, needed, float(is_sure.mean()), float(is_larger.mean()))
