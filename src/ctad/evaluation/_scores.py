"""A detector's scores under a protocol, kept on disk: calibrations come after them."""

from __future__ import annotations

import csv
import json
import time
import zipfile
from functools import cache
from hashlib import sha256
from importlib.resources import files
from inspect import signature
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from .._atomic_files import replacing
from .._types import Floats
from ..datasets import Dataset, is_registered
from ..detectors import known_detector, make
from ..errors import InputError
from ..wrapper import scoring_method
from ._protocols import Protocol, Split, Values
from ._quiet import alone_and_quiet
from ._versions import versions


class DetectorScores(NamedTuple):
    """What a detector says of the rows, higher = more anomalous, and how long it took."""

    scores: Values
    fit_seconds: float
    score_seconds: float


class Contestant(NamedTuple):
    """A detector that takes part.

    Attributes
    ----------
    name : str
        What the results call it; a name that `ctad.detectors` knows, unless `detector` is given.
    detector : object, optional
        Any detector, not fitted yet.
    polarity : {"auto", "higher", "lower"}, default="auto"
        What is more anomalous, if the detector is not of PyOD, scikit-learn or ctad.
    """

    name: str
    detector: Any = None
    polarity: str = "auto"

    def build(self, protocol: Protocol, dataset: Dataset, seed: int) -> Any:
        """A new detector with the protocol's settings, to be fitted."""
        if self.detector is not None:
            built = clone(self.detector)
            if "random_state" in built.get_params():
                built.set_params(random_state=seed)
            return built
        options = {}
        if protocol.name == "published":
            options = published_settings(
                self.name, dataset.name.lower() if is_registered(dataset) else None
            )
        return make(self.name, **options, **({"random_state": seed} if self.is_random else {}))

    @property
    def is_random(self) -> bool:
        """Whether its scores depend on the seed."""
        if self.detector is not None:
            return "random_state" in self.detector.get_params()
        return "random_state" in known_detector(self.name).parameters

    @property
    def is_slow(self) -> bool:
        """Whether training takes so long that it is worth a process of its own."""
        return self.detector is not None or "torch" in known_detector(self.name).library.needs


def published_settings(detector: str, dataset: str | None) -> dict[str, Any]:
    """What the method's authors or the paper told a detector, beyond its defaults here.

    DRL's settings per data set were chosen by its authors with the test labels in sight. A data set
    that is not the paper's is None, and has none.
    """
    detector = known_detector(detector).name
    if detector in ("DRL", "MCM"):
        if dataset is None:
            return {}
        chosen = _drl_settings()[dataset]
        told: dict[str, Any] = {"scaling": chosen["preprocessing"], "shuffle": False}
        if detector == "DRL":
            told |= {
                "epochs": int(chosen["epochs"]),
                "alignment_weight": float(chosen["alignment_weight"]),
                "separation_weight": float(chosen["separation_weight"]),
            }
    elif detector in ("GOAD", "NeuTraLAD", "ICL"):
        told = {"scaling": "none"}
    else:
        return {}
    defaults = known_detector(detector).parameters
    return {name: value for name, value in told.items() if value != defaults[name]}


@cache
def _drl_settings() -> dict[str, dict[str, str]]:
    with files(__package__).joinpath("drl_settings.csv").open() as file:
        return {row["dataset"]: row for row in csv.DictReader(file)}


def detector_scores(
    contestant: Contestant,
    dataset: Dataset,
    protocol: Protocol,
    seed: int,
    split: Split,
    kept: Path | None,
) -> DetectorScores:
    """Train and score, unless the folder `kept` has the scores from before."""
    detector = contestant.build(protocol, dataset, seed)
    if kept is None:
        return _trained(detector, contestant.polarity, split)
    file = kept / _file_name(contestant, detector, dataset, protocol, seed)
    if file.exists():
        try:
            return _read(file, split)
        except (OSError, ValueError, KeyError, zipfile.BadZipFile):
            file.unlink()  # damaged: it is made again
    result = _trained(detector, contestant.polarity, split)
    kept.mkdir(parents=True, exist_ok=True)
    with replacing(file) as part, part.open("wb") as opened:
        np.savez(
            opened,
            train=result.scores.train,
            test=result.scores.test,
            seconds=[result.fit_seconds, result.score_seconds],
        )
    return result


def _trained(detector: Any, polarity: str, split: Split) -> DetectorScores:
    with alone_and_quiet():
        started = time.perf_counter()
        detector.fit(split.train)
        fitted = time.perf_counter()
        reading = scoring_method(detector, polarity)
        score = getattr(detector, reading.method)
        test = score(split.test)
        done = time.perf_counter()
        # A neighbour search, when it keeps these, does not count a row as its own neighbour.
        train = getattr(detector, "decision_scores_", None)
        if train is None:
            train = score(split.train)
    scores = Values(*(higher_is_worse(values, reading.sign) for values in (train, test)))
    return DetectorScores(scores, fitted - started, done - fitted)


def higher_is_worse(values: Any, sign: float) -> Floats:
    """PyOD's PCA divides by the variance of constant columns: not a number is infinitely bad."""
    scores = sign * np.asarray(values, dtype=np.float64)
    scores[np.isnan(scores)] = np.inf
    return scores


def _file_name(
    contestant: Contestant, detector: Any, dataset: Dataset, protocol: Protocol, seed: int
) -> str:
    """Names what was scored, and tells it from the same under other settings or versions."""
    counted = seed if contestant.is_random or protocol.shuffled else 0
    made_of = {
        "values": dataset.sha256,
        "detector": type(detector).__qualname__,
        "settings": {
            name: repr(getattr(detector, name, None))
            for name in signature(type(detector)).parameters
            if name not in ("random_state", "kwargs")
        },
        "versions": versions(),
    }
    if contestant.polarity != "auto":
        made_of["polarity"] = contestant.polarity
    digest = sha256(json.dumps(made_of, sort_keys=True).encode()).hexdigest()[:12]
    return f"{protocol.name}-{dataset.name}-{contestant.name}-{counted}-{digest}.npz"


def _read(file: Path, split: Split) -> DetectorScores:
    # Opened here: numpy leaves a file open that it finds damaged.
    with file.open("rb") as opened, np.load(opened) as saved:
        scores = Values(saved["train"], saved["test"])
        fit_seconds, score_seconds = saved["seconds"]
    if (len(scores.train), len(scores.test)) != (len(split.train), len(split.test)):
        raise InputError("scores of other rows")
    return DetectorScores(scores, float(fit_seconds), float(score_seconds))
