"""Plain values in JSON, exact, and checked when read."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..errors import InputError


def to_number(value: float) -> float | str:
    """A number for JSON, which knows no infinity: that becomes "inf" or "-inf"."""
    return float(value) if math.isfinite(value) else str(float(value))


def from_number(value: Any) -> float:
    """What `to_number` wrote."""
    return float(value) if value in ("inf", "-inf") else number(value)


def number(value: Any) -> float:
    """A finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise TypeError(f"{value!r} is no number")
    return float(value)


def integer(value: Any, at_least: int = 0) -> int:
    """A whole number."""
    if isinstance(value, bool) or not isinstance(value, int) or value < at_least:
        raise TypeError(f"{value!r} is no whole number >= {at_least}")
    return value


def text(value: Any) -> str:
    """A text."""
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def within(values: Any, low: Any, end: Any) -> bool:
    """Whether all values are in [low, end)."""
    return bool(np.all((values >= low) & (values < end)))


def require(condition: bool, what: str) -> None:
    """Raise unless the numbers of something belong together."""
    if not condition:
        raise InputError(f"{what} with numbers that do not belong together")


def plain_parameters(parameters: dict[str, Any]) -> dict[str, Any]:
    """Parameters as JSON has them; a generator of random numbers is not kept."""
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
    raise TypeError(f"parameter {name}={value!r} cannot be saved: use a plain number or text")
