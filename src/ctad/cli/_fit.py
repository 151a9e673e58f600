"""ctad fit"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from .._atomic import check_replaceable
from ..detectors import make
from . import _options as option
from ._talk import plain_table, talking

if TYPE_CHECKING:
    from ..tables import TableEncoder


def fit(
    train: option.Training,
    output: Annotated[str, typer.Option("-o", "--output", help="The model file to write.")],
    detector: option.Detector = "IsolationForest",
    detector_options: Annotated[
        list[str],
        typer.Option(help="The detector's own parameters.", metavar="NAME=VALUE,..."),
    ] = [],  # noqa: B006 - typer's way
    preset: option.Preset = "recommended",
    ignore: option.Ignore = [],  # noqa: B006
    keep: option.Keep = [],  # noqa: B006
    label: Annotated[
        str | None,
        typer.Option(help="A column of labels: anomalies are left out, the column is not used."),
    ] = None,
    anomalous: option.Anomalous = None,
    sample_rows: option.SampleRows = 1_000_000,
    seed: option.Seed = 0,
    batch_rows: option.BatchRows = None,
    encoding: option.Encoding = None,
    delimiter: option.Delimiter = None,
    json: option.Json = False,
) -> None:
    """Learn what normal rows look like, and write a model file."""
    from ..calibration import CTAD, what_to_expect
    from ..detector import CalibratedDetector
    from ..tables import TableEncoder
    from ._training import training_rows

    if output == "-":
        raise typer.BadParameter("a model is written to a file.", param_hint="--output")
    options = option.detector_options(detector_options)
    with talking(json) as talk:
        try:
            untrained = make(detector, **options)
        except ValueError as error:
            raise typer.BadParameter(str(error), param_hint="--detector-options") from error
        check_replaceable(output)
        training = training_rows(
            train,
            talk,
            sample_rows=sample_rows,
            seed=seed,
            label=label,
            anomalous=anomalous,
            batch_rows=batch_rows,
            encoding=encoding,
            delimiter=delimiter,
        )
        model = CalibratedDetector(
            untrained,
            CTAD.from_preset(preset),
            encoder=TableEncoder(ignore=option.separated(ignore), keep=option.separated(keep)),
            random_state=seed,
        )
        with talk.working(f"Training {detector} on {training.table.num_rows:,} rows"):
            model.fit(training.table)
        encoder = model.encoder_
        assert encoder is not None  # it was trained on a table
        model.save(output)
        agreement = model.calibrator_.agreement_
        talk.result(
            {
                "model": output,
                "detector": detector,
                "preset": preset,
                "rows": training.table.num_rows,
                "rows_seen": training.seen,
                "rows_left_out_as_anomalous": training.anomalous,
                "columns": {column.name: column.kind for column in encoder.columns_},
                "not_used": encoder.dropped_,
                "features": len(encoder.features_),
                "agreement": agreement,
            },
            columns_table(encoder),
            f"{detector}, calibrated ({preset}), learnt from {training.table.num_rows:,} of "
            f"{training.seen:,} rows"
            + (f" ({training.anomalous:,} labelled anomalous)" if training.anomalous else "")
            + f": {output}",
            *([what_to_expect(agreement)] if preset == "recommended" else []),
        )


def columns_table(encoder: TableEncoder) -> Table:
    """What became of each column."""
    table = plain_table("column", "kind", "numbers")
    numbers = Counter(feature.source for feature in encoder.features_)
    for name in encoder.feature_names_in_:
        kind = next((c.kind for c in encoder.columns_ if c.name == name), None)
        if kind is None:
            table.add_row(name, f"not used: {encoder.dropped_[name]}", "", style="dim")
        else:
            table.add_row(name, kind, str(numbers[name]))
    return table
