"""Engines: the same batch function wherever the rows are."""

from ._local import (
    Model,
    Progress,
    Summary,
    score_batches,
    score_file,
    score_folder,
    score_table,
)

__all__ = [
    "Model",
    "Progress",
    "Summary",
    "score_batches",
    "score_file",
    "score_folder",
    "score_table",
]
