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

    from ..detector import CalibratedDetector

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
    seed: Annotated[int, typer.Option(help="Of the random sample.", min=0)] = 0,
    batch_rows: option.BatchRows = None,
    encoding: option.Encoding = None,
    delimiter: option.Delimiter = None,
    json: option.Json = False,
) -> None:
    """Write a page to open and pass on: which rows to act on and why, and whether the model still
    fits.
    """
    from dataclasses import replace

    from ..detector import gather
    from ..report import Page, page_of

    if output == "-":
        raise typer.BadParameter("a page is written to a file.", param_hint="--output")
    if anomalous is not None and label is None:
        raise typer.BadParameter("say which column has the labels.", param_hint="--label")
    with talking(json) as talk:
        check_replaceable(output)
        detector = load_detector(model)
        refuse_learnt_label(label, detector, model)
        rows = _read(
            detector,
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
        n = rows.table.num_rows
        notices = []
        if n < rows.seen:
            notices.append(f"These are {n:,} of {rows.seen:,} rows, chosen at random.")
        options = {
            "--label": (label, None),
            "--anomalous": (anomalous, None),
            "--fdr": (fdr, 0.05),
            "--sample-rows": (sample_rows, 1_000_000),
            "--seed": (seed, 0),
            "--encoding": (encoding, None),
            "--delimiter": (delimiter, None),
        }
        command = ["ctad", "report", str(model), table, "-o", output]
        for option_name, (value, usual) in options.items():
            if value != usual:
                command += [option_name, str(value)]
        with talk.working(f"Explaining {n:,} rows"):
            gathered = gather(detector, rows.table, rows.labels, fdr=fdr)
            gathered = replace(
                gathered,
                reproduce=shlex.join(command),
                row_numbers=rows.places if n < rows.seen else None,
                notices=[*notices, *gathered.notices],
            )
            path = Page(page_of(gathered)).save(output)
        for notice in gathered.notices:
            talk.notice(notice)
        talk.result(
            {"report": output, "rows": n, "rows_seen": rows.seen},
            f"Report on {n:,} {'row' if n == 1 else 'rows'}: {output}",
            f"Open it in a browser: {path.as_uri()}",
        )


class NewRows(NamedTuple):
    """Rows to report on."""

    table: pa.Table
    places: npt.NDArray[np.int64]  # in the files, from 0
    labels: npt.NDArray[np.bool_] | None
    seen: int  # rows in the files


def _read(
    detector: CalibratedDetector,
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
    """The columns that the model needs, with its types; at most so many rows, in their order."""
    import numpy as np
    import pyarrow as pa

    from ..streams import (
        Place,
        Reservoir,
        TableError,
        anomalies,
        convert,
        find_tables,
        open_table,
    )

    types, needed = detector.column_types(), set(detector.feature_names_in_)
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
                batch = batch.select([name for name in batch.column_names if name in needed])
                if reader.dialect is not None:
                    place = Place(file, reader.dialect, rows)
                    batch = convert(batch, types, reader.dialect, place)
                batch = batch.append_column(PLACE, pa.array(places))
                if found is not None:
                    batch = batch.append_column(LABEL, pa.array(found))
                sample.add(batch)
                rows += batch.num_rows
                watch(rows, reader.done, reader.total)
    if not sample.seen:
        raise TableError(f"{where}: there are no rows to report on.")
    table = sample.rows()
    places = table[PLACE].to_numpy()
    if label is None:
        return NewRows(table.drop_columns([PLACE]), places, None, sample.seen)
    labels = table[LABEL].to_numpy()
    return NewRows(table.drop_columns([PLACE, LABEL]), places, labels, sample.seen)
