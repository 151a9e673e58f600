"""ctad report"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from . import _options as option
from ._console import command_output
from ._model_files import load_detector
from ._output_path import check_output_path

FDR, SAMPLE_ROWS, SEED = 0.05, 1_000_000, 0


def report(
    model: option.Model,
    table: option.New,
    output: Annotated[str, typer.Option("-o", "--output", help="The HTML file to write.")],
    label: Annotated[
        str | None,
        typer.Option(help="A label column, 1 = anomaly: then the page also evaluates the model."),
    ] = None,
    anomalous: option.Anomalous = None,
    fdr: Annotated[
        float,
        typer.Option(
            help="False discovery rate: the expected share of normal rows among the alerts.",
            min=0.0001,
            max=0.9999,
            metavar="SHARE",
        ),
    ] = FDR,
    sample_rows: Annotated[
        int, typer.Option(help="Report on a random sample of at most this many rows.", min=2)
    ] = SAMPLE_ROWS,
    seed: Annotated[
        int, typer.Option(help="Seed of the random sample.", min=0, max=option.LARGEST_SEED)
    ] = SEED,
    batch_rows: option.BatchRows = None,
    encoding: option.Encoding = None,
    delimiter: option.Delimiter = None,
    json: option.Json = False,
    debug: option.Debug = False,
) -> None:
    """Write an HTML page: which rows to act on and why, and whether the model still fits."""
    from dataclasses import replace

    from ..io import LabelColumn, ReadOptions
    from ..report import render_page
    from ..wrapper import report_content
    from ._new_rows import read_new_rows

    _check_arguments(output, label, anomalous)
    with command_output(as_json=json, debug=debug) as out:
        check_output_path(output, str(model), table)
        detector = load_detector(model, label=label)
        rows = read_new_rows(
            detector,
            table,
            ReadOptions(batch_rows, encoding, delimiter),
            sample_rows=sample_rows,
            seed=seed,
            label=None if label is None else LabelColumn(label, anomalous),
        )
        n = rows.table.num_rows
        is_sample = n < rows.n_seen
        options = {
            "--label": (label, None),
            "--anomalous": (anomalous, None),
            "--fdr": (fdr, FDR),
            "--sample-rows": (sample_rows, SAMPLE_ROWS),
            "--seed": (seed, SEED),
            "--encoding": (encoding, None),
            "--delimiter": (delimiter, None),
        }
        with out.step(f"Explaining {n:,} rows"):
            content = report_content(detector, rows.table, rows.is_anomaly, fdr=fdr)
            sampled = [f"These are {n:,} of {rows.n_seen:,} rows, chosen at random."] * is_sample
            content = replace(
                content,
                reproduce=_command_line(model, table, output, options),
                row_numbers=rows.row_numbers if is_sample else None,
                notices=[*sampled, *content.notices],
            )
            path = render_page(content).save(output)
        for notice in content.notices:
            out.note(notice)
        out.result(
            {"report": output, "rows": n, "rows_seen": rows.n_seen},
            f"Report on {n:,} {'row' if n == 1 else 'rows'}: {output}",
            f"Open it in a browser: {path.as_uri()}",
        )


def _check_arguments(output: str, label: str | None, anomalous: str | None) -> None:
    if output == "-":
        raise typer.BadParameter("a page is written to a file.", param_hint="--output")
    if not output.lower().endswith((".html", ".htm")):
        raise typer.BadParameter(
            f"the page is HTML, so its name must end in .html: {output}.html", param_hint="--output"
        )
    if anomalous is not None and label is None:
        raise typer.BadParameter(
            "--anomalous needs --label, the column of the labels.", param_hint="--anomalous"
        )


def _command_line(
    model: Path, table: str, output: str, options: Mapping[str, tuple[object, object]]
) -> str:
    """The command that makes this report; options that have their default are left out."""
    command = ["ctad", "report", str(model), table, "-o", output]
    for name, (value, default) in options.items():
        if value != default:
            command += [name, str(value)]
    return shlex.join(command)
