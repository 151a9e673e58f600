"""The calibrations of the paper: its term with other settings, and the terms it compares with."""

import numpy as np

from ctad import CTAD
from ctad.calibration import CentroidDistance, MahalanobisDistance
from ctad.evaluation import Calibration, Values


def transport(
    target: str = "uniform",
    signal: str = "own",
    n_centroids: int = 5,
    n_references: int = 20,
    weight: float = 1.0,
) -> Calibration:
    """The paper's term, added as the protocol says. The parameters are those of `CTAD`."""
    settings = f"{target} {signal} K={n_centroids} M={n_references}"
    term = CTAD(n_centroids, n_references, target=target, signal=signal)
    return Calibration(f"ctad {settings} weight={weight:g}", term, weight, add="protocol")


def transport_only() -> Calibration:
    """The paper's term without the detector's score."""
    term = CTAD(signal="own")
    return Calibration("transport only uniform own K=5 M=20", term, add=term_alone)


def term_alone(scores: Values, terms: Values, weight: float) -> np.ndarray:
    """The terms of the test rows, unscaled."""
    return terms.test


def centroid_distance() -> Calibration:
    """The distance to the nearest of five centroids."""
    name = "centroid distance K=5 weight=1"
    return Calibration(name, CentroidDistance(5), add="protocol")


def mahalanobis() -> Calibration:
    """The Mahalanobis distance to the training mean."""
    return Calibration("mahalanobis weight=1", MahalanobisDistance(), add="protocol")


# How the paper's tables were made: the term is the row's own cost.
AS_PUBLISHED = transport()
# By target and signal.
VARIANTS = {
    (target, signal): transport(target, signal)
    for target in ("uniform", "sizes", "free")
    for signal in ("total", "own")
}
ALTERNATIVES = (
    AS_PUBLISHED,
    transport_only(),
    centroid_distance(),
    mahalanobis(),
    Calibration.named("paper"),
    *(variant for variant in VARIANTS.values() if variant.name != AS_PUBLISHED.name),
)

# By setting and value: AS_PUBLISHED with one setting changed.
SWEEPS: dict[str, dict[float, Calibration]] = {
    "n_centroids": {k: transport(n_centroids=k) for k in (3, 5, 10, 20, 30, 40, 50)},
    "n_references": {m: transport(n_references=m) for m in (5, 10, 20, 40, 60, 80, 100)},
    "weight": {tenth / 10: transport(weight=tenth / 10) for tenth in range(1, 11)},
}
