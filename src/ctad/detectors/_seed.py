"""Seeds for PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state


def seeds_from(random_state: Any, n: int) -> list[int]:
    """Seeds by what users pass as `random_state`; None gives others each time.

    Unlike scikit-learn's estimators, None does not draw from numpy's global random numbers.
    """
    random = np.random.RandomState() if random_state is None else check_random_state(random_state)
    return [int(seed) for seed in random.randint(2**31 - 1, size=n)]
