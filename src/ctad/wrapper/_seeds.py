"""Random seeds of the estimators inside another one."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone


def seeded_clone(estimator: Any, random: np.random.RandomState | None) -> Any:
    """A clone in which every `random_state` that is None gets a seed; none does if `random` is
    None."""
    copy = clone(estimator, safe=False)
    if random is not None and hasattr(copy, "get_params"):
        unset = [
            name
            for name, value in sorted(copy.get_params(deep=True).items())
            if name.rpartition("__")[2] == "random_state" and value is None
        ]
        copy.set_params(**{name: random.randint(2**31 - 1) for name in unset})
    return copy
