"""Small tables for the tests."""

import numpy as np


def normal(*shape, seed=0):
    """Standard normal numbers."""
    return np.random.default_rng(seed).normal(size=shape)


def clusters(n=300, d=4, seed=0):
    """Three groups of normal rows."""
    random = np.random.default_rng(seed)
    return random.normal(size=(n, d)) + random.integers(0, 3, (n, 1)) * 5.0
