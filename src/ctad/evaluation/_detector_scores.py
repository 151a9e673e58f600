"""Scores of a detector on a split, kept on disk so that more calibrations need no training."""

from __future__ import annotations

import json
import re
import time
from dataclasses import dataclass
from hashlib import sha256
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np

from .._types import Floats
from .._untrusted_files import check_inside
from ..datasets import Dataset
from ..wrapper import DetectorAdapter, scoring_method
from ._array_files import read_arrays, write_arrays
from ._contestants import Contestant
from ._protocols import Protocol, Split, Values
from ._single_thread import single_thread
from ._versions import versions_line

MAX_NAMES = 200  # bytes; a file name may have 255


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
    check_inside(file, folder)
    lengths = {"train": len(split.train), "test": len(split.test), "seconds": 2}
    kept = read_arrays(file, lengths)
    if kept is not None:
        return DetectorScores(Values(kept["train"], kept["test"]), *kept["seconds"].tolist())
    result = _trained(detector, contestant.polarity, split)
    folder.mkdir(parents=True, exist_ok=True)
    seconds = np.array([result.fit_seconds, result.score_seconds])
    arrays = {"train": result.scores.train, "test": result.scores.test, "seconds": seconds}
    write_arrays(file, arrays)
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
    names = f"{protocol.name}-{dataset.name}-{contestant.name}"
    stem = (
        re.sub(r"[/\\\x00]", "_", names)
        .encode(errors="replace")[:MAX_NAMES]
        .decode(errors="ignore")
    )
    return f"{stem}-{used_seed}-{digest}.npz"
