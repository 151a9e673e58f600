"""Features of text and categories: one per value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.preprocessing import OneHotEncoder

from .._types import Floats
from ._columns import Column, ColumnKind, ColumnValues
from ._feature import Feature

Objects = npt.NDArray[np.object_]


class Rare(str):
    """Stands for all values without a feature of their own."""


RARE = Rare("rare")


class CategoryFeatures:
    """A feature of 0 and 1 per value. A missing value is a value. Rare values share one feature.

    Parameters
    ----------
    columns : sequence of Column
    encoder : OneHotEncoder
        Fitted.
    """

    def __init__(self, columns: Sequence[Column], encoder: Any) -> None:
        self.columns = columns
        self.encoder = encoder

    @classmethod
    def fitted(
        cls, columns: Sequence[Column], values: Mapping[str, ColumnValues], *, min_rows: int
    ) -> Self:
        """Fit to training rows; values of fewer than `min_rows` rows are rare."""
        encoder = OneHotEncoder(
            handle_unknown="infrequent_if_exist", min_frequency=min_rows, sparse_output=False
        )
        return cls(columns, encoder.fit(_matrix(columns, values)))

    def features(self) -> list[Feature]:
        """The features that `transform` gives."""
        return [
            _feature(column.name, value)
            for column in self.columns
            for value in self._values(column)
        ]

    def transform(self, values: Mapping[str, ColumnValues]) -> Floats:
        """Encode rows."""
        encoded: Floats = self.encoder.transform(_matrix(self.columns, values))
        return encoded

    def decode(self, column: Column, encoded: Mapping[Feature, Floats], n_rows: int) -> Objects:
        """The values of a column; "rare" for those without a feature of their own."""
        decoded = np.full(n_rows, RARE, dtype=object)
        for value in self._values(column):
            decoded[encoded[_feature(column.name, value)] > 0.5] = value
        return decoded

    def _values(self, column: Column) -> list[Any]:
        """The values of a column with a feature of their own, and `RARE` if there are others."""
        index = self.columns.index(column)
        rare = self.encoder.infrequent_categories_[index]
        rare = () if rare is None else rare
        frequent = [value for value in self.encoder.categories_[index] if value not in rare]
        return frequent + ([RARE] if len(rare) else [])


def _matrix(columns: Sequence[Column], values: Mapping[str, ColumnValues]) -> Objects:
    read = [values[column.name] for column in columns]
    return np.column_stack(
        [
            np.full(len(each.values), None) if each.column.kind == ColumnKind.EMPTY else each.values
            for each in read
        ]
    )


def _feature(name: str, value: Any) -> Feature:
    if value is RARE:
        return Feature(f"{name} is rare", name)
    return Feature(f"{name} is missing" if value is None else f"{name}={value}", name)
