"""Scores of a detector on a split, kept on disk so that more calibrations need no training."""

from __future__ import annotations

import json
import time
import zipfile
from dataclasses import dataclass
from hashlib import sha256
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np

from .._atomic_files import replacing
from .._types import Floats
from ..datasets import Dataset
from ..errors import InputError
from ..wrapper import DetectorAdapter, scoring_method
from ._contestants import Contestant
from ._protocols import Protocol, Split, Values
from ._single_thread import single_thread
from ._versions import versions_line


@dataclass(frozen=True, eq=False)
class DetectorScores:
    """Scores of a detector on a split, higher = more anomalous.

    Attributes
    ----------
    scores : Values
    fit_seconds, score_seconds : float
        Times of training, and of scoring the test rows.
    """

    scores: Values
    fit_seconds: float
    score_seconds: float


def detector_scores(
    contestant: Contestant,
    dataset: Dataset,
    protocol: Protocol,
    seed: int,
    split: Split,
    folder: Path | None = None,
) -> DetectorScores:
    """Train a detector and score the rows of a split, unless the folder has these scores.

    Parameters
    ----------
    contestant : Contestant
    dataset : Dataset
    protocol : Protocol
    seed : int
    split : Split
        What `protocol.split(dataset, seed)` returned.
    folder : pathlib.Path, optional
        Where scores are kept.

    Returns
    -------
    DetectorScores
        `scores` (`Values`, higher = more anomalous), `fit_seconds`, and `score_seconds` of the
        test rows.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from ctad.datasets import Dataset
    >>> from ctad.evaluation import RANDOM_SPLIT, Contestant, detector_scores
    >>> X, kind = load_wine(return_X_y=True)
    >>> wine = Dataset("wine", X, kind == 0)
    >>> split = RANDOM_SPLIT.split(wine, seed=0)
    >>> contestant = Contestant("IsolationForest")
    >>> detector_scores(contestant, wine, RANDOM_SPLIT, 0, split).scores.test.shape
    (119,)
    """
    detector = contestant.build(dataset, seed)
    if folder is None:
        return _trained(detector, contestant.polarity, split)
    file = folder / _file_name(contestant, detector, dataset, protocol, seed)
    if file.exists():
        try:
            return _read(file, split)
        except (OSError, ValueError, KeyError, zipfile.BadZipFile):
            file.unlink()  # damaged
    result = _trained(detector, contestant.polarity, split)
    folder.mkdir(parents=True, exist_ok=True)
    with replacing(file) as part, part.open("wb") as opened:
        np.savez(
            opened,
            train=result.scores.train,
            test=result.scores.test,
            seconds=[result.fit_seconds, result.score_seconds],
        )
    return result


def _trained(detector: Any, polarity: str, split: Split) -> DetectorScores:
    with single_thread():
        started = time.perf_counter()
        detector.fit(split.train)
        fit_seconds = time.perf_counter() - started
        adapter = _adapter(detector, polarity, split.train)
        started = time.perf_counter()
        test = adapter.score(split.test)
        score_seconds = time.perf_counter() - started
        train = adapter.kept_training_scores()
        if train is None:
            train = adapter.score(split.train)
    return DetectorScores(Values(train, test), fit_seconds, score_seconds)


def _adapter(detector: Any, polarity: str, X: Floats) -> DetectorAdapter:
    """Adapt a fitted detector as `CalibratedDetector` does, but with infinity for NaN.

    `DetectorAdapter` refuses NaN. PyOD's PCA returns NaN if a column is constant: it divides by
    the variance. So this replaces NaN in the scores that the detector returns and keeps.
    """
    scoring = scoring_method(detector, polarity)
    score = getattr(detector, scoring.method)

    def without_nan(values: Any) -> Floats:
        scores = np.array(values, dtype=np.float64)
        scores[np.isnan(scores)] = scoring.sign * np.inf
        return scores

    setattr(detector, scoring.method, lambda X: without_nan(score(X)))
    final = DetectorAdapter(detector, scoring.method, scoring.sign).final_step
    if getattr(final, "decision_scores_", None) is not None:
        final.decision_scores_ = without_nan(final.decision_scores_)
    return DetectorAdapter.fitted(detector, X, scoring)


def _file_name(
    contestant: Contestant, detector: Any, dataset: Dataset, protocol: Protocol, seed: int
) -> str:
    """A name that differs for different data, settings, seeds and versions."""
    used_seed = seed if contestant.is_random or protocol.shuffled else 0
    made_of = {
        "values": dataset.sha256,
        "protocol": [protocol.shuffled, protocol.standardised],
        "detector": type(detector).__qualname__,
        "settings": {
            name: repr(getattr(detector, name, None))
            for name in signature(type(detector)).parameters
            if name not in ("random_state", "kwargs")
        },
        "polarity": contestant.polarity,
        "versions": versions_line(),
    }
    digest = sha256(json.dumps(made_of, sort_keys=True).encode()).hexdigest()[:12]
    return f"{protocol.name}-{dataset.name}-{contestant.name}-{used_seed}-{digest}.npz"


def _read(file: Path, split: Split) -> DetectorScores:
    # Opened here: numpy does not close a damaged file.
    with file.open("rb") as opened, np.load(opened) as saved:
        scores = Values(saved["train"], saved["test"])
        fit_seconds, score_seconds = saved["seconds"]
    if (len(scores.train), len(scores.test)) != (len(split.train), len(split.test)):
        raise InputError("scores of other rows")
    return DetectorScores(scores, float(fit_seconds), float(score_seconds))
