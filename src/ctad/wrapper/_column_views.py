"""The values of columns in words: of new rows, of training rows and of reference rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from .._types import Floats, Rows
from ..tables import ColumnValues, ValueFormatter
from ._input import InputConverter

# The name of a date's aspect, by the cycle that a feature is a position in.
ASPECTS = {None: "", "day": "time of day", "week": "day of the week", "year": "month"}


@dataclass(frozen=True, eq=False)
class ColumnView:
    """A column of the table, or an aspect of it such as the time of day.

    Attributes
    ----------
    features : sequence of int
        The features of a numeric row that belong to it.
    aspect : str
        "" for the column itself.
    new, references : array
        Its values in new rows and in reference rows.
    training : ColumnValues
        Its values in training rows.
    """

    features: Sequence[int]
    aspect: str
    new: Any
    references: Any
    training: ColumnValues

    @cached_property
    def formatter(self) -> ValueFormatter:
        """Formats values, and knows the usual ones in training."""
        return ValueFormatter(self.training.column.kind, self.training.values)

    @property
    def usual(self) -> str:
        """The usual values in training, in words."""
        return self.formatter.usual

    def value(self, row: int) -> str:
        """The value in a new row, in words."""
        return self._in_words(self.new[row])

    def reference(self, number: int) -> str:
        """The value in a reference row, in words."""
        return self._in_words(self.references[number])

    def _in_words(self, value: Any) -> str:
        return f"{self.aspect} {self.formatter.format(value)}".strip()


def column_views(
    converter: InputConverter, X: Any, rows: Rows, training_sample: Floats, references: Floats
) -> list[list[ColumnView]]:
    """The views of each column in use: one, or one per aspect of a date.

    Parameters
    ----------
    converter : InputConverter
    X : array-like or data frame of shape (n, D)
        New rows.
    rows, training_sample, references : ndarray of shape (n, features), (m, features), (M, features)
        New rows, training rows and reference rows, numeric.
    """
    features: dict[str, dict[str | None, list[int]]] = {}  # by column and cycle
    sources_and_cycles = zip(converter.feature_sources, converter.feature_cycles, strict=True)
    for feature, (source, cycle) in enumerate(sources_and_cycles):
        features.setdefault(source, {}).setdefault(cycle, []).append(feature)
    columns = zip(
        converter.column_values(X, rows),
        converter.decoded(training_sample),
        converter.decoded(references),
        strict=True,
    )
    return [
        [
            _view(places, cycle, (new, sample, known))
            for cycle, places in features.get(sample.column.name, {}).items()
        ]
        for new, sample, known in columns
    ]


def _view(
    features: Sequence[int],
    cycle: str | None,
    columns: tuple[ColumnValues, ColumnValues, ColumnValues],
) -> ColumnView:
    new, sample, references = columns
    if cycle is not None:
        new, sample, references = (column.in_cycle(cycle) for column in columns)
    return ColumnView(features, ASPECTS[cycle], new.values, references.values, sample)
