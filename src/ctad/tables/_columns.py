"""The kinds of columns, and a column with its values."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Self

from ._calendar_cycles import CYCLES, DAY, position_in_cycle


class ColumnKind(StrEnum):
    """What the values of a column are; it decides how they are encoded."""

    NUMBER = "number"
    BOOLEAN = "boolean"
    CATEGORY = "category"
    DATE = "date"
    ZONED_DATE = "date with time zone"
    TIME = "time of day"
    EMPTY = "empty"  # no values, so that it may be of any kind
    OTHER = "other"  # lists, structs, bytes: values that cannot be compared

    @property
    def cycles(self) -> tuple[str, ...]:
        """The cycles in which values have a position: "day", "week", "year"."""
        if self in (ColumnKind.DATE, ColumnKind.ZONED_DATE):
            return tuple(CYCLES)
        return ("day",) if self == ColumnKind.TIME else ()

    @property
    def unit(self) -> float:
        """Values are divided by this: dates become days, times of day become hours."""
        if self in (ColumnKind.DATE, ColumnKind.ZONED_DATE):
            return DAY
        return DAY / 24 if self == ColumnKind.TIME else 1.0


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes
    ----------
    name : str
    kind : ColumnKind
    dtype : str
        The type in its own library.
    """

    name: str
    kind: ColumnKind
    dtype: str


@dataclass(frozen=True, eq=False)
class ColumnValues:
    """A column and its values: floats with NaN for missing values, or for categories strings and
    None.

    Dates are microseconds since 1970, times of day microseconds since midnight. Durations are
    numbers, in seconds.

    Attributes
    ----------
    column : Column
    values : ndarray of shape (n,)
    is_integer : bool
        Whether the numbers are of an integer type.
    """

    column: Column
    values: Any
    is_integer: bool = False

    def in_cycle(self, cycle: str) -> Self:
        """Dates as their position in a cycle: the time of day, the weekday or the month.

        Parameters
        ----------
        cycle : {"day", "week", "year"}

        Returns
        -------
        ColumnValues
            Times of day, or names of weekdays or months.
        """
        kind = ColumnKind.TIME if cycle == "day" else ColumnKind.CATEGORY
        return replace(
            self,
            column=replace(self.column, kind=kind),
            values=position_in_cycle(cycle, self.values),
        )
