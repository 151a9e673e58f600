"""Scores of a row that do not depend on the rows beside it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from ._types import Floats

# Matrix products round a row differently with the number of rows they work on. So that a
# score does not change with its company, detectors see blocks of exactly this many rows.
# (Wide products in single precision also round by the place in the block, in the last digits.)
BLOCK_ROWS = 256


def in_blocks(score: Callable[[Any], Any], X: Any) -> Floats:
    """Scores of the rows of `X`, by calls with always the same number of rows."""
    n = X.shape[0]
    scores = np.empty(n)
    for start in range(0, n, BLOCK_ROWS):
        # The last block is filled up with copies of the last row.
        block = _safe_indexing(X, np.minimum(np.arange(start, start + BLOCK_ROWS), n - 1))
        if isinstance(block, np.ndarray):
            block = np.ascontiguousarray(block)
        stop = min(start + BLOCK_ROWS, n)
        scores[start:stop] = score(block)[: stop - start]
    return scores
