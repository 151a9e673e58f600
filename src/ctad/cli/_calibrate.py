"""ctad calibrate"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import InputError
from . import _options as option
from ._console import talking
from ._output import check_output
from ._score import goes_into_folder, score_tables, show_scored

if TYPE_CHECKING:
    import pyarrow as pa

    from ._score_column import ColumnOfScores


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
            help="The column of scores. TRAIN needs it, too, unless scores and terms are added "
            "unscaled (--calibration paper)."
        ),
    ] = "score",
    lower: Annotated[
        bool, typer.Option("--lower", help="Lower scores are more anomalous, not higher ones.")
    ] = False,
    calibration: option.Calibration = "recommended",
    ignore: option.Ignore = [],  # noqa: B006 - typer's way
    keep: option.Keep = [],  # noqa: B006
    sample_rows: option.SampleRows = 1_000_000,
    seed: option.Seed = 0,
    batch_rows: option.BatchRows = None,
    encoding: option.Encoding = None,
    delimiter: option.Delimiter = None,
    json: option.Json = False,
) -> None:
    """Calibrate scores that were made elsewhere: no detector is needed, no model file is made.

    The output is that of `ctad score`, without p-values.
    """
    from ..calibration import CALIBRATIONS, expected_gain
    from ..tables import TableEncoder
    from ._score_column import ColumnOfScores
    from ._training import training_rows

    with talking(json, output) as talk:
        if output != "-" and not goes_into_folder(scores, output):
            check_output(output, train)
        rows = training_rows(
            train,
            talk,
            sample_rows=sample_rows,
            seed=seed,
            batch_rows=batch_rows,
            encoding=encoding,
            delimiter=delimiter,
        ).table
        has_scores = score_column in rows.column_names
        calibrator = CALIBRATIONS[calibration](random_state=seed)
        if not has_scores and calibrator.score_scaling != "none":
            raise InputError(
                f"{train} has no column {score_column!r}: --calibration {calibration} scales "
                "scores and terms by the scores of training rows. Add this column, name the one "
                "that has the scores (--score-column), or add scores and terms unscaled "
                "(--calibration paper)."
            )
        unused = [*option.separated(ignore), *[score_column] * has_scores]
        model = ColumnOfScores(
            score_column,
            -1.0 if lower else 1.0,
            TableEncoder(ignore=unused, keep=option.separated(keep)),
            calibrator,
        )
        with talk.working(f"Fitting the calibration to {rows.num_rows:,} rows"):
            model.calibrator.fit(
                model.encoder.fit_transform(rows),
                scores=model.base_score(rows) if has_scores else None,
            )
        summary = score_tables(
            model,
            scores,
            output,
            talk,
            model_sha256=_sha256(model, rows),
            batch_rows=batch_rows,
            encoding=encoding,
            delimiter=delimiter,
        )
        if has_scores and calibration == "recommended":
            talk.notice(expected_gain(model.calibrator.agreement_, rows.num_rows))
        show_scored(summary, output, talk)


def _sha256(model: ColumnOfScores, rows: pa.Table) -> str:
    """Identifies this calibration by its settings and training rows."""
    from pyarrow import BufferOutputStream, ipc

    settings = (model.column, model.sign, model.encoder, model.calibrator)
    digest = sha256(repr(settings).encode())
    stream = BufferOutputStream()
    with ipc.new_stream(stream, rows.schema) as writer:
        writer.write_table(rows)
    digest.update(stream.getvalue())
    return digest.hexdigest()
