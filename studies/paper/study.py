"""What the paper's study consists of."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from ..evaluation import NONE, PROTOCOLS, Calibration, Contestant, Entry, GapEntry, Plan

# Those that the paper calibrates, and those that it only compares with.
CALIBRATED = ("OCSVM", "PCA", "IForest", "ECOD", "KNN", "DRL", "MCM")
COMPARED = ("DeepSVDD", "AutoEncoder", "GOAD", "NeuTraLAD", "DTE", "ICL")
SEEDS = (0, 1, 2, 3, 4)

# How the paper's tables were made: the row's own cost.
AS_PUBLISHED = Calibration()
VARIANTS = tuple(
    Calibration(target=target, signal=signal)
    for target in ("uniform", "sizes", "free")
    for signal in ("total", "own")
)
ALTERNATIVES = (
    Calibration("transport only"),
    Calibration("centroid distance"),
    Calibration("mahalanobis"),
    Calibration("algorithm 1"),
    *VARIANTS,
    Calibration("recommended"),
)

SWEEPS: dict[str, tuple[float, ...]] = {
    "n_centroids": (3, 5, 10, 20, 30, 40, 50),
    "n_references": (5, 10, 20, 40, 60, 80, 100),
    "weight": tuple(tenth / 10 for tenth in range(1, 11)),
}

TIMED = tuple(
    (dataset, detector)
    for dataset in ("cardio", "mnist")
    for detector in ("IForest", "OCSVM", "ECOD")
)


class Study(NamedTuple):
    """What to measure.

    Attributes
    ----------
    datasets : tuple of str
    detectors : tuple of str
        To be calibrated.
    compared : tuple of str
        Detectors to run as they are, under the first protocol.
    protocols : tuple of str
    calibration : Calibration
        The one in the main tables.
    seeds : tuple of int
    """

    datasets: tuple[str, ...]
    detectors: tuple[str, ...] = CALIBRATED
    compared: tuple[str, ...] = COMPARED
    protocols: tuple[str, ...] = tuple(PROTOCOLS)
    calibration: Calibration = AS_PUBLISHED
    seeds: tuple[int, ...] = SEEDS

    def plan(self) -> Plan:
        """All results that its tables and figures need; settings are swept under the first
        protocol alone.
        """
        judged = (NONE, self.calibration, *ALTERNATIVES)
        swept = tuple(c for setting in SWEEPS for c in self.sweep(setting).values())
        first = self.protocols[0]
        entries = [
            Entry(protocol, Contestant(detector), judged, self.seeds)
            for protocol in self.protocols
            for detector in self.detectors
        ]
        entries += [Entry(first, Contestant(name), swept, self.seeds) for name in self.detectors]
        entries += [Entry(first, Contestant(name), (NONE,), self.seeds) for name in self.compared]
        return Plan(
            self.datasets,
            tuple(entries),
            tuple(GapEntry(protocol, VARIANTS, self.seeds) for protocol in self.protocols),
            tuple(
                (dataset, Contestant(detector))
                for dataset, detector in TIMED
                if dataset in self.datasets and detector in self.detectors
            ),
        )

    def sweep(self, setting: str) -> dict[float, Calibration]:
        """The calibration with other values of one setting; none if it has no settings."""
        if self.calibration.is_preset:
            return {}
        changes: list[dict[str, Any]] = [{setting: value} for value in SWEEPS[setting]]
        return {change[setting]: replace(self.calibration, **change) for change in changes}


def in_order(found: set[str], usual: tuple[str, ...]) -> tuple[str, ...]:
    """Names in the usual order; others after them, by the alphabet."""
    return (*(name for name in usual if name in found), *sorted(found.difference(usual)))
