"""An encoded column."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Feature:
    """An encoded column.

    Attributes
    ----------
    name : str
    source : str
        The column of the table that it comes from.
    cycle : {"day", "week", "year"} or None
        The cycle of a date that it is a position in.
    """

    name: str
    source: str
    cycle: str | None = None
