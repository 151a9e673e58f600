"""Features of dates and times of day: sine and cosine of their positions in cycles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from sklearn.impute import SimpleImputer

from .._types import Floats
from ._calendar_cycles import sine_and_cosine
from ._columns import Column, ColumnValues
from ._feature import Feature


class DateFeatures:
    """Sine and cosine of the time of day, the day of the week and the season.

    Parameters
    ----------
    columns : sequence of Column
    imputer : SimpleImputer
        Fitted; fills missing values with the mean.
    """

    def __init__(self, columns: Sequence[Column], imputer: Any) -> None:
        self.columns = columns
        self.imputer = imputer

    @classmethod
    def fitted(cls, columns: Sequence[Column], values: Mapping[str, ColumnValues]) -> Self:
        """Fit to training rows."""
        return cls(columns, SimpleImputer(strategy="mean").fit(_matrix(columns, values)))

    def features(self) -> list[Feature]:
        """The features that `transform` gives."""
        return [
            Feature(f"{column.name}: {function} of {cycle}", column.name, cycle)
            for column in self.columns
            for cycle in column.kind.cycles
            for function in ("sine", "cosine")
        ]

    def transform(self, values: Mapping[str, ColumnValues]) -> Floats:
        """Encode rows."""
        encoded: Floats = self.imputer.transform(_matrix(self.columns, values))
        return encoded


def _matrix(columns: Sequence[Column], values: Mapping[str, ColumnValues]) -> Floats:
    return np.column_stack(
        [
            part
            for column in columns
            for cycle in column.kind.cycles
            for part in sine_and_cosine(cycle, values[column.name].values)
        ]
    )
