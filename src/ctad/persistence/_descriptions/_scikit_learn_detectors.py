"""Detectors of scikit-learn, and the objects of scikit-learn that detectors of PyOD have inside."""

from __future__ import annotations

from .._description import Description
from ._clusters import DESCRIPTIONS as CLUSTERS
from ._forests import DESCRIPTIONS as FORESTS
from ._gaussian import DESCRIPTIONS as GAUSSIAN
from ._linear import DESCRIPTIONS as LINEAR
from ._neighbours import DESCRIPTIONS as NEIGHBOURS
from ._support_vectors import DESCRIPTIONS as SUPPORT_VECTORS

DESCRIPTIONS: tuple[Description, ...] = (
    *CLUSTERS,
    *FORESTS,
    *GAUSSIAN,
    *LINEAR,
    *NEIGHBOURS,
    *SUPPORT_VECTORS,
)
