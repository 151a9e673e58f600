"""Settings of the networks that their authors or the paper published."""

import csv
from functools import cache, partial
from pathlib import Path
from typing import Any

from ctad.detectors import known_detector
from ctad.evaluation import Contestant

FILE = Path(__file__).parent / "drl_settings.csv"


@cache
def with_published_settings(detector: str) -> Contestant:
    """A detector with its published settings."""
    return Contestant(detector, settings=partial(published_settings, detector))


def published_settings(detector: str, dataset: str) -> dict[str, Any]:
    """Options of a detector that differ from its defaults in ctad.

    DRL's authors chose its settings per data set using the test labels.
    """
    published: dict[str, Any] = {}
    if detector in ("DRL", "MCM"):
        chosen = _drl_settings().get(dataset.lower())
        if chosen is not None:
            published = {"scaling": chosen["preprocessing"], "shuffle": False}
            if detector == "DRL":
                published |= {
                    "epochs": int(chosen["epochs"]),
                    "alignment_weight": float(chosen["alignment_weight"]),
                    "separation_weight": float(chosen["separation_weight"]),
                }
    elif detector in ("GOAD", "NeuTraLAD", "ICL"):
        published = {"scaling": "none"}
    defaults = known_detector(detector).parameters
    return {name: value for name, value in published.items() if value != defaults[name]}


@cache
def _drl_settings() -> dict[str, dict[str, str]]:
    with FILE.open() as file:
        return {row["dataset"]: row for row in csv.DictReader(file)}
