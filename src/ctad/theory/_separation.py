"""Theorem 5: by how much the terms of anomalies and of normal rows differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._validation import check_new_rows
from ..calibration import CTAD, RelaxedCTAD
from ..errors import InputError
from ._bounds import bounds, constants, fitted_draws, nearest_costs


@dataclass(frozen=True)
class Separation:
    """How far anomalies are from normal rows, and by how much their terms differ.

    Attributes
    ----------
    eps : float
        The mean cost of normal rows to the nearest centroid with capacity for a whole row; of
        `RelaxedCTAD`, in its near view.
    eta : float
        The mean cost of anomalies to the nearest centroid.
    slack : float
        G.
    guaranteed : float
        A lower bound of the difference of the mean terms: the mean lower bound of anomalies minus
        the mean upper bound of normal rows. Without a wide view, it is a (eta - eps) - G.
    measured : float
        The difference of the mean terms.
    """

    eps: float
    eta: float
    slack: float
    guaranteed: float
    measured: float


def separation(calibrator: CTAD | RelaxedCTAD, X: Any, y: Any) -> Separation:
    """The separation of labelled rows, as guaranteed by Theorem 5 and as measured.

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
    for draw, known in zip(fitted_draws(calibrator), constants(calibrator), strict=True):
        near, near_with_capacity = nearest_costs(draw, rows, known)
        eps, eta = float(near_with_capacity[~anomalous].mean()), float(near[anomalous].mean())
        parts.append((eps, eta, known.slack))
    eps, eta, slack = map(float, np.mean(parts, axis=0))
    found = bounds(calibrator, X)
    guaranteed = float(found.lower[anomalous].mean() - found.upper[~anomalous].mean())
    measured = float(found.term[anomalous].mean() - found.term[~anomalous].mean())
    return Separation(eps, eta, slack, guaranteed, measured)
