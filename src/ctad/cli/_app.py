"""The `ctad` command with its subcommands."""

from __future__ import annotations

from typing import Annotated

import typer

from .. import __version__
from ._benchmark import benchmark
from ._calibrate import calibrate
from ._datasets import datasets
from ._detectors import detectors
from ._evaluate import evaluate
from ._fit import fit
from ._inspect import inspect
from ._report import report
from ._score import score
from ._theory import theory

app = typer.Typer(
    name="ctad",
    help="Find anomalies in tables: any detector, calibrated by optimal transport.",
    epilog="Exit codes: 0 success, 1 error, 2 wrong usage. Every command has --help and --debug.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"ctad {__version__}")
        raise typer.Exit


@app.callback()
def ctad(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.", callback=_show_version)
    ] = False,
) -> None:
    """Options before the subcommand."""


def _example(*lines: str) -> str:
    return "Example:\n\n" + "\n\n".join(f"`{line}`" for line in lines)


app.command(epilog=_example("ctad fit train.parquet -o model.ctad --detector iforest --ignore id"))(
    fit
)
app.command(
    epilog=_example(
        "ctad score model.ctad new.parquet -o scored.parquet",
        "ctad score model.ctad incoming/ -o scored/",
        "zcat new.csv.gz | ctad score model.ctad - -o - | head",
    )
)(score)
app.command(
    epilog=_example("ctad calibrate train.csv new.csv -o calibrated.csv --score-column score")
)(calibrate)
app.command(epilog=_example("ctad evaluate model.ctad test.parquet --label is_fraud"))(evaluate)
app.command(
    epilog=_example(
        "ctad report model.ctad new.parquet -o report.html",
        "ctad report model.ctad test.parquet -o report.html --label is_fraud",
    )
)(report)
app.command(epilog=_example("ctad inspect model.ctad"))(inspect)
app.command(
    epilog=_example(
        "ctad theory model.ctad",
        "ctad theory model.ctad test.parquet --label is_fraud",
    )
)(theory)
app.command(epilog=_example("ctad detectors", "ctad detectors drl"))(detectors)
app.command(epilog=_example("ctad datasets", "ctad datasets wine"))(datasets)
app.command(
    epilog=_example(
        "ctad benchmark table.csv --label is_fraud",
        "ctad benchmark --data-dir mine --label is_fraud --detectors iforest,knn --seeds 2",
    )
)(benchmark)
