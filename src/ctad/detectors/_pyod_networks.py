"""PyOD's neural detectors, adapted.

PyOD's own classes seed the global random numbers when they are created and print every epoch;
DeepSVDD also needs the number of columns in advance, and AutoEncoder fails on few rows.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial, wraps
from threading import RLock
from typing import Any, Self

import numpy as np
import torch
from pyod.models.auto_encoder import AutoEncoder as _AutoEncoder
from pyod.models.deep_svdd import DeepSVDD as _DeepSVDD
from sklearn.utils import check_array

from .._fixed_batches import BATCH_ROWS, score_in_fixed_batches
from .._saving import SaveMixin
from .._thresholds import ThresholdMixin
from .._types import Floats
from ..errors import InputError
from ._seeds import draw_seeds

# One thread at a time: another thread would save the seeded state and restore it later.
_LOCK = RLock()


@contextmanager
def _seeded_globally(random_state: Any) -> Iterator[None]:
    """Seed the global random numbers inside the block, and restore them after it."""
    (seed,) = draw_seeds(random_state, 1)
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


class _NetworkOfPyOD(ThresholdMixin, SaveMixin):
    """What both classes share: a row whose score overflows scores infinity, as in ctad's own."""

    def _process_decision_scores(self) -> None:
        """Set threshold and labels, where PyOD does it."""
        if not np.isfinite(self.decision_scores_).any():
            raise InputError(
                f"training of {type(self).__name__} failed: no score is finite. Rescale the "
                "columns, or try a smaller learning rate."
            )
        self._decide(self.decision_scores_)


def _scores(score: Callable[[Any], Any], X: Any) -> Floats:
    """Scores that do not depend on the batch; infinity where single precision overflows."""
    with np.errstate(over="ignore", invalid="ignore"):
        scores = score_in_fixed_batches(score, check_array(X))
    scores[np.isnan(scores)] = np.inf
    return scores


class DeepSVDD(_NetworkOfPyOD, _DeepSVDD):
    """PyOD's DeepSVDD, for any number of columns."""

    @wraps(_DeepSVDD.__init__)  # type: ignore[misc]  # PyOD has no types
    def __init__(self, *args: Any, **options: Any) -> None:
        with _seeded_globally(None):
            super().__init__(*args, **options)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Train on normal rows."""
        X = check_array(X)
        self.n_features = X.shape[1]
        with _seeded_globally(self.random_state):
            _DeepSVDD.fit(self, X)
        return self

    def decision_function(self, X: Any) -> Floats:
        """The score of each row: higher = more anomalous."""
        return _scores(partial(_DeepSVDD.decision_function, self), X)


class AutoEncoder(_NetworkOfPyOD, _AutoEncoder):
    """PyOD's AutoEncoder."""

    batch_size: int

    @staticmethod
    def _set_seed(random_state: Any) -> None:
        """Do not seed when the detector is created; `fit` does."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Train on normal rows."""
        batch_size = self.batch_size
        try:
            # PyOD trains on full batches only, and fails if there is none.
            self.batch_size = min(batch_size, len(X))
            with _seeded_globally(self.random_state):
                _AutoEncoder.fit(self, X)
        finally:
            self.batch_size = batch_size
        return self

    def decision_function(self, X: Any) -> Floats:
        """The score of each row: higher = more anomalous."""
        with _seeded_globally(0):  # PyTorch's data loader draws a random number
            score = partial(_AutoEncoder.decision_function, self, batch_size=BATCH_ROWS)
            return _scores(score, X)

    def evaluating_forward(self, batch_data: torch.Tensor) -> Floats:
        """The distance between each row and its reconstruction. PyOD's fails if one overflows."""
        reconstructed = self.model(batch_data.to(self.device)).cpu()
        distances: Floats = torch.linalg.vector_norm(reconstructed - batch_data, dim=1).numpy()
        return distances
