"""Metrics of scores, given labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._metrics import Ranking
from .._types import Booleans, Floats
from ..errors import InputError


@dataclass(frozen=True)
class Metrics:
    """How well scores separate anomalies from normal rows.

    Attributes
    ----------
    auc_pr : float
        Average precision.
    auc_roc : float
    precision_at_n : float
        The precision with as many alarms as there are anomalies.
    """

    auc_pr: float
    auc_roc: float
    precision_at_n: float


def measure(scores: Floats, anomalous: Booleans) -> Metrics:
    """Compute the metrics of scores, higher = more anomalous.

    Parameters
    ----------
    scores : ndarray of shape (n,)
        Infinite scores are allowed.
    anomalous : ndarray of shape (n,)
        Which rows are anomalies.

    Returns
    -------
    Metrics

    Examples
    --------
    >>> import numpy as np
    >>> from ctad.evaluation import measure
    >>> measure(np.array([0.1, 0.4, 0.3, 0.9]), np.array([False, False, True, True]))
    Metrics(auc_pr=0.8333333333333333, auc_roc=0.75, precision_at_n=0.5)
    """
    if np.isnan(scores).any():
        raise InputError(f"{np.isnan(scores).sum()} of {len(scores)} scores are NaN")
    auc_pr, auc_roc = Ranking(scores, anomalous).measure(np.ones(len(scores), dtype=np.int64))
    return Metrics(float(auc_pr), float(auc_roc), _precision_at_n(scores, anomalous))


def _precision_at_n(scores: Floats, anomalous: Booleans) -> float:
    n = int(anomalous.sum())
    # Rows that share the last place are alarms with equal probability.
    last = np.partition(scores, -n)[-n]
    above, equal = scores > last, scores == last
    found = anomalous[above].sum() + (n - above.sum()) * anomalous[equal].mean()
    return float(found / n)
