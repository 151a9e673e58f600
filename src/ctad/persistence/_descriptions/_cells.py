"""Values of tables that are not only numbers: text, numbers, flags and missing values."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .._kinds import (
    ANY_LENGTH,
    Array,
    Booleans,
    Floats,
    Integers,
    Kind,
    Length,
    ListOf,
    NotDescribedError,
    Text,
    require,
    shown,
)

if TYPE_CHECKING:
    from .._reader import Scope
    from .._writer import Writer

STORED_NAN = {"number": "nan"}  # JSON has none
CATEGORIES: dict[str, Array] = {
    "f": Floats(ANY_LENGTH, nan=True),
    "i": Integers(ANY_LENGTH),
    "b": Booleans(ANY_LENGTH),
}


@dataclass(frozen=True)
class Cell(Kind):
    """A string, a number, true or false, None or NaN."""

    def __str__(self) -> str:
        return 'a string, a number, true or false, null, or {"number": "nan"} for NaN'

    def write(self, value: Any, writer: Writer) -> Any:
        value = value.item() if isinstance(value, np.generic) else value
        return STORED_NAN if is_nan(value) else self._checked(value)

    def read(self, stored: Any, scope: Scope) -> Any:
        return np.nan if stored == STORED_NAN else self._checked(stored)

    def _checked(self, value: Any) -> Any:
        if isinstance(value, str):
            return Text().write(value, None)  # type: ignore[arg-type]
        known = (
            value is None
            or isinstance(value, bool)
            or (isinstance(value, int) and abs(value) < 2**63)
            or (isinstance(value, float) and math.isfinite(value))
        )
        require(known, f"{shown(value)} is not {self}")
        return value


@dataclass(frozen=True)
class CellList(Kind):
    """A list of strings, numbers, flags, None and NaN; arrays become lists."""

    length: Length = ANY_LENGTH

    def __str__(self) -> str:
        return str(ListOf(Cell(), self.length or None))

    def write(self, value: Any, writer: Writer) -> list[Any]:
        if isinstance(value, np.ndarray):
            require(value.ndim == 1, f"an array with {value.ndim} dimensions")
            value = value.tolist()
        return ListOf(Cell()).write(value, writer)

    def read(self, stored: Any, scope: Scope) -> list[Any]:
        cells: list[Any] = ListOf(Cell(), self.length).read(stored, scope)
        return cells

    def parts(self, stored: Any) -> Iterable[tuple[tuple[str | int, ...], Kind]]:
        return [((), ListOf(Cell(), self.length))]


@dataclass(frozen=True)
class Cells(Kind):
    """A numpy array of objects: strings, numbers, flags, None and NaN; stored as a list."""

    length: Length = ANY_LENGTH

    def __str__(self) -> str:
        return str(CellList(self.length))

    def write(self, value: Any, writer: Writer) -> list[Any]:
        is_text = isinstance(value, np.ndarray) and value.dtype.kind in "OUT"
        require(is_text, f"{shown(value)} is not an array of objects")
        return CellList().write(value, writer)

    def read(self, stored: Any, scope: Scope) -> Any:
        return as_objects(CellList(self.length).read(stored, scope))

    def parts(self, stored: Any) -> Iterable[tuple[tuple[str | int, ...], Kind]]:
        return [((), ListOf(Cell(), self.length))]


@dataclass(frozen=True)
class Categories(Kind):
    """Different values of a column: an array of increasing numbers, or a list of cells.

    Compiled code finds numbers by bisection, so they must increase. NaN is the last one.
    """

    def __str__(self) -> str:
        arrays = " or ".join(kind.dtype for kind in CATEGORIES.values())
        return f"an array of {arrays} with increasing values, or a list of different ones, {Cell()}"

    def write(self, value: Any, writer: Writer) -> Any:
        require(isinstance(value, np.ndarray) and value.ndim == 1, f"{shown(value)} is not a list")
        if value.dtype.kind in "OUT":
            stored = CellList().write(value, writer)
            self._check_cells(value.tolist())
            return stored
        # Integers and floats of all sizes are found among these.
        kind = {"u": "i"}.get(value.dtype.kind, value.dtype.kind)
        require(kind in CATEGORIES, f"an array of {value.dtype}")
        numbers = value.astype(CATEGORIES[kind].dtype)
        require(value.dtype.kind != "u" or (numbers >= 0).all(), "too large integers")
        self._check_numbers(numbers)
        return CATEGORIES[kind].write(numbers, writer)

    def read(self, stored: Any, scope: Scope) -> Any:
        if isinstance(stored, list):
            cells = CellList().read(stored, scope)
            self._check_cells(cells)
            return as_objects(cells)
        values = scope.array(stored)
        wanted = CATEGORIES.get(values.dtype.kind)
        require(
            wanted is not None and values.dtype == np.dtype(wanted.dtype) and values.ndim == 1,
            f"an array of {values.dtype} with {values.ndim} dimensions",
        )
        self._check_numbers(values)
        return values

    def parts(self, stored: Any) -> Iterable[tuple[tuple[str | int, ...], Kind]]:
        if isinstance(stored, list):
            return [((), ListOf(Cell()))]
        return [((), kind) for kind in CATEGORIES.values()]

    def _check_cells(self, cells: list[Any]) -> None:
        numbers = [cell for cell in cells if not is_nan(cell)]
        require(cells and len(cells) - len(numbers) <= 1, "no values, or NaN twice")
        require(len(set(numbers)) == len(numbers), "the same value twice")

    def _check_numbers(self, values: Any) -> None:
        require(len(values) > 0, "no values")
        numbers = values[:-1] if is_nan(values[-1].item()) else values
        finite = values.dtype.kind != "f" or np.isfinite(numbers).all()
        require(finite and (numbers[1:] > numbers[:-1]).all(), "numbers that do not increase")


def is_nan(value: Any) -> bool:
    """Whether a value is a number that is not a number."""
    return isinstance(value, float) and math.isnan(value)


def as_objects(cells: list[Any]) -> Any:
    """An array of objects."""
    values = np.empty(len(cells), dtype=object)
    values[:] = cells
    return values


def is_numeric(cell: Any) -> bool:
    """Whether a cell is a number or a flag."""
    return isinstance(cell, int | float)


def converted(values: Any, dtype: Any) -> Any:
    """An array of another dtype; raises if that is impossible."""
    try:
        return values.astype(dtype)
    except (ValueError, TypeError, OverflowError) as error:
        raise NotDescribedError(f"values that are not {dtype}") from error
