"""Tables in files: found, read and written in batches, sampled in one pass."""

from ._dialect import Dialect
from ._error import TableError
from ._finding import STANDARD_STREAM, TableFile, find_tables, format_of_suffix
from ._labels import anomalies, require_both_kinds
from ._reading import Place, TableReader, open_table
from ._reservoir import Reservoir
from ._types import convert, infer_types, with_types
from ._writing import TableWriter, create_table

__all__ = [
    "STANDARD_STREAM",
    "Dialect",
    "Place",
    "Reservoir",
    "TableError",
    "TableFile",
    "TableReader",
    "TableWriter",
    "anomalies",
    "convert",
    "create_table",
    "find_tables",
    "format_of_suffix",
    "infer_types",
    "open_table",
    "require_both_kinds",
    "with_types",
]
