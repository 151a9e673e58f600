"""ctad fit"""

from __future__ import annotations

from collections import Counter
from math import isnan
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import RenderableType
from rich.text import Text

from ..detectors import make
from . import _options as option
from ._console import CommandOutput, columns_table, command_output
from ._output_path import check_output_path

if TYPE_CHECKING:
    from ..tables import TableEncoder

MIN_ROWS_HELD_OUT = 19  # so that p-values can be as low as 0.05


def fit(
    train: option.Training,
    output: Annotated[str, typer.Option("-o", "--output", help="The model file to write.")],
    detector: option.Detector = "IsolationForest",
    detector_options: Annotated[
        list[str],
        typer.Option(help="Parameters of the detector.", metavar="NAME=VALUE,..."),
    ] = [],  # noqa: B006 - typer needs a list
    calibration: option.Calibration = "recommended",
    rows_known: option.RowsKnown = "mixed",
    ignore: option.Ignore = [],  # noqa: B006
    keep: option.Keep = [],  # noqa: B006
    label: Annotated[
        str | None,
        typer.Option(help="A label column: anomalies are left out, the column is not a feature."),
    ] = None,
    anomalous: option.Anomalous = None,
    holdout: Annotated[
        float,
        typer.Option(
            help="Share of the rows to hold out of training, for p-values of new rows; 0: none.",
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
    debug: option.Debug = False,
) -> None:
    """Train a detector on rows that are mostly normal, calibrate it, and write a model file."""
    from ..calibration import CALIBRATIONS, expected_gain
    from ..io import LabelColumn, ReadOptions
    from ..tables import TableEncoder
    from ..wrapper import CalibratedDetector
    from ._training_rows import naming_input, read_training_rows

    if output == "-":
        raise typer.BadParameter("a model is written to a file.", param_hint="--output")
    settings = _calibration_settings(calibration, rows_known)
    options = option.detector_options(detector_options)
    with command_output(as_json=json, debug=debug) as out:
        untrained = _make_detector(detector, options)
        check_output_path(output, train)
        training = read_training_rows(
            train,
            ReadOptions(batch_rows, encoding, delimiter),
            out,
            sample_rows=sample_rows,
            seed=seed,
            label=None if label is None else LabelColumn(label, anomalous),
        )
        model = CalibratedDetector(
            untrained,
            CALIBRATIONS[calibration](**settings),
            encoder=TableEncoder(
                ignore=option.comma_separated(ignore), keep=option.comma_separated(keep)
            ),
            holdout=_usable_holdout(holdout, training.table.num_rows, out),
            random_state=seed,
        )
        with (
            out.step(f"Training {detector} on {training.table.num_rows:,} rows"),
            naming_input(train),
        ):
            model.fit(training.table)
        encoder = model.encoder_
        assert encoder is not None  # it was trained on a table
        model.save(output)
        agreement = model.calibrator_.agreement_
        held_out = model.calibration_scores_
        n_held_out = 0 if held_out is None else len(held_out.score)
        n_trained = training.table.num_rows - n_held_out
        out.result(
            {
                "model": output,
                "detector": detector,
                "calibration": calibration,
                "training": settings.get("training"),
                "rows": n_trained,
                "rows_held_out": n_held_out,
                "rows_seen": training.n_seen,
                "rows_left_out_as_anomalous": training.n_anomalous,
                "columns": {column.name: column.kind for column in encoder.columns_},
                "not_used": encoder.dropped_,
                "features": len(encoder.features_),
                "agreement": None if isnan(agreement) else agreement,
            },
            *_shown_columns(encoder),
            f"{detector}, calibrated ({_in_words(calibration, settings)}), trained on "
            f"{n_trained:,} of {training.n_seen:,} rows"
            + (f", {n_held_out:,} held out for p-values" if n_held_out else "")
            + (f" ({training.n_anomalous:,} labelled anomalous)" if training.n_anomalous else "")
            + f": {output}",
            # The study's numbers are those of the default.
            *([expected_gain(agreement, n_trained)] if settings.get("training") == "mixed" else []),
        )


def _calibration_settings(calibration: str, training: str) -> dict[str, Any]:
    if calibration == "recommended":
        return {"training": training}
    if training != "mixed":
        raise typer.BadParameter(
            f"--calibration {calibration} does not distinguish mixed and normal training rows.",
            param_hint="--training",
        )
    return {}


def _in_words(calibration: str, settings: dict[str, Any]) -> str:
    return ", ".join([calibration, *(f"{name}={value}" for name, value in settings.items())])


def _make_detector(name: str, options: dict[str, Any]) -> Any:
    try:
        return make(name, **options)
    except (TypeError, ValueError) as error:  # of our registry, or of the class in its library
        raise typer.BadParameter(str(error), param_hint="--detector-options") from error


def _usable_holdout(holdout: float, n_rows: int, out: CommandOutput) -> float | None:
    """The share to hold out, or None if there are too few rows."""
    if not holdout:
        return None
    if holdout * n_rows < MIN_ROWS_HELD_OUT:
        out.note(
            f"{n_rows:,} rows are too few to hold some out for p-values: the model is trained on "
            "all of them."
        )
        return None
    return holdout


def _shown_columns(encoder: TableEncoder) -> list[RenderableType]:
    """The kind of each column and the number of features it became."""
    n_features = Counter(feature.source for feature in encoder.features_)
    kinds = {column.name: column.kind for column in encoder.columns_}
    return columns_table(
        ("column", "kind", "features"),
        [
            (name, kinds[name], str(n_features[name]))
            if name in kinds
            else (Text(name, "dim"), Text(f"not used: {encoder.dropped_[name]}", "dim"), "")
            for name in encoder.feature_names_in_
        ],
    )
