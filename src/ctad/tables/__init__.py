"""Data frames with mixed columns, as numbers."""

from ._columns import (
    Column,
    in_library,
    is_table,
    library_of,
    plain_numbers,
    require_columns,
)
from ._encoder import Feature, TableEncoder, arrow_schema

__all__ = [
    "Column",
    "Feature",
    "TableEncoder",
    "arrow_schema",
    "in_library",
    "is_table",
    "library_of",
    "plain_numbers",
    "require_columns",
]
