"""A table to read and to compute with."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

Format = str | Callable[[Any], str]


@dataclass(frozen=True, eq=False)
class Table:
    """A table of a report.

    Attributes
    ----------
    name : str
        File name; blanks become underscores.
    title : str
    note : str
        How to read it.
    data : pandas.DataFrame
        The index is the first column.
    formats : dict
        How to write the values of a column: a format such as "+.4f", or a function. Other columns
        are written as they are; missing values stay empty.
    shown : pandas.DataFrame, optional
        What to show in place of the data.
    totals : pandas.DataFrame, optional
        Rows below the data that sum it up.

    Examples
    --------
    >>> import pandas as pd
    >>> from ctad.evaluation.report import Table
    >>> data = pd.DataFrame({"gain": [0.0312]}, index=pd.Index(["KNN"], name="detector"))
    >>> print("\\n".join(Table("gains", "Gains", "", data, {"gain": "+.2f"}).markdown()))
    | detector | gain |
    | --- | --- |
    | KNN | +0.03 |
    """

    name: str
    title: str
    note: str
    data: pd.DataFrame
    formats: dict[str, Format] = field(default_factory=dict)
    shown: pd.DataFrame | None = None
    totals: pd.DataFrame | None = None

    @property
    def n_totals(self) -> int:
        """The number of rows that sum up the others."""
        return 0 if self.totals is None else len(self.totals)

    def whole(self) -> pd.DataFrame:
        """The data and the rows that sum it up."""
        if self.totals is None:
            return self.data
        return pd.concat([self.data, self.totals]).rename_axis(self.data.index.name)

    def as_text(self) -> pd.DataFrame:
        """All values as they are shown."""
        data = self.whole() if self.shown is None else self.shown
        return pd.DataFrame(
            {
                column: [_text(value, self.formats.get(column)) for value in data[column]]
                for column in data
            },
            index=data.index.set_names(self.data.index.name),
        )

    def markdown(self) -> list[str]:
        """The lines of the table in Markdown."""
        shown = self.as_text()
        rows = [[str(shown.index.name), *shown], ["---"] * (shown.shape[1] + 1)]
        rows += [[str(name), *row] for name, *row in shown.itertuples(name=None)]
        return [f"| {' | '.join(_in_a_cell(text) for text in row)} |" for row in rows]


def file_stem(name: str) -> str:
    """The name of a file, without its suffix."""
    return name.replace(" ", "_")


def _text(value: Any, how: Format | None) -> str:
    if pd.isna(value):
        return ""
    if callable(how):
        return how(value)
    return str(value) if how is None else format(value, how)


def _in_a_cell(text: str) -> str:
    """Text as Markdown shows it, whatever it contains."""
    marks = re.compile(r"[|`]|<(?=[A-Za-z/!?])|(?<=\])\(")  # of code, tags and links
    return marks.sub(lambda mark: f"\\{mark[0]}", text).replace("\n", "<br>")
