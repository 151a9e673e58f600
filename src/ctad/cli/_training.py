"""Training rows from files: a uniform sample, in one pass, of the rows not labelled anomalous."""

from __future__ import annotations

from typing import NamedTuple

import pyarrow as pa

from ..io import (
    SCORE_COLUMNS,
    Dialect,
    Reservoir,
    TableError,
    anomalies,
    find_tables,
    open_table,
    with_types,
)
from ._console import Talk

MOST_LABELS = 10  # shown


class Training(NamedTuple):
    """Rows to learn from."""

    table: pa.Table
    seen: int  # rows in the files
    anomalous: int  # of them, labelled as anomalies and left out


def training_rows(
    where: str,
    talk: Talk,
    *,
    sample_rows: int,
    seed: int,
    label: str | None = None,
    anomalous: str | None = None,
    batch_rows: int | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
) -> Training:
    """Read all rows, keep a sample, find out the types of text columns."""
    sample = Reservoir(sample_rows, seed)
    seen = left_out = 0
    labels: set[str] = set()
    dialect: Dialect | None = None
    for number, file in enumerate(find_tables(where)):
        with (
            open_table(file, batch_rows, encoding=encoding, delimiter=delimiter) as reader,
            talk.progress(f"Reading {file}") as watch,
        ):
            if number and _decimal(reader.dialect) != _decimal(dialect):
                raise TableError(
                    f"{file}: the files before were of another kind (CSV or not) or have another "
                    "decimal sign. Train on files of one kind."
                )
            dialect = reader.dialect
            before = seen
            for batch in reader:
                seen += batch.num_rows
                if label is not None:
                    found = anomalies(batch, label, anomalous, file)
                    left_out += int(found.sum())
                    if len(labels) < MOST_LABELS:
                        labels.update(map(str, batch[label].unique().to_pylist()))
                    batch = batch.filter(pa.array(~found)).drop_columns([label])
                scores = [name for name in SCORE_COLUMNS if name in batch.column_names]
                if scores:
                    talk.notice(f"not used: {', '.join(scores)}, which `ctad score` has added.")
                try:
                    sample.add(batch.drop_columns(scores))
                except TableError as error:
                    raise TableError(
                        f"{file} does not go with the files before: {error}"
                    ) from error
                watch(seen - before, reader.done, reader.total)
    if anomalous is not None and not left_out:
        listed = ", ".join(map(repr, sorted(labels)[:MOST_LABELS]))
        talk.notice(f"no row has the label {anomalous!r} in column {label!r}, which has {listed}.")
    if sample.seen < 2:
        raise TableError(
            f"{where}: {sample.seen} normal {'row is' if sample.seen == 1 else 'rows are'} too few "
            "to learn from"
            + (f" ({left_out} of {seen} are labelled anomalous)." if left_out else ".")
        )
    return Training(with_types(sample.rows(), dialect, where), seen, left_out)


def _decimal(dialect: Dialect | None) -> str | None:
    return None if dialect is None else dialect.decimal
