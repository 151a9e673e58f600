"""Checks of the parameters of neural detectors."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

import numpy as np

from ..errors import InputError


def check_integer(
    name: str, value: Any, low: int = 1, high: int | None = None, *, optional: bool = False
) -> None:
    """Raise unless `value` is an integer from `low` to `high`, or None if `optional`."""
    if not ((value is None and optional) or _is_in_range(value, Integral, low, high)):
        raise InputError(f"{name} must be an integer {_range(low, high, optional)}, not {value!r}")


def check_number(
    name: str, value: Any, low: float = 0, high: float | None = None, *, optional: bool = False
) -> None:
    """Raise unless `value` is a finite number from `low` to `high`, or None if `optional`."""
    if not ((value is None and optional) or _is_in_range(value, Real, low, high)):
        raise InputError(f"{name} must be a number {_range(low, high, optional)}, not {value!r}")


def check_flag(name: str, value: Any) -> None:
    """Raise unless `value` is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise InputError(f"{name} must be True or False, not {value!r}")


def check_betas(value: Any) -> None:
    """Raise unless `value` is a pair of decay rates for Adam."""
    if not (
        isinstance(value, list | tuple)
        and len(value) == 2
        and all(_is_in_range(beta, Real, 0, None) and beta < 1 for beta in value)
    ):
        raise InputError(f"betas must be two numbers in [0, 1), not {value!r}")


def _is_in_range(value: Any, kind: type, low: float, high: float | None) -> bool:
    is_number = isinstance(value, kind) and not isinstance(value, bool)
    return is_number and low <= value < math.inf and (high is None or value <= high)


def _range(low: float, high: float | None, optional: bool) -> str:
    limits = f">= {low:g}" if high is None else f"from {low:g} to {high:g}"
    return f"{limits} or None" if optional else limits
