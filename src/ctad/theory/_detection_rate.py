"""The corollary of Theorem 5: how many unusual rows the term is sure to detect."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._validation import check_new_rows
from ..calibration import CTAD, RelaxedCTAD
from ._bounds import bounds, constants


@dataclass(frozen=True)
class DetectionRate:
    """The share of rows with shuffled columns that the term detects.

    Attributes
    ----------
    threshold : float
        The term that normal rows exceed at the false-alarm rate. A row with a larger term counts as
        detected.
    needed_cost : float
        A row whose cost to the nearest centroid (mean over draws) is above this is sure to be
        detected.
    guaranteed : float
        The share of the shuffled rows that are sure to be detected.
    measured : float
        The share of the shuffled rows that are detected.
    """

    threshold: float
    needed_cost: float
    guaranteed: float
    measured: float


def detection_rate(
    calibrator: CTAD | RelaxedCTAD,
    X_train: Any,
    *,
    terms: Any = None,
    alpha: float = 0.05,
    seed: int = 0,
) -> DetectionRate:
    """The share of rows with shuffled columns that the term detects; no labels are needed.

    Each value of such a row occurs in training, but each comes from a different row. Shuffled rows
    need not be anomalies. But if the term does not detect even them, it can detect only values that
    are out of range.

    Parameters
    ----------
    calibrator : CTAD or RelaxedCTAD
    X_train : array-like of shape (n, D)
        Training rows, or rows like them, to be shuffled.
    terms : array-like of shape (m,), default=None
        Terms of normal rows that `fit` did not use. None: those of `X_train`; if `fit` used these,
        they are too small, and the result is too optimistic.
    alpha : float, default=0.05
        The false-alarm rate: the share of the normal rows with a term above the threshold.
    seed : int, default=0
        Seed of the shuffling.

    Returns
    -------
    DetectionRate

    Examples
    --------
    >>> import numpy as np
    >>> from ctad import RelaxedCTAD
    >>> from ctad.theory import detection_rate
    >>> random = np.random.default_rng(0)
    >>> angle = random.uniform(0, 2 * np.pi, size=600)
    >>> circle = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> calibrator = RelaxedCTAD(random_state=0).fit(circle[:300])
    >>> rate = detection_rate(calibrator, circle[:300], terms=calibrator.delta(circle[300:]))
    >>> rate.guaranteed > 0.8  # most pairs of a cosine and a sine are not on the circle
    True
    >>> blob = random.normal(size=(600, 2))
    >>> calibrator = RelaxedCTAD(random_state=0).fit(blob[:300])
    >>> rate = detection_rate(calibrator, blob[:300], terms=calibrator.delta(blob[300:]))
    >>> rate.guaranteed < 0.1  # independent columns can be shuffled
    True
    """
    rows = np.asarray(check_new_rows(calibrator, X_train))
    normal_terms = calibrator.delta(X_train) if terms is None else terms
    threshold = float(np.quantile(normal_terms, 1 - alpha, method="higher"))
    shuffled = np.random.default_rng(seed).permuted(rows, axis=0)
    found = bounds(calibrator, shuffled)
    known = constants(calibrator)
    with_references = calibrator.signal_ == "total"  # whether the term includes their cost
    least = np.mean([of_draw.least for of_draw in known]) if with_references else 0.0
    needed_cost = max(0.0, float((threshold - least) / known[0].mass))
    is_detected = found.term > threshold
    is_sure = is_detected & (found.lower > threshold)  # rounding may lift a bound above the term
    return DetectionRate(threshold, needed_cost, float(is_sure.mean()), float(is_detected.mean()))
