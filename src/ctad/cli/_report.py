"""ctad report"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from .._atomic import check_replaceable
from . import _options as option
from ._score import load_detector, refuse_learnt_label
from ._talk import Talk, talking

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa

# Beside the columns of a table: where in the files each row is, and its label.
PLACE, LABEL = "ctad: place of the row", "ctad: label of the row"


def report(
    model: option.Model,
    table: option.New,
    output: Annotated[str, typer.Option("-o", "--output", help="The HTML file to write.")],
    label: Annotated[
        str | None,
        typer.Option(help="A column of labels, 1 = anomaly: then the page also judges the model."),
    ] = None,
    anomalous: option.Anomalous = None,
    fdr: Annotated[
        float,
        typer.Option(
            help="Of the rows to act on, the share that may be normal on average.",
            min=0.0001,
            max=0.9999,
            metavar="SHARE",
        ),
    ] = 0.05,
    sample_rows: Annotated[
        int, typer.Option(help="Report on a random sample of so many rows at most.", min=2)
    ] = 1_000_000,
    seed: option.Seed = 0,
    batch_rows: option.BatchRows = None,
    encoding: option.Encoding = None,
    delimiter: option.Delimiter = None,
    json: option.Json = False,
) -> None:
    """Write a page to open and pass on: which rows to act on and why, and whether the model still
    fits.
    """
    if output == "-":
        raise typer.BadParameter("a page is written to a file.", param_hint="--output")
    with talking(json) as talk:
        check_replaceable(output)
        detector = load_detector(model, talk)
        refuse_learnt_label(label, detector, model)
        rows = _read(
            detector.column_types(),
            table,
            talk,
            sample_rows=sample_rows,
            seed=seed,
            label=label,
            anomalous=anomalous,
            batch_rows=batch_rows,
            encoding=encoding,
            delimiter=delimiter,
        )
        if rows.table.num_rows < rows.seen:
            talk.notice(f"a random sample of {rows.table.num_rows:,} of {rows.seen:,} rows.")
        command = ["ctad", "report", str(model), table, "-o", output]
        command += [] if label is None else ["--label", label]
        command += [] if anomalous is None else ["--anomalous", anomalous]
        command += [] if fdr == 0.05 else ["--fdr", f"{fdr:g}"]
        with talk.working(f"Explaining {rows.table.num_rows:,} rows"):
            page = detector.report(
                rows.table,
                rows.labels,
                fdr=fdr,
                row_numbers=rows.places,
                reproduce=shlex.join(command),
            )
        path = page.save(output)
        talk.result(
            {"report": output, "rows": rows.table.num_rows, "rows_seen": rows.seen},
            f"Report on {rows.table.num_rows:,} rows: {output}",
            f"Open it in a browser: {path.as_uri()}",
        )


class NewRows(NamedTuple):
    """Rows to report on."""

    table: pa.Table
    places: npt.NDArray[np.int64]  # in the files, from 0
    labels: npt.NDArray[np.bool_] | None
    seen: int  # rows in the files


def _read(
    types: pa.Schema,
    where: str,
    talk: Talk,
    *,
    sample_rows: int,
    seed: int,
    label: str | None,
    anomalous: str | None,
    batch_rows: int | None,
    encoding: str | None,
    delimiter: str | None,
) -> NewRows:
    """Rows with the types that the model knows, at most so many, in their order."""
    import numpy as np
    import pyarrow as pa

    from ..engines import SCORE_COLUMNS
    from ..streams import (
        Place,
        Reservoir,
        anomalies,
        convert,
        find_tables,
        open_table,
        require_both_kinds,
    )

    sample = Reservoir(sample_rows, seed)
    for file in find_tables(where):
        with (
            open_table(file, batch_rows, encoding=encoding, delimiter=delimiter) as reader,
            talk.progress(f"Reading {file}") as watch,
        ):
            rows = 0
            for batch in reader:
                places = np.arange(sample.seen, sample.seen + batch.num_rows)
                found = None if label is None else anomalies(batch, label, anomalous, file)
                batch = batch.drop_columns(
                    [name for name in (*SCORE_COLUMNS, label) if name in batch.column_names]
                )
                if reader.dialect is not None:
                    place = Place(file, reader.dialect, rows)
                    batch = convert(batch, types, reader.dialect, place)
                batch = batch.append_column(PLACE, pa.array(places))
                if found is not None:
                    batch = batch.append_column(LABEL, pa.array(found))
                sample.add(batch)
                rows += batch.num_rows
                watch(rows, reader.done, reader.total)
    table = sample.rows()
    places = table[PLACE].to_numpy()
    if label is None:
        return NewRows(table.drop_columns([PLACE]), places, None, sample.seen)
    labels = table[LABEL].to_numpy()
    require_both_kinds(labels, label, where)
    return NewRows(table.drop_columns([PLACE, LABEL]), places, labels, sample.seen)
