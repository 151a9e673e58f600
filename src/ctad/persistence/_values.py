"""Numbers, strings and parameters in JSON: written exactly, checked when read."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..errors import InputError


def to_number(value: float) -> float | str:
    """A number for JSON, which has no infinity: "inf" or "-inf" stands for it."""
    return float(value) if math.isfinite(value) else str(float(value))


def from_number(value: Any) -> float:
    """The number that `to_number` wrote."""
    return float(value) if value in ("inf", "-inf") else number(value)


def number(value: Any) -> float:
    """Check that a value is a finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise TypeError(f"{value!r} is not a finite number")
    return float(value)


def integer(value: Any, at_least: int = 0) -> int:
    """Check that a value is an integer >= `at_least`."""
    if isinstance(value, bool) or not isinstance(value, int) or value < at_least:
        raise TypeError(f"{value!r} is not an integer >= {at_least}")
    return value


def string(value: Any) -> str:
    """Check that a value is a string."""
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not a string")
    return value


def within(values: Any, low: Any, end: Any) -> bool:
    """Whether all values are in [low, end)."""
    return bool(np.all((values >= low) & (values < end)))


def require(condition: bool, what: str) -> None:
    """Raise unless the numbers of a part of a model are consistent."""
    if not condition:
        raise InputError(f"{what} with inconsistent numbers")


def plain_parameters(parameters: dict[str, Any]) -> dict[str, Any]:
    """Parameters as JSON values. A random generator is not saved: None stands for it."""
    return {name: _plain(name, value) for name, value in parameters.items()}


def _plain(name: str, value: Any) -> Any:
    if isinstance(value, np.random.RandomState):
        return None
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, list | tuple):
        return [_plain(name, item) for item in value]
    if isinstance(value, dict):
        return {str(key): _plain(name, item) for key, item in value.items()}
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    raise InputError(f"parameter {name}={value!r} cannot be saved: use a number or a string")
