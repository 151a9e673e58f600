"""ctad evaluate"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from . import _options as option
from ._console import command_output, plain_table
from ._model_files import load_detector, note_batch_dependence

if TYPE_CHECKING:
    from .._metrics import Comparison, Interval


def evaluate(
    model: option.Model,
    table: option.New,
    label: Annotated[str, typer.Option(help="The label column, 1 = anomaly.")],
    anomalous: option.Anomalous = None,
    resamples: Annotated[
        int, typer.Option(help="Bootstrap resamples for the intervals.", min=20)
    ] = 1000,
    seed: option.Seed = 0,
    batch_rows: option.BatchRows = None,
    encoding: option.Encoding = None,
    delimiter: option.Delimiter = None,
    json: option.Json = False,
    debug: option.Debug = False,
) -> None:
    """Evaluate a model on labelled rows: AUC-PR and AUC-ROC of the detector before and after
    calibration, with 95 % bootstrap intervals.
    """
    import numpy as np

    from .._metrics import CONFIDENCE, compare
    from ..io import LabelColumn, ReadOptions, find_tables, read_tables, score_batch

    with command_output(as_json=json, debug=debug) as out:
        detector = load_detector(model, label=label)
        note_batch_dependence(detector, out)
        column = LabelColumn(label, anomalous)
        reading = ReadOptions(batch_rows, encoding, delimiter)
        batches = read_tables(find_tables(table), reading, doing="Scoring")
        labels, base, score = [np.empty(0, dtype=bool)], [np.empty(0)], [np.empty(0)]
        for batch in batches:
            labels.append(column.is_anomaly(batch.rows, batch.file))
            scored = score_batch(detector, batch)
            base.append(scored["ctad_base_score"].to_numpy())
            score.append(scored["ctad_score"].to_numpy())
        is_anomaly = np.concatenate(labels)
        column.require_both_classes(is_anomaly, table)
        compared = compare(
            np.concatenate(base),
            np.concatenate(score),
            is_anomaly,
            resamples=resamples,
            seed=seed,
        )
        n_rows, n_anomalies = len(is_anomaly), int(is_anomaly.sum())
        out.result(
            {
                "rows": n_rows,
                "anomalies": n_anomalies,
                **{metric: _as_json(comparison) for metric, comparison in compared.items()},
            },
            _metrics_table(compared),
            f"{n_rows:,} rows, {n_anomalies:,} of them anomalies; in brackets the {CONFIDENCE} % "
            f"interval over {resamples:,} resamples.",
        )


def _as_json(comparison: Comparison) -> dict[str, Any]:
    intervals = {"before": comparison.before, "after": comparison.after, "gain": comparison.gain}
    return {
        name: {"value": interval.value, "low": interval.low, "high": interval.high}
        for name, interval in intervals.items()
    }


def _metrics_table(compared: dict[str, Comparison]) -> Table:
    table = plain_table("", "detector alone", "calibrated", "gain")
    for metric, comparison in compared.items():
        table.add_row(
            metric,
            _as_text(comparison.before),
            _as_text(comparison.after),
            _as_text(comparison.gain, "+.3f"),
        )
    return table


def _as_text(interval: Interval, form: str = ".3f") -> str:
    return f"{interval.value:{form}} ({interval.low:{form}} to {interval.high:{form}})"
