"""The schema of model files in words."""

from __future__ import annotations

from typing import Any

from ._descriptions import DESCRIPTIONS


def file_schema() -> dict[str, dict[str, Any]]:
    """What a model file can contain: the types, and what their values may be.

    Returns
    -------
    dict
        For each type its "roles", which say where in a model it may be, and its "parameters" and
        "fitted" attributes: names, and in words what is allowed.

    Examples
    --------
    >>> from ctad.persistence import file_schema
    >>> scaler = file_schema()["sklearn.preprocessing.MaxAbsScaler"]
    >>> scaler["parameters"]["copy"]
    'true or false'
    """
    return {
        name: {
            "roles": [role for role in (description.role, description.other_role) if role],
            "parameters": {key: str(kind) for key, kind in description.parameters.items()},
            "fitted": {key: str(kind) for key, kind in description.fitted.items()},
        }
        for name, description in DESCRIPTIONS.items()
    }
