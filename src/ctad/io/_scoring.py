"""Scoring of tables on one machine: in memory, from file to file, from folder to folder."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pyarrow as pa

from .._frames import check_has_columns
from .._result_types import ScoreParts
from .._untrusted_files import check_inside
from ..errors import InputError
from ._column_types import convert_text
from ._errors import TableError
from ._journal import Journal
from ._read_options import DEFAULT_OPTIONS, ReadOptions
from ._reading import open_table, step_text
from ._table_files import TableFile
from ._table_reader import Batch, TableReader
from ._writer import create_table

# The last one needs a model with normal rows held out of training.
SCORE_COLUMNS = ("ctad_base_score", "ctad_delta", "ctad_score", "ctad_p_value")


class ScoringModel(Protocol):
    """What scoring needs from a model, such as a `CalibratedDetector` trained on a table."""

    @property
    def has_p_values(self) -> bool:
        """Whether scores come with p-values."""

    def column_types(self) -> pa.Schema:
        """The columns it needs, and their types."""

    def score_parts(self, X: pa.Table) -> ScoreParts:
        """The scores of the rows."""


@dataclass(frozen=True)
class ScoringSummary:
    """How much was scored.

    Attributes
    ----------
    rows, files : int
        Scored in this call.
    kept : int
        Files that an earlier call had finished.
    """

    rows: int
    files: int
    kept: int = 0


def score_table(model: ScoringModel, table: pa.Table) -> pa.Table:
    """Score the rows of a table.

    Parameters
    ----------
    model : CalibratedDetector
        Trained on a table.
    table : pyarrow.Table

    Returns
    -------
    pyarrow.Table
        The table with the columns `ctad_base_score`, `ctad_delta`, `ctad_score` added, and
        `ctad_p_value` if the model gives p-values. Existing columns of these names are replaced.

    Examples
    --------
    >>> import numpy as np
    >>> import pyarrow as pa
    >>> from sklearn.ensemble import IsolationForest
    >>> from ctad import CalibratedDetector
    >>> from ctad.io import score_table
    >>> x = np.random.default_rng(0).normal(size=200)
    >>> table = pa.table({"x": x, "y": x[::-1]})
    >>> model = CalibratedDetector(IsolationForest(), random_state=0).fit(table)
    >>> score_table(model, table).column_names
    ['x', 'y', 'ctad_base_score', 'ctad_delta', 'ctad_score']
    """
    return _with_scores(table, model.score_parts(_input_columns(table)))


def score_batch(model: ScoringModel, batch: Batch, *, as_text: bool = True) -> pa.Table:
    """Score some rows of a table file.

    Parameters
    ----------
    model : CalibratedDetector
        Trained on a table.
    batch : Batch
        From `read_tables`.
    as_text : bool, default=True
        Whether the columns of a CSV stay text. False: those that the model uses get its types.

    Returns
    -------
    pyarrow.Table
        The rows with the columns that `score_table` adds. Errors name the file.
    """
    types = model.column_types()
    try:
        typed = batch.with_types(types)
        parts = model.score_parts(_input_columns(typed))
    except TableError:
        raise
    except InputError as error:
        part = f", from row {batch.first_row + 1:,} on" if batch.first_row else ""
        raise TableError(f"{batch.file}{part}: {error}") from error
    return _with_scores(batch.rows if as_text else typed, parts)


def score_file(
    model: ScoringModel,
    source: TableFile,
    target: str | Path,
    options: ReadOptions = DEFAULT_OPTIONS,
) -> ScoringSummary:
    """Score a file into another, which appears when it is complete.

    While a batch is scored, the next one is read and the one before is written.

    Parameters
    ----------
    model : CalibratedDetector
        Trained on a table.
    source : TableFile
        From `find_tables`.
    target : str or path
        Its suffix determines the format; "-" is a CSV on standard output.
    options : ReadOptions
        They do not change the scores.

    Returns
    -------
    ScoringSummary
    """
    return _score_file(model, source, target, None, options, step_text("Scoring", source, 1, 1))


def score_folder(
    model: ScoringModel,
    sources: Sequence[TableFile],
    target: str | Path,
    options: ReadOptions = DEFAULT_OPTIONS,
    *,
    model_sha256: str,
) -> ScoringSummary:
    """Score files into a folder, under the same names and in the same formats.

    Files that an earlier call finished are kept if neither they nor the model nor the input
    changed since. So after an error or a kill, the same call goes on with the rest. The file
    `.ctad-scored.json` in the folder lists the finished files.

    Parameters
    ----------
    model : CalibratedDetector
        Trained on a table.
    sources : sequence of TableFile
        From `find_tables`.
    target : str or path
        The folder; it is created if needed. It must not be, contain or be inside a folder that
        was searched for `sources`.
    options : ReadOptions
    model_sha256 : str
        Distinguishes this model from others: the checksum of its file.

    Returns
    -------
    ScoringSummary
    """
    folder = Path(target)
    _refuse_nested_folders(sources, folder)
    folder.mkdir(parents=True, exist_ok=True)
    journal = Journal(
        folder,
        {
            "model_sha256": model_sha256,
            "encoding": options.encoding,
            "delimiter": options.delimiter,
        },
    )
    rows = files = kept = 0
    for number, source in enumerate(sources, start=1):
        if journal.is_finished(source):
            kept += 1
            continue
        entry = journal.entry(source)
        output = folder / source.name
        check_inside(output, folder)  # the folder may come from somebody else
        output.parent.mkdir(parents=True, exist_ok=True)
        doing = step_text("Scoring", source, number, len(sources))
        summary = _score_file(model, source, output, source.format, options, doing)
        journal.add(source, entry)
        rows += summary.rows
        files += 1
    return ScoringSummary(rows, files, kept)


def _score_file(
    model: ScoringModel,
    source: TableFile,
    target: str | Path,
    target_format: str | None,
    options: ReadOptions,
    doing: str,
) -> ScoringSummary:
    rows = 0
    with (
        open_table(source, options) as reader,
        create_table(target, reader.dialect, file_format=target_format) as writer,
        ThreadPoolExecutor(max_workers=1) as pool,
    ):
        writer.open(_scored_schema(model, reader, as_text=writer.is_text))
        writing: Future[None] | None = None
        for batch in reader.batches(doing):
            scored = score_batch(model, batch, as_text=writer.is_text)
            if writing is not None:
                writing.result()
            writing = pool.submit(writer.write, scored)
            rows += scored.num_rows
        if writing is not None:
            writing.result()
    return ScoringSummary(rows, files=1)


def _input_columns(table: pa.Table) -> pa.Table:
    return table.select([name for name in table.column_names if name not in SCORE_COLUMNS])


def _with_scores(table: pa.Table, parts: ScoreParts) -> pa.Table:
    scored = _input_columns(table)
    columns = (parts.base_score, parts.delta, parts.score, parts.p_value)
    for name, values in zip(SCORE_COLUMNS, columns, strict=True):
        if values is not None:
            scored = scored.append_column(name, pa.array(values, pa.float64()))
    return scored


def _scored_schema(model: ScoringModel, reader: TableReader, *, as_text: bool) -> pa.Schema:
    """The columns of the output, which must be known before there are rows."""
    empty = reader.schema.empty_table()
    try:  # also if there are no rows
        check_has_columns(empty.column_names, model.column_types().names)
    except InputError as error:
        raise TableError(f"{reader.file}: {error}") from error
    if reader.dialect is not None and not as_text:
        empty = convert_text(empty, model.column_types(), reader.dialect)
    schema = _input_columns(empty).schema
    for name in SCORE_COLUMNS if model.has_p_values else SCORE_COLUMNS[:-1]:
        schema = schema.append(pa.field(name, pa.float64()))
    return schema


def _refuse_nested_folders(sources: Sequence[TableFile], folder: Path) -> None:
    """Raise if outputs would replace inputs, or be found as inputs by the next call."""
    output = folder.resolve()
    for source in sources:
        searched = None if source.root is None else source.root.resolve()
        nested = searched is not None and (
            output.is_relative_to(searched) or searched.is_relative_to(output)
        )
        if nested or source.path.resolve() == output / source.name:
            raise TableError(
                f"{folder}: the output folder must not be the input folder, nor be inside it or "
                "contain it. Choose another one."
            )
