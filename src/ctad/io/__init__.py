"""Tables in files: found, read, sampled, scored and written in batches."""

from ._column_types import convert, infer_types, with_types
from ._csv_dialect import Dialect
from ._errors import TableError
from ._labels import anomalies, require_both_kinds
from ._reader import Place, TableReader, open_table
from ._sampling import Reservoir
from ._scoring import (
    SCORE_COLUMNS,
    Model,
    Progress,
    Summary,
    score_batches,
    score_file,
    score_folder,
    score_table,
)
from ._table_files import STANDARD_STREAM, TableFile, find_tables, format_of_suffix
from ._writer import TableWriter, create_table

__all__ = [
    "SCORE_COLUMNS",
    "STANDARD_STREAM",
    "Dialect",
    "Model",
    "Place",
    "Progress",
    "Reservoir",
    "Summary",
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
    "score_batches",
    "score_file",
    "score_folder",
    "score_table",
    "with_types",
]
