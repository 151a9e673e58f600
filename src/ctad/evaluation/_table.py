"""A table to look at and to compute with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

Format = Callable[[Any], str]


@dataclass(frozen=True)
class Table:
    """A table of the study.

    Attributes
    ----------
    name : str
        Of its file.
    title : str
    note : str
        What one needs to know to read it.
    data : pandas.DataFrame
        The index is the first column.
    formats : dict
        How the values of a column are written; others as they are.
    shown : pandas.DataFrame, optional
        What to show, if it is not the data.
    totals : pandas.DataFrame, optional
        Rows that sum up the others.
    """

    name: str
    title: str
    note: str
    data: pd.DataFrame
    formats: dict[str, Format] = field(default_factory=dict)
    shown: pd.DataFrame | None = None
    totals: pd.DataFrame | None = None

    def whole(self) -> pd.DataFrame:
        """The data, then the rows that sum it up."""
        if self.totals is None:
            return self.data
        return pd.concat([self.data, self.totals]).rename_axis(self.data.index.name)

    def as_text(self) -> pd.DataFrame:
        """All values as they are shown."""
        data = self.whole() if self.shown is None else self.shown
        return pd.DataFrame(
            {column: data[column].map(self.formats.get(column, plain)) for column in data},
            index=data.index.set_names(self.data.index.name),
        )


def plain(value: Any) -> str:
    """As it is; nothing for what is missing."""
    return "" if pd.isna(value) else str(value)


def digits(number: int, *, signed: bool = False) -> Format:
    """A format with so many digits after the point; nothing for what is missing."""
    return lambda value: "" if pd.isna(value) else f"{value:{'+' if signed else ''}.{number}f}"


def p_value(value: float) -> str:
    """Four digits, or the power of ten where these would be zeros."""
    if pd.isna(value):
        return ""
    return f"{value:.4f}" if value >= 0.0001 else f"{value:.0e}"
