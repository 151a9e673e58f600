"""Data frames with mixed columns, as numbers."""

from ._columns import Column, ColumnKind, ColumnValues
from ._encoder import TableEncoder, most_features
from ._feature import Feature
from ._formatting import ValueFormatter
from ._numeric_columns import numeric_columns

__all__ = [
    "Column",
    "ColumnKind",
    "ColumnValues",
    "Feature",
    "TableEncoder",
    "ValueFormatter",
    "most_features",
    "numeric_columns",
]
