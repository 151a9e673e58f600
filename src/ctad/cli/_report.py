"""ctad report"""

from __future__ import annotations

import shlex
from typing import Annotated

import typer

from . import _options as option
from ._console import talking
from ._output import check_output
from ._score import load_detector, refuse_learnt_label


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

    from ..report import Page, page_of
    from ..wrapper import report_content
    from ._rows import read_rows

    if output == "-":
        raise typer.BadParameter("a page is written to a file.", param_hint="--output")
    if not output.lower().endswith((".html", ".htm")):
        raise typer.BadParameter(
            f"the page is HTML: call it {output}.html, say.", param_hint="--output"
        )
    if anomalous is not None and label is None:
        raise typer.BadParameter("say which column has the labels.", param_hint="--label")
    with talking(json) as talk:
        check_output(output, str(model), table)
        detector = load_detector(model)
        refuse_learnt_label(label, detector, model)
        rows = read_rows(
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
            gathered = report_content(detector, rows.table, rows.labels, fdr=fdr)
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
