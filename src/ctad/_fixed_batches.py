"""Scoring in batches of a fixed size, so that scores do not depend on the batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from ._types import Floats

# Matrix products round the same row differently for different numbers of rows. With batches of
# always this many rows, a score does not change with the other rows in the call. (Wide products
# in single precision also round by the position in the batch, in the last digits.)
BATCH_ROWS = 256


def score_in_fixed_batches(
    score: Callable[[Any], Any], X: Any, batch_rows: int = BATCH_ROWS
) -> Floats:
    """Score the rows of `X` by calls of `score` with always `batch_rows` rows."""
    n = X.shape[0]
    scores = np.empty(n)
    for start in range(0, n, batch_rows):
        # The last batch is padded with copies of the last row.
        batch = _safe_indexing(X, np.minimum(np.arange(start, start + batch_rows), n - 1))
        if isinstance(batch, np.ndarray):
            batch = np.ascontiguousarray(batch)
        stop = min(start + batch_rows, n)
        scores[start:stop] = score(batch)[: stop - start]
    return scores
