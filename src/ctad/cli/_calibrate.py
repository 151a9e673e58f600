"""ctad calibrate"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import InputError
from . import _options as option
from ._console import command_output
from ._output_path import check_output_path
from ._score import is_folder, print_summary, score_tables

if TYPE_CHECKING:
    import pyarrow as pa

    from ._score_column import ScoreColumnModel


def calibrate(
    train: option.Training,
    scores: Annotated[
        str,
        typer.Argument(
            metavar="SCORES",
            help="Rows with the columns of TRAIN and a column of scores. Files as for TRAIN.",
        ),
    ],
    output: option.Output,
    score_column: Annotated[
        str,
        typer.Option(
            help="The column of scores. TRAIN needs it, too, except for --calibration paper."
        ),
    ] = "score",
    lower: Annotated[
        bool, typer.Option("--lower", help="Lower scores are more anomalous, not higher ones.")
    ] = False,
    calibration: option.Calibration = "recommended",
    ignore: option.Ignore = [],  # noqa: B006 - typer needs a list
    keep: option.Keep = [],  # noqa: B006
    sample_rows: option.SampleRows = 1_000_000,
    seed: option.Seed = 0,
    batch_rows: option.BatchRows = None,
    encoding: option.Encoding = None,
    delimiter: option.Delimiter = None,
    json: option.Json = False,
    debug: option.Debug = False,
) -> None:
    """Calibrate scores of another program. It needs no detector and writes no model file.

    The output has the same columns as that of `ctad score`, without p-values.
    """
    from ..calibration import CALIBRATIONS, expected_gain
    from ..io import ReadOptions
    from ..tables import TableEncoder
    from ._score_column import ScoreColumnModel
    from ._training_rows import naming_input, read_training_rows

    with command_output(as_json=json, debug=debug, output=output) as out:
        if output != "-" and not is_folder(output, scores):
            check_output_path(output, train)
        reading = ReadOptions(batch_rows, encoding, delimiter)
        rows = read_training_rows(train, reading, out, sample_rows=sample_rows, seed=seed).table
        has_scores = score_column in rows.column_names
        calibrator = CALIBRATIONS[calibration](random_state=seed)
        if not has_scores and calibrator.score_scaling != "none":
            raise InputError(
                f"{train} has no column {score_column!r}, but --calibration {calibration} needs "
                "scores of the training rows. Add this column, name the one that has the scores "
                "(--score-column), or use --calibration paper."
            )
        unused = [*option.comma_separated(ignore), *[score_column] * has_scores]
        model = ScoreColumnModel(
            score_column,
            -1.0 if lower else 1.0,
            TableEncoder(ignore=unused, keep=option.comma_separated(keep)),
            calibrator,
        )
        with out.step(f"Fitting the calibration to {rows.num_rows:,} rows"), naming_input(train):
            model.calibrator.fit(
                model.encoder.fit_transform(rows),
                scores=model.base_score(rows) if has_scores else None,
            )
        checksum = _sha256(model, rows)
        summary = score_tables(model, scores, output, reading, model_sha256=checksum)
        if has_scores and calibration == "recommended":
            out.note(expected_gain(model.calibrator.agreement_, rows.num_rows))
        print_summary(summary, output, out)


def _sha256(model: ScoreColumnModel, rows: pa.Table) -> str:
    """Identifies this calibration by its settings and training rows."""
    from .._arrow_bytes import table_bytes

    settings = (model.column, model.sign, model.encoder, model.calibrator)
    digest = sha256(repr(settings).encode())
    digest.update(table_bytes(rows))
    return digest.hexdigest()
