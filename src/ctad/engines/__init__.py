"""Engines: the same batch function wherever the rows are."""

from ._local import Progress, Summary, score_file, score_folder, score_table

__all__ = ["Progress", "Summary", "score_file", "score_folder", "score_table"]
