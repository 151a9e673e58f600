"""Scoring of tables on one machine: in memory, from file to file, from folder to folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple, Protocol

import pyarrow as pa

from .._result_types import ScoreParts
from ._column_types import convert
from ._csv_dialect import Dialect
from ._errors import TableError
from ._journal import Journal
from ._reader import Place, TableReader, open_table
from ._table_files import TableFile
from ._writer import create_table

# The last only if the model has normal rows held out of training.
SCORE_COLUMNS = ("ctad_base_score", "ctad_delta", "ctad_score", "ctad_p_value")


class Model(Protocol):
    """What can score tables: a `CalibratedDetector` that was trained on one."""

    @property
    def has_p_values(self) -> bool:
        """Whether scores come with p-values."""

    def column_types(self) -> pa.Schema:
        """The columns it needs, and their types."""

    def score_parts(self, X: pa.Table) -> ScoreParts:
        """The scores of the rows."""


class Progress(NamedTuple):
    """How far the scoring of a file is.

    Attributes
    ----------
    file : TableFile
    rows : int
        Rows scored.
    done, total : int, int or None
        In `unit`, "rows" or "bytes"; None if the total cannot be known.
    unit : str
    """

    file: TableFile
    rows: int
    done: int
    total: int | None
    unit: str


class Summary(NamedTuple):
    """What was scored.

    Attributes
    ----------
    rows, files : int
        Scored by this call.
    kept : int
        Files that were finished before.
    """

    rows: int
    files: int
    kept: int = 0


Watch = Callable[[Progress], object]


def score_table(
    model: Model,
    table: pa.Table,
    *,
    dialect: Dialect | None = None,
    where: str | Place = "the table",
    as_text: bool = True,
) -> pa.Table:
    """Score the rows of a table.

    Parameters
    ----------
    model : CalibratedDetector
        Trained on a table.
    table : pyarrow.Table
    dialect : Dialect, optional
        Of the CSV the rows are from: then the model sees numbers and dates where it needs
        them instead of text.
    where : str or Place
        What to call the table if its text is not a number or date.
    as_text : bool, default=True
        Whether the columns of a CSV stay text in the result; else those that the model knows
        have its types.

    Returns
    -------
    pyarrow.Table
        The table given, with the columns `ctad_base_score`, `ctad_delta`, `ctad_score` added, and
        `ctad_p_value` if the model gives p-values. If it has such columns, they are replaced.

    Examples
    --------
    >>> import numpy as np
    >>> import pyarrow as pa
    >>> from sklearn.ensemble import IsolationForest
    >>> from ctad import CalibratedDetector
    >>> x = np.random.default_rng(0).normal(size=200)
    >>> table = pa.table({"x": x, "y": x[::-1]})
    >>> model = CalibratedDetector(IsolationForest(), random_state=0).fit(table)
    >>> score_table(model, table).column_names
    ['x', 'y', 'ctad_base_score', 'ctad_delta', 'ctad_score']
    """
    types = model.column_types()
    table = table.select(_input_columns(table.schema))
    typed = table if dialect is None else convert(table, types, dialect, where)
    scored = table if as_text else typed
    parts = model.score_parts(typed)
    columns = (parts.base_score, parts.delta, parts.score, parts.p_value)
    for name, values in zip(SCORE_COLUMNS, columns, strict=True):
        if values is not None:
            scored = scored.append_column(name, pa.array(values, pa.float64()))
    return scored


def score_batches(model: Model, reader: TableReader, *, as_text: bool = True) -> Iterator[pa.Table]:
    """Score a table batch by batch; the next one is read meanwhile.

    Parameters
    ----------
    model : CalibratedDetector
        Trained on a table.
    reader : TableReader
        As `open_table` gives it.
    as_text : bool, default=True
        As for `score_table`.

    Yields
    ------
    pyarrow.Table
        As `score_table` gives it.
    """
    rows = 0
    pool = ThreadPoolExecutor(max_workers=1)
    try:
        for batch in _read_ahead(reader, pool):
            place = Place(reader.file, reader.dialect, rows)
            try:
                yield score_table(
                    model, batch, dialect=reader.dialect, where=place, as_text=as_text
                )
            except TableError:
                raise
            except (TypeError, ValueError) as error:
                part = f", from row {rows + 1:,} on" if rows else ""
                raise TableError(f"{reader.file}{part}: {error}") from error
            rows += batch.num_rows
    finally:
        pool.shutdown(wait=not reader.is_piped)


def score_file(
    model: Model,
    source: TableFile,
    target: str | Path,
    *,
    target_format: str | None = None,
    batch_rows: int | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    progress: Watch | None = None,
) -> Summary:
    """Score a file into another, which appears when it is complete.

    While a batch is scored, the next one is read and the one before is written.

    Parameters
    ----------
    model : CalibratedDetector
    source : TableFile
    target : str or path
        The suffix says the format; "-" is a CSV on standard output.
    target_format : str, optional
        Instead of what the suffix says; see `create_table`.
    batch_rows : int, optional
        Rows to read at a time; see `open_table`. It does not change the scores.
    encoding, delimiter : str, optional
        Of a CSV; None finds out.
    progress : function of a Progress, optional
        Called after every batch.

    Returns
    -------
    Summary
    """
    rows = 0
    with (
        open_table(source, batch_rows, encoding=encoding, delimiter=delimiter) as reader,
        create_table(target, reader.dialect, file_format=target_format) as writer,
        ThreadPoolExecutor(max_workers=1) as pool,
    ):
        writer.open(_scored_schema(model, reader, as_text=writer.is_text))
        writing: Future[None] | None = None
        for scored in score_batches(model, reader, as_text=writer.is_text):
            if writing is not None:
                writing.result()
            writing = pool.submit(writer.write, scored)
            rows += scored.num_rows
            if progress is not None:
                progress(Progress(source, rows, reader.done, reader.total, reader.unit))
        if writing is not None:
            writing.result()
    return Summary(rows, files=1)


def score_folder(
    model: Model,
    sources: Sequence[TableFile],
    target: str | Path,
    *,
    model_sha256: str,
    batch_rows: int | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    progress: Watch | None = None,
) -> Summary:
    """Score files into a folder, under the same names and in the same formats.

    Files that another call finished are kept, if neither they nor the model nor the input
    changed since: after an error or a kill, the same call goes on with the rest. What is
    finished is noted in the folder, in `.ctad-scored.json`.

    Parameters
    ----------
    model : CalibratedDetector
    sources : sequence of TableFile
        As `find_tables` gives them.
    target : str or path
        The folder; created if need be. It must not be, hold or be inside a searched folder.
    model_sha256 : str
        Tells this model from others: the checksum of its file.
    batch_rows, encoding, delimiter, progress
        As for `score_file`.

    Returns
    -------
    Summary
    """
    folder = Path(target)
    _keep_apart(sources, folder)
    folder.mkdir(parents=True, exist_ok=True)
    made_by = {"model_sha256": model_sha256, "encoding": encoding, "delimiter": delimiter}
    journal = Journal(folder, made_by)
    rows = files = kept = 0
    for source in sources:
        if journal.has(source):
            kept += 1
            continue
        entry = journal.entry(source)
        output = folder / source.name
        output.parent.mkdir(parents=True, exist_ok=True)
        summary = score_file(
            model,
            source,
            output,
            target_format=source.format,
            batch_rows=batch_rows,
            encoding=encoding,
            delimiter=delimiter,
            progress=progress,
        )
        journal.add(source, entry)
        rows += summary.rows
        files += 1
    return Summary(rows, files, kept)


def _read_ahead(reader: TableReader, pool: Executor) -> Iterator[pa.Table]:
    """The batches, each read while the one before is worked on."""
    batches = iter(reader)
    upcoming = pool.submit(next, batches, None)
    while (batch := upcoming.result()) is not None:
        upcoming = pool.submit(next, batches, None)
        yield batch


def _input_columns(schema: pa.Schema) -> list[str]:
    return [name for name in schema.names if name not in SCORE_COLUMNS]


def _scored_schema(model: Model, reader: TableReader, *, as_text: bool) -> pa.Schema:
    schema = reader.schema
    if reader.dialect is not None and not as_text:
        schema = convert(schema.empty_table(), model.column_types(), reader.dialect).schema
    fields = [schema.field(name) for name in _input_columns(schema)]
    added = SCORE_COLUMNS if model.has_p_values else SCORE_COLUMNS[:-1]
    fields += [pa.field(name, pa.float64()) for name in added]
    return pa.schema(fields, schema.metadata)


def _keep_apart(sources: Sequence[TableFile], folder: Path) -> None:
    """Raise if outputs would replace inputs, or be taken for inputs by the next call."""
    output = folder.resolve()
    for source in sources:
        searched = None if source.root is None else source.root.resolve()
        nested = searched is not None and (
            output.is_relative_to(searched) or searched.is_relative_to(output)
        )
        if nested or source.path.resolve() == output / source.name:
            raise TableError(
                f"{folder}: the output folder must be another than the input folder, neither "
                "inside it nor around it."
            )
