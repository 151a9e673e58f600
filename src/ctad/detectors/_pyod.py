"""PyOD's neural detectors, made to fit in.

As they come, they seed the global random numbers when they are made, print every epoch, and
DeepSVDD asks for the number of columns in advance.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from functools import wraps
from threading import RLock
from typing import Any, Self

import numpy as np
import torch
from pyod.models.auto_encoder import AutoEncoder as _AutoEncoder
from pyod.models.deep_svdd import DeepSVDD as _DeepSVDD
from sklearn.utils import check_array

from .._fixed_batches import in_blocks
from .._saving import SaveMixin
from .._types import Floats
from ._seed import seeds_from

# One at a time: another thread would take seeded numbers for those to restore.
_LOCK = RLock()


@contextmanager
def _own_random_numbers(random_state: Any) -> Iterator[None]:
    """Seed the global random numbers for a while, and leave them as they were."""
    (seed,) = seeds_from(random_state, 1)
    with _LOCK, torch.random.fork_rng():
        python, numpy = random.getstate(), np.random.get_state()  # noqa: NPY002
        try:
            random.seed(seed)
            np.random.seed(seed)  # noqa: NPY002 - PyOD draws from it
            torch.manual_seed(seed)
            yield
        finally:
            random.setstate(python)
            np.random.set_state(numpy)  # noqa: NPY002


class DeepSVDD(SaveMixin, _DeepSVDD):
    """PyOD's DeepSVDD, for any number of columns."""

    @wraps(_DeepSVDD.__init__)  # type: ignore[misc]
    def __init__(self, *args: Any, **options: Any) -> None:
        with _own_random_numbers(None):
            super().__init__(*args, **options)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Train on normal rows."""
        X = check_array(X)
        self.n_features = X.shape[1]
        with _own_random_numbers(self.random_state):
            super().fit(X)
        return self

    def decision_function(self, X: Any) -> Floats:
        """The score of each row: higher = more anomalous."""
        return in_blocks(super().decision_function, check_array(X))


class AutoEncoder(SaveMixin, _AutoEncoder):
    """PyOD's AutoEncoder."""

    batch_size: int

    @staticmethod
    def _set_seed(random_state: Any) -> None:
        """Not when it is made, but in `fit`."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Train on normal rows."""
        batch_size = self.batch_size
        try:
            # It trains on full batches only, and ends in an error if there is none.
            self.batch_size = min(batch_size, len(X))
            with _own_random_numbers(self.random_state):
                super().fit(X)
        finally:
            self.batch_size = batch_size
        return self

    def decision_function(self, X: Any) -> Floats:
        """The score of each row: higher = more anomalous."""
        with _own_random_numbers(0):  # PyTorch's loader of batches draws a number
            return in_blocks(super().decision_function, check_array(X))
