"""Features of numbers, dates, times of day and booleans: missing values are filled and flagged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import StandardScaler

from .._quoting import listed, quoted
from .._types import Floats
from .._warnings import warn_user
from ..errors import InputError
from ._columns import Column, ColumnKind, ColumnValues
from ._feature import Feature

# The kinds whose values have an order.
ORDERED = (ColumnKind.NUMBER, ColumnKind.DATE, ColumnKind.ZONED_DATE, ColumnKind.TIME)


class NumericFeatures:
    """One feature per column, and one "is missing" where training rows had missing values.

    Parameters
    ----------
    columns : sequence of Column
    imputer : SimpleImputer
        Fitted, with `add_indicator`.
    scaler : StandardScaler or None
        Fitted to the filled columns; None: no scaling.
    """

    def __init__(self, columns: Sequence[Column], imputer: Any, scaler: Any = None) -> None:
        self.columns = columns
        self.imputer = imputer
        self.scaler = scaler

    @classmethod
    def fitted(
        cls,
        columns: Sequence[Column],
        values: Mapping[str, ColumnValues],
        *,
        strategy: str,
        scaled: bool = False,
    ) -> Self:
        """Fit to training rows; `strategy` is that of `SimpleImputer`."""
        matrix = _matrix(columns, values)
        imputer = SimpleImputer(strategy=strategy, add_indicator=True).fit(matrix)
        scaler = None
        if scaled:
            scaler = StandardScaler().fit(imputer.transform(matrix)[:, : len(columns)])
        return cls(columns, imputer, scaler)

    def features(self) -> list[Feature]:
        """The features that `transform` gives."""
        features = [Feature(column.name, column.name) for column in self.columns]
        flagged = [self.columns[i].name for i in self.imputer.indicator_.features_]
        return features + [_is_missing(name) for name in flagged]

    def transform(self, values: Mapping[str, ColumnValues]) -> Floats:
        """Encode rows."""
        matrix = _matrix(self.columns, values)
        self._warn_of_missing_values(matrix)
        encoded: Floats = self.imputer.transform(matrix)
        if self.scaler is not None:
            n = len(self.columns)
            encoded[:, :n] = self.scaler.transform(encoded[:, :n])
        return encoded

    def decode(self, encoded: Mapping[Feature, Floats], n_rows: int) -> dict[Column, Floats]:
        """The values of each column; `encoded` has the features that are in use."""
        decoded = {}
        for place, column in enumerate(self.columns):
            numbers = encoded.get(Feature(column.name, column.name))
            if numbers is None:  # constant but for missing values, so it is not in use
                numbers = np.full(n_rows, self.imputer.statistics_[place])
            elif self.scaler is not None:
                numbers = numbers * self.scaler.scale_[place] + self.scaler.mean_[place]
            missing = encoded.get(_is_missing(column.name), np.zeros(n_rows))
            decoded[column] = np.where(missing > 0.5, np.nan, numbers * column.kind.unit)
        return decoded

    def _warn_of_missing_values(self, matrix: Floats) -> None:
        with_missing = np.flatnonzero(np.isnan(matrix).any(axis=0))
        unexpected = np.setdiff1d(with_missing, self.imputer.indicator_.features_)
        if len(unexpected):
            names = listed(quoted(self.columns[i].name) for i in unexpected)
            warn_user(
                f"missing values in {names}, where training rows had none, are filled with the "
                "usual value, so these rows may look more normal than they are."
            )


def check_finite(read: ColumnValues) -> None:
    """Raise if a number or date is infinite."""
    if read.column.kind in ORDERED:
        infinite = np.isinf(read.values)
        if infinite.any():
            raise InputError(
                f"column {read.column.name!r} is infinite in row {int(infinite.argmax())} "
                f"({infinite.sum()} of {len(infinite)} rows): drop these rows"
            )


def _matrix(columns: Sequence[Column], values: Mapping[str, ColumnValues]) -> Floats:
    for column in columns:
        check_finite(values[column.name])
    return np.column_stack([values[column.name].values / column.kind.unit for column in columns])


def _is_missing(name: str) -> Feature:
    return Feature(f"{name} is missing", name)
