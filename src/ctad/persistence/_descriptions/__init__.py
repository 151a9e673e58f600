"""All types that a model file can hold, one description each."""

from __future__ import annotations

from typing import Any

from .._description import Description
from ._calibrated_detector import DESCRIPTIONS as CALIBRATED_DETECTOR
from ._calibrators import DESCRIPTIONS as CALIBRATORS
from ._neural_detectors import DESCRIPTIONS as NEURAL_DETECTORS
from ._pyod_detectors import DESCRIPTIONS as PYOD_DETECTORS
from ._pyod_histograms import DESCRIPTIONS as PYOD_HISTOGRAMS
from ._pyod_rgraph import DESCRIPTIONS as PYOD_RGRAPH
from ._pyod_rod import DESCRIPTIONS as PYOD_ROD
from ._pyod_wrappers import DESCRIPTIONS as PYOD_WRAPPERS
from ._scikit_learn_detectors import DESCRIPTIONS as SCIKIT_LEARN_DETECTORS
from ._scikit_learn_pipelines import DESCRIPTIONS as SCIKIT_LEARN_PIPELINES
from ._scikit_learn_transformers import DESCRIPTIONS as SCIKIT_LEARN_TRANSFORMERS
from ._table_encoder import DESCRIPTIONS as TABLE_ENCODER

DESCRIPTIONS: dict[str, Description] = {
    description.type: description
    for description in (
        *CALIBRATED_DETECTOR,
        *CALIBRATORS,
        *NEURAL_DETECTORS,
        *PYOD_DETECTORS,
        *PYOD_HISTOGRAMS,
        *PYOD_RGRAPH,
        *PYOD_ROD,
        *PYOD_WRAPPERS,
        *SCIKIT_LEARN_DETECTORS,
        *SCIKIT_LEARN_PIPELINES,
        *SCIKIT_LEARN_TRANSFORMERS,
        *TABLE_ENCODER,
    )
}


def description_of(item: Any) -> Description | None:
    """The description of an object's type; None if it has none. A subclass is another type."""
    start, end = f"{type(item).__module__.partition('.')[0]}.", f".{type(item).__name__}"
    for name, description in DESCRIPTIONS.items():
        is_similar = name.startswith(start) and name.endswith(end)
        if is_similar and description.import_class() is type(item):
            return description
    return None
