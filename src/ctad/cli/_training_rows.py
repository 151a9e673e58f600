"""Training rows from files: a uniform random sample of the rows not labelled anomalous."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from ..errors import InputError
from ..io import (
    SCORE_COLUMNS,
    CsvDialect,
    LabelColumn,
    ReadOptions,
    RowSample,
    TableError,
    find_tables,
    read_tables,
    with_inferred_types,
)
from ._console import CommandOutput

LABELS_SHOWN = 10


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """Rows to train on.

    Attributes
    ----------
    table : pyarrow.Table
    n_seen : int
        Rows in the files.
    n_anomalous : int
        Rows in the files that are labelled anomalous, which are left out.
    """

    table: pa.Table
    n_seen: int
    n_anomalous: int


def read_training_rows(
    where: str,
    reading: ReadOptions,
    out: CommandOutput,
    *,
    sample_rows: int,
    seed: int,
    label: LabelColumn | None = None,
) -> TrainingRows:
    """Read all rows, keep a sample, and infer the types of text columns."""
    sample = RowSample(sample_rows, seed)
    n_seen = n_anomalous = 0
    labels: set[str] = set()
    dialects: list[CsvDialect | None] = []
    for batch in read_tables(find_tables(where), reading):
        dialects = [*dialects[:1], batch.dialect]
        if len({_decimal_sign(dialect) for dialect in dialects}) > 1:
            raise TableError(
                f"{batch.file}: the files before it have another format (CSV or not) or another "
                "decimal sign. Train on files of one format."
            )
        rows = batch.rows
        n_seen += rows.num_rows
        if label is not None:
            is_anomaly = label.is_anomaly(rows, batch.file)
            n_anomalous += int(is_anomaly.sum())
            if len(labels) < LABELS_SHOWN:
                labels.update(pc.cast(rows[label.name], pa.string()).unique().to_pylist())
            rows = rows.filter(pa.array(~is_anomaly)).drop_columns([label.name])
        scores = [name for name in SCORE_COLUMNS if name in rows.column_names]
        if scores:
            out.note(f"not used: {', '.join(scores)}, which `ctad score` added.")
        try:
            sample.add(rows.drop_columns(scores))
        except TableError as error:
            raise TableError(f"{batch.file} does not match the files before it: {error}") from error
    if label is not None and label.anomalous is not None and not n_anomalous:
        listed = ", ".join(map(repr, sorted(labels)[:LABELS_SHOWN]))
        out.note(f"no row has the label {label.anomalous!r} in column {label.name!r}: {listed}.")
    if sample.n_seen < 2:
        raise TableError(
            f"{where}: {sample.n_seen} normal {'row is' if sample.n_seen == 1 else 'rows are'} too "
            "few to train on"
            + (f" ({n_anomalous} of {n_seen} are labelled anomalous)." if n_anomalous else ".")
        )
    return TrainingRows(with_inferred_types(sample.rows(), dialects[0]), n_seen, n_anomalous)


@contextmanager
def naming_input(where: str) -> Iterator[None]:
    """Name the input in errors about its rows."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{where}: {error}") from error


def _decimal_sign(dialect: CsvDialect | None) -> str | None:
    return None if dialect is None else dialect.decimal
