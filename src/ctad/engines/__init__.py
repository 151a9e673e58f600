"""Engines: the same batch function wherever the rows are."""

from ._local import (
    SCORE_COLUMNS,
    Model,
    Progress,
    Summary,
    score_batches,
    score_file,
    score_folder,
    score_table,
)

__all__ = [
    "SCORE_COLUMNS",
    "Model",
    "Progress",
    "Summary",
    "score_batches",
    "score_file",
    "score_folder",
    "score_table",
]
