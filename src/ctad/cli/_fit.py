"""ctad fit"""

from __future__ import annotations

from collections import Counter
from math import isnan
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from ..detectors import make
from . import _options as option
from ._console import Talk, plain_table, talking
from ._output import check_output

if TYPE_CHECKING:
    from ..tables import TableEncoder

FEWEST_HELD_OUT = 19  # with which a p-value of 0.05 can be


def fit(
    train: option.Training,
    output: Annotated[str, typer.Option("-o", "--output", help="The model file to write.")],
    detector: option.Detector = "IsolationForest",
    detector_options: Annotated[
        list[str],
        typer.Option(help="The detector's own parameters.", metavar="NAME=VALUE,..."),
    ] = [],  # noqa: B006 - typer's way
    calibration: option.Calibration = "recommended",
    ignore: option.Ignore = [],  # noqa: B006
    keep: option.Keep = [],  # noqa: B006
    label: Annotated[
        str | None,
        typer.Option(help="A column of labels: anomalies are left out, the column is not used."),
    ] = None,
    anomalous: option.Anomalous = None,
    holdout: Annotated[
        float,
        typer.Option(
            help="Share of the rows held out of training, by which new rows get p-values; 0: none.",
            min=0,
            max=0.9,
            metavar="SHARE",
        ),
    ] = 0.2,
    sample_rows: option.SampleRows = 1_000_000,
    seed: option.Seed = 0,
    batch_rows: option.BatchRows = None,
    encoding: option.Encoding = None,
    delimiter: option.Delimiter = None,
    json: option.Json = False,
) -> None:
    """Train a detector on normal rows, calibrate it, and write a model file."""
    from ..calibration import CALIBRATIONS, expected_gain
    from ..tables import TableEncoder
    from ..wrapper import CalibratedDetector
    from ._training import training_rows

    if output == "-":
        raise typer.BadParameter("a model is written to a file.", param_hint="--output")
    options = option.detector_options(detector_options)
    with talking(json) as talk:
        try:
            untrained = make(detector, **options)
        except ValueError as error:
            raise typer.BadParameter(str(error), param_hint="--detector-options") from error
        check_output(output, train)
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
            CALIBRATIONS[calibration](),
            encoder=TableEncoder(ignore=option.separated(ignore), keep=option.separated(keep)),
            holdout=_worth_it(holdout, training.table.num_rows, talk),
            random_state=seed,
        )
        with talk.working(f"Training {detector} on {training.table.num_rows:,} rows"):
            model.fit(training.table)
        encoder = model.encoder_
        assert encoder is not None  # it was trained on a table
        model.save(output)
        agreement = model.calibrator_.agreement_
        known = model.calibration_scores_
        held_out = 0 if known is None else len(known.score)
        n_trained = training.table.num_rows - held_out
        talk.result(
            {
                "model": output,
                "detector": detector,
                "calibration": calibration,
                "rows": n_trained,
                "rows_held_out": held_out,
                "rows_seen": training.seen,
                "rows_left_out_as_anomalous": training.anomalous,
                "columns": {column.name: column.kind for column in encoder.columns_},
                "not_used": encoder.dropped_,
                "features": len(encoder.features_),
                "agreement": None if isnan(agreement) else agreement,
            },
            columns_table(encoder),
            f"{detector}, calibrated ({calibration}), trained on "
            f"{n_trained:,} of {training.seen:,} rows"
            + (f", {held_out:,} held out for p-values" if held_out else "")
            + (f" ({training.anomalous:,} labelled anomalous)" if training.anomalous else "")
            + f": {output}",
            *([expected_gain(agreement, n_trained)] if calibration == "recommended" else []),
        )


def _worth_it(holdout: float, n_rows: int, talk: Talk) -> float | None:
    """Of few rows none can be spared."""
    if not holdout:
        return None
    if holdout * n_rows < FEWEST_HELD_OUT:
        talk.notice(
            f"{n_rows:,} rows are too few to hold some out for p-values: all are trained on."
        )
        return None
    return holdout


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
