"""The values of columns in words: of new rows, of training rows and of reference rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .._types import Floats, Rows
from ..tables import in_words, place_in_cycle, spread_of, usual_in_words
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
    kind : str
        The kind of its values, as `ctad.tables` has it.
    new, references : array
        Its values in new rows and in reference rows.
    usual : str
        Its usual values in training, in words.
    spread : float
        How far apart values are; decides on the number of digits.
    """

    features: Sequence[int]
    aspect: str
    kind: str
    new: Any
    references: Any
    usual: str
    spread: float

    def value(self, row: int) -> str:
        """The value in a new row, in words."""
        return self._in_words(self.new[row])

    def reference(self, number: int) -> str:
        """The value in a reference row, in words."""
        return self._in_words(self.references[number])

    def _in_words(self, value: Any) -> str:
        return f"{self.aspect} {in_words(self.kind, value, self.spread)}".strip()


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
    features = list(zip(converter.feature_sources, converter.feature_cycles, strict=True))
    columns = zip(
        converter.column_values(X, rows),
        converter.decoded(training_sample),
        converter.decoded(references),
        strict=True,
    )
    views = []
    for new, sample, known in columns:
        name = sample.column.name
        cycles = dict.fromkeys(cycle for source, cycle in features if source == name)
        views.append(
            [
                _view(
                    [i for i, feature in enumerate(features) if feature == (name, cycle)],
                    cycle,
                    sample.column.kind,
                    (new.values, sample.values, known.values),
                )
                for cycle in cycles
            ]
        )
    return views


def _view(
    features: Sequence[int], cycle: str | None, kind: str, values: tuple[Any, Any, Any]
) -> ColumnView:
    if cycle is not None:
        placed = [place_in_cycle(cycle, part) for part in values]
        kind = placed[0][0]
        values = (placed[0][1], placed[1][1], placed[2][1])
    new, sample, references = values
    return ColumnView(
        features,
        ASPECTS[cycle],
        kind,
        new,
        references,
        usual_in_words(kind, sample),
        spread_of(kind, sample),
    )
