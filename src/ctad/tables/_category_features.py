"""Features of text and categories: one per value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
            _feature(column.name, value) for column, values in self._values() for value in values
        ]

    def transform(self, values: Mapping[str, ColumnValues]) -> Floats:
        """Encode rows."""
        encoded: Floats = self.encoder.transform(_matrix(self.columns, values))
        return encoded

    def decode(self, encoded: Mapping[Feature, Floats], n_rows: int) -> dict[Column, Objects]:
        """The values of each column; "rare" for those without a feature of their own."""
        decoded = {}
        for column, values in self._values():
            decoded[column] = np.full(n_rows, RARE, dtype=object)
            for value in values:
                decoded[column][encoded[_feature(column.name, value)] > 0.5] = value
        return decoded

    def _values(self) -> Iterator[tuple[Column, list[Any]]]:
        """The values of each column with a feature of their own, and `RARE` if there are others."""
        known_and_rare = zip(
            self.encoder.categories_, self.encoder.infrequent_categories_, strict=True
        )
        for column, (known, found) in zip(self.columns, known_and_rare, strict=True):
            rare = set(() if found is None else found)
            frequent = [value for value in known if value not in rare]
            yield column, frequent + ([RARE] if rare else [])


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
