"""ctad evaluate"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from . import _options as option
from ._console import plain_table, talking
from ._score import load_detector, refuse_learnt_label, tell_of_batches

if TYPE_CHECKING:
    from .._metrics import Comparison


def evaluate(
    model: option.Model,
    table: option.New,
    label: Annotated[str, typer.Option(help="The column of labels, 1 = anomaly.")],
    anomalous: option.Anomalous = None,
    resamples: Annotated[
        int, typer.Option(help="Resamples of the rows for the intervals.", min=20)
    ] = 1000,
    seed: option.Seed = 0,
    batch_rows: option.BatchRows = None,
    encoding: option.Encoding = None,
    delimiter: option.Delimiter = None,
    json: option.Json = False,
) -> None:
    """Judge a model by labelled rows: AUC-PR and AUC-ROC of the detector, before and after
    calibration, with 95 % bootstrap intervals.
    """
    import numpy as np

    from .._metrics import CONFIDENCE, compare
    from ..io import anomalies, find_tables, open_table, require_both_kinds, score_batches

    with talking(json) as talk:
        detector = load_detector(model)
        tell_of_batches(detector, talk)
        refuse_learnt_label(label, detector, model)
        base, score, labels = [], [], []
        with talk.progress("Scoring") as watch:
            for file in find_tables(table):
                with open_table(file, batch_rows, encoding=encoding, delimiter=delimiter) as reader:
                    rows = 0
                    for scored in score_batches(detector, reader):
                        labels.append(anomalies(scored, label, anomalous, file))
                        base.append(scored["ctad_base_score"].to_numpy())
                        score.append(scored["ctad_score"].to_numpy())
                        rows += scored.num_rows
                        watch(rows, reader.done, reader.total, f"Scoring {file}")
        anomaly = np.concatenate(labels or [np.empty(0, dtype=bool)])
        require_both_kinds(anomaly, label, table)
        with talk.counting("Resampling", resamples) as advance:
            compared = compare(
                np.concatenate(base),
                np.concatenate(score),
                anomaly,
                resamples=resamples,
                seed=seed,
                watch=advance,
            )
        talk.result(
            {
                "rows": len(anomaly),
                "anomalies": int(anomaly.sum()),
                **{
                    metric: {part: values._asdict() for part, values in c._asdict().items()}
                    for metric, c in compared.items()
                },
            },
            _shown(compared),
            f"{len(anomaly):,} rows, {int(anomaly.sum()):,} of them anomalies; in brackets the "
            f"{CONFIDENCE} % interval over {resamples:,} resamples.",
        )


def _shown(compared: dict[str, Comparison]) -> Table:
    table = plain_table("", "detector alone", "calibrated", "gain")
    for metric, (before, after, gain) in compared.items():
        table.add_row(
            metric,
            "{:.3f} ({:.3f} to {:.3f})".format(*before),
            "{:.3f} ({:.3f} to {:.3f})".format(*after),
            "{:+.3f} ({:+.3f} to {:+.3f})".format(*gain),
        )
    return table
