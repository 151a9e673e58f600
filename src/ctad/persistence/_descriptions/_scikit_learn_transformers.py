"""Transformers of scikit-learn."""

from __future__ import annotations

from .._description import Description
from ._category_encoders import DESCRIPTIONS as CATEGORY_ENCODERS
from ._derived_features import DESCRIPTIONS as DERIVED_FEATURES
from ._imputers import DESCRIPTIONS as IMPUTERS
from ._projections import DESCRIPTIONS as PROJECTIONS
from ._scalers import DESCRIPTIONS as SCALERS

DESCRIPTIONS: tuple[Description, ...] = (
    *CATEGORY_ENCODERS,
    *DERIVED_FEATURES,
    *IMPUTERS,
    *PROJECTIONS,
    *SCALERS,
)
