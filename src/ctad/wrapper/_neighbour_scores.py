"""Scores of detectors that search neighbours by brute force, with the same bits in any batch."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.neighbors import LocalOutlierFactor, NearestNeighbors

from .._compiled import compiled
from .._fixed_batches import score_in_fixed_batches
from .._types import Floats
from .._validation import is_float_array

Indices = npt.NDArray[np.int64]

ROWS_AT_ONCE = 4  # compared with the same known rows, so that these are read once
KNOWN_AT_ONCE = 256
# With more columns, scikit-learn's matrix products are faster for many rows, in fixed batches, too.
MOST_COLUMNS = 32
MOST_NUMBERS = 2**24  # the known rows are kept a second time
NEIGHBOURS_AT_ONCE = 2**17  # kept at a time


class NeighbourScorer:
    """Scores rows as a fitted detector does, if that searches few columns by brute force.

    scikit-learn's search multiplies matrices, which rounds the same row differently for different
    numbers of rows. In fixed batches this can be avoided, but then a single row takes as long as
    256.

    Parameters
    ----------
    detector : object
        PyOD's KNN or LOF, or scikit-learn's LocalOutlierFactor.
    method : str
        The method of the detector that gives its scores.
    """

    def __init__(self, detector: Any, method: str) -> None:
        self.detector = detector
        self.method = method
        self._known: tuple[Any, Floats] = (None, np.empty((0, 0)))

    def __getstate__(self) -> dict[str, Any]:
        """Without the copy of the known rows."""
        return {**self.__dict__, "_known": (None, np.empty((0, 0)))}

    def __call__(self, X: Any) -> Floats | None:
        """What the method returns; None if it has to be called."""
        search = self._search()
        if search is None or not _is_plain(X, search):
            return None
        is_lof = isinstance(search, LocalOutlierFactor)
        k = search.n_neighbors_ if is_lof else self.detector.n_neighbors
        if not 1 <= k <= len(search._fit_X):
            return None
        source, columns = self._known
        if source is not search._fit_X:  # for the first time, or fitted again
            columns = np.ascontiguousarray(search._fit_X.T)
            self._known = search._fit_X, columns
        scores, is_far = np.empty(len(X)), np.zeros(len(X), dtype=bool)
        step = max(1, NEIGHBOURS_AT_ONCE // k)
        for start in range(0, len(X), step):
            rows = np.ascontiguousarray(X[start : start + step])
            distance = np.full((len(rows), k), np.inf)
            nearest = np.zeros((len(rows), k), dtype=np.int64)
            find_nearest(rows, columns, distance, nearest)
            part = slice(start, start + step)
            is_far[part] = np.isinf(distance).any(axis=1)  # squares beyond the largest number
            near = ~is_far[part]
            scores[part][near] = self._from_neighbours(search, distance[near], nearest[near])
        if is_far.any():  # only these, so that the others have the same bits without them
            score = getattr(self.detector, self.method)
            scores[is_far] = score_in_fixed_batches(score, X[is_far])
        return scores

    def _from_neighbours(self, search: Any, distance: Floats, nearest: Indices) -> Floats:
        """The scores, as the detectors compute them."""
        if not isinstance(search, LocalOutlierFactor):
            scores: Floats = self.detector._get_dist_by_method(distance).ravel()
            return scores
        density = search._local_reachability_density(distance, nearest)
        factor: Floats = np.mean(search._lrd[nearest] / density[:, np.newaxis], axis=1)
        return factor if search is not self.detector else -factor

    def _search(self) -> Any:
        """The search inside the detector; None unless its scores are known to be these."""
        detector = self.detector
        search: Any
        kind = type(detector).__module__, type(detector).__name__
        if kind == ("pyod.models.knn", "KNN") and self.method == "decision_function":
            search, known_type = getattr(detector, "neigh_", None), NearestNeighbors
        elif kind == ("pyod.models.lof", "LOF") and self.method == "decision_function":
            search, known_type = getattr(detector, "detector_", None), LocalOutlierFactor
        elif self.method == "score_samples":
            search, known_type = detector, LocalOutlierFactor
        else:
            return None
        is_known = (
            type(search) is known_type
            and getattr(search, "_fit_method", None) == "brute"
            and not hasattr(search, "feature_names_in_")  # it warns about rows without names
            and search.effective_metric_ == "euclidean"
            and isinstance(search._fit_X, np.ndarray)
            and search._fit_X.dtype == np.float64
            and search._fit_X.shape[1] <= MOST_COLUMNS
            and search._fit_X.size <= MOST_NUMBERS
        )
        return search if is_known else None


def _is_plain(X: Any, search: Any) -> bool:
    return (
        is_float_array(X, 2)
        and X.dtype == np.float64
        and X.shape[1] == search.n_features_in_
        and len(X) > 0
        and bool(np.isfinite(X).all())
    )


@partial(compiled, fastmath={"contract"}, error_model="numpy")
def find_nearest(rows: Floats, columns: Floats, distance: Floats, nearest: Indices) -> None:
    """Fill `distance` and `nearest` (n, k) with the k nearest known rows, the nearest first.

    `columns` (D, m) has the known rows as its columns, so that one instruction compares several of
    them. Of known rows at the same distance, the first counts.
    """
    n, k = distance.shape
    n_columns, n_known = columns.shape
    squares = np.empty((ROWS_AT_ONCE, KNOWN_AT_ONCE))
    n_found = np.empty(ROWS_AT_ONCE, dtype=np.int64)
    for first in range(0, n, ROWS_AT_ONCE):
        # The last row fills an incomplete block.
        r0, r1 = first, min(first + 1, n - 1)
        r2, r3 = min(first + 2, n - 1), min(first + 3, n - 1)
        n_found[:] = 0
        for start in range(0, n_known, KNOWN_AT_ONCE):
            stop = min(start + KNOWN_AT_ONCE, n_known)
            size = stop - start
            squares[:] = 0.0
            s0, s1, s2, s3 = (
                squares[0, :size],
                squares[1, :size],
                squares[2, :size],
                squares[3, :size],
            )
            for c in range(n_columns):
                x0, x1, x2, x3 = rows[r0, c], rows[r1, c], rows[r2, c], rows[r3, c]
                _add_squares(x0, x1, x2, x3, columns[c, start:stop], s0, s1, s2, s3)
            for row in range(first, min(first + ROWS_AT_ONCE, n)):
                found = n_found[row - first]
                largest = distance[row, k - 1] if found == k else np.inf
                of_row = squares[row - first, :size]
                for i in range(of_row.size):
                    if of_row[i] < largest:  # insert it among the k smallest so far
                        square, place = of_row[i], min(found, k - 1)
                        while place > 0 and distance[row, place - 1] > square:
                            distance[row, place] = distance[row, place - 1]
                            nearest[row, place] = nearest[row, place - 1]
                            place -= 1
                        distance[row, place], nearest[row, place] = square, start + i
                        found = min(found + 1, k)
                        if found == k:
                            largest = distance[row, k - 1]
                n_found[row - first] = found
        for row in range(first, min(first + ROWS_AT_ONCE, n)):
            for place in range(k):
                distance[row, place] = np.sqrt(distance[row, place])


@partial(compiled, fastmath={"contract"}, error_model="numpy")
def _add_squares(
    x0: float,
    x1: float,
    x2: float,
    x3: float,
    known: Floats,
    squares0: Floats,
    squares1: Floats,
    squares2: Floats,
    squares3: Floats,
) -> None:
    """Add the squared differences of a column, for four rows."""
    for i in range(known.size):
        d0, d1, d2, d3 = known[i] - x0, known[i] - x1, known[i] - x2, known[i] - x3
        squares0[i] += d0 * d0
        squares1[i] += d1 * d1
        squares2[i] += d2 * d2
        squares3[i] += d3 * d3
