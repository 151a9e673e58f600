"""Data frames with mixed columns, as numbers."""

from ._columns import (
    NUMBER,
    Column,
    Values,
    in_library,
    is_table,
    library_of,
    new_table,
    plain_numbers,
    require_columns,
    rows_at,
)
from ._encoder import Feature, TableEncoder, arrow_schema
from ._formatting import in_words, place_in_cycle, spread_of, usual_in_words

__all__ = [
    "NUMBER",
    "Column",
    "Feature",
    "TableEncoder",
    "Values",
    "arrow_schema",
    "in_library",
    "in_words",
    "is_table",
    "library_of",
    "new_table",
    "place_in_cycle",
    "plain_numbers",
    "require_columns",
    "rows_at",
    "spread_of",
    "usual_in_words",
]
