"""Kinds of arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ._kind import Kind, Length, range_in_words, require, shown, specials_in_words
from ._nested import ListOf
from ._scalars import Text

if TYPE_CHECKING:
    from .._reader import Scope
    from .._writer import Writer


@dataclass(frozen=True)
class Array(Kind):
    """An array of one dtype whose shape is given by lengths, and whose values are in a range.

    Attributes
    ----------
    dtype : str
        "float64", "float32", "int64", "int32", "uint8" or "bool".
    shape : tuple of int or str
        A name sets or repeats a length; "bins+1" is one more than "bins"; `ANY_LENGTH` is neither
        set nor checked.
    low, high : number or str
        All values are in this range, both ends included. A string is a length: "<n" as `high` means
        that values are indices of something of length n.
    finite, nan : bool
        Whether infinity is refused, and whether NaN is accepted.
    increasing : bool
        Whether values must not decrease along the first axis.
    empty : bool
        Whether a length may be 0.
    """

    dtype: str
    shape: tuple[Length, ...]
    low: float | None = None
    high: float | str | None = None
    finite: bool = True
    nan: bool = False
    increasing: bool = False
    empty: bool = False

    def __str__(self) -> str:
        shape = " x ".join(str(length) or "any length" for length in self.shape) or "one value"
        limits = range_in_words(self.low, self.high)
        increasing = ", not decreasing" if self.increasing else ""
        specials = specials_in_words(not self.finite, self.nan)
        return f"an array of {self.dtype}, {shape}{limits}{specials}{increasing}"

    def write(self, value: Any, writer: Writer) -> dict[str, str]:
        require(type(value) is np.ndarray, f"{type(value).__name__} is not an array")
        require(
            value.dtype == np.dtype(self.dtype) and value.ndim == len(self.shape),
            f"an array of {value.dtype} of shape {value.shape} is not one of {self.dtype} with "
            f"{len(self.shape)} dimensions",
        )
        return {"array": writer.array(value)}

    def read(self, stored: Any, scope: Scope) -> Any:
        values = scope.array(stored)
        require(
            values.dtype == np.dtype(self.dtype) and values.ndim == len(self.shape),
            f"an array of {values.dtype} with {values.ndim} dimensions is not one of {self.dtype} "
            f"with {len(self.shape)}",
        )
        for length, wanted in zip(values.shape, self.shape, strict=True):
            require(length > 0 or self.empty, "an array without values")
            scope.fix_length(wanted, length)
        if values.dtype.kind == "f":
            require(not (self.finite and np.isinf(values).any()), "infinity in an array")
            require(self.nan or not np.isnan(values).any(), "NaN in an array")
        if self.low is not None:
            require(not bool((values < self.low).any()), f"a value below {self.low}")
        if self.high is not None:
            high: Any = self.high
            if isinstance(high, str):
                high = scope.lengths[high.removeprefix("<")] - 1
            require(not bool((values > high).any()), f"a value above {high}")
        if self.increasing:
            require(bool((values[1:] >= values[:-1]).all()), "values that decrease")
        return values


def Floats(*shape: Length, **limits: Any) -> Array:  # noqa: N802 - reads as a kind in tables
    """An array of float64."""
    return Array("float64", shape, **limits)


def Integers(*shape: Length, **limits: Any) -> Array:  # noqa: N802
    """An array of int64."""
    return Array("int64", shape, **limits)


def Booleans(*shape: Length) -> Array:  # noqa: N802
    """An array of bool."""
    return Array("bool", shape)


@dataclass(frozen=True)
class Names(Kind):
    """A numpy array of strings as objects, such as `feature_names_in_`; stored as a list."""

    length: Length

    def __str__(self) -> str:
        return f"a list of {self.length} strings"

    def write(self, value: Any, writer: Writer) -> list[str]:
        require(type(value) is np.ndarray and value.ndim == 1, f"{shown(value)} is not an array")
        return ListOf(Text()).write(value.tolist(), writer)

    def read(self, stored: Any, scope: Scope) -> Any:
        names = ListOf(Text(), self.length).read(stored, scope)
        scope.reader.longest_name = max(scope.reader.longest_name, *map(len, names), 0)
        return np.array(names, dtype=object)
