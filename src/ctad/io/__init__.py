"""Tables in files: found, read, sampled, scored and written in batches."""

from ._column_types import with_inferred_types
from ._csv_dialect import CsvDialect
from ._errors import TableError
from ._labels import LabelColumn
from ._read_options import ReadOptions
from ._reading import open_table, read_tables
from ._sampling import RowSample
from ._scoring import (
    SCORE_COLUMNS,
    ScoringModel,
    ScoringSummary,
    score_batch,
    score_file,
    score_folder,
    score_table,
)
from ._table_files import TableFile, find_tables, format_of_suffix
from ._table_reader import Batch, TableReader

__all__ = [
    "SCORE_COLUMNS",
    "Batch",
    "CsvDialect",
    "LabelColumn",
    "ReadOptions",
    "RowSample",
    "ScoringModel",
    "ScoringSummary",
    "TableError",
    "TableFile",
    "TableReader",
    "find_tables",
    "format_of_suffix",
    "open_table",
    "read_tables",
    "score_batch",
    "score_file",
    "score_folder",
    "score_table",
    "with_inferred_types",
]
