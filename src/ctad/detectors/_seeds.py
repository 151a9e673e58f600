"""Seeds for PyTorch's random number generators."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._validation import random_generator


def draw_seeds(random_state: Any, n: int) -> list[int]:
    """Draw `n` seeds from a `random_state` parameter; None gives new ones each time.

    Unlike in scikit-learn, None does not draw from numpy's global generator.
    """
    random = np.random.RandomState() if random_state is None else random_generator(random_state)
    return [int(seed) for seed in random.randint(2**31 - 1, size=n)]
