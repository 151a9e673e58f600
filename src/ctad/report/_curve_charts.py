"""ROC and PR curves against the labels."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .._metrics import CONFIDENCE, Comparison, Curve, compare, curves_of
from ._chart import (
    FAINT,
    GREY,
    NEW_LINE,
    NORMAL_LINE,
    Chart,
    Figure,
    NumberTable,
    new_layout,
    rounded,
)
from ._formatting import PERCENT
from ._report import Report

RESAMPLES, SEED = 200, 0


def has_curves(report: Report) -> bool:
    """Whether both anomalies and normal rows are labelled."""
    return report.labels is not None and 0 < report.labels.sum() < len(report.labels)


def comparisons(report: Report) -> dict[str, Comparison]:
    """AUC-PR and AUC-ROC before and after calibration, and the gain."""
    assert report.labels is not None
    return compare(
        report.scores.base_score,
        report.scores.score,
        report.labels,
        resamples=RESAMPLES,
        seed=SEED,
    )


def curve_charts(report: Report, compared: dict[str, Comparison]) -> Iterator[Chart]:
    """ROC and PR curves of the detector alone and of the calibrated one."""
    assert report.labels is not None
    before, after = (
        curves_of(scores, report.labels, resamples=RESAMPLES, seed=SEED)
        for scores in (report.scores.base_score, report.scores.score)
    )
    rate = float(report.labels.mean())
    yield _curve_chart(
        "roc",
        "ROC curve: anomalies found against false alarms",
        ("false alarms among normal rows", "anomalies found"),
        (before["AUC-ROC"], after["AUC-ROC"]),
        ([0, 1], [0, 1]),
        "The area is the probability that an anomaly scores above a normal row. Random scores give "
        "the dotted line and 0.5; 1 is perfect.",
        compared["AUC-ROC"],
    )
    yield _curve_chart(
        "pr",
        "PR curve: correct alarms against anomalies found",
        ("anomalies found", "correct alarms"),
        (before["AUC-PR"], after["AUC-PR"]),
        ([0, 1], [rate, rate]),
        "The area is the average share of correct alarms while more and more anomalies are found. "
        f"Random scores give the dotted line and {rate:.3f}, the share of anomalies; 1 is perfect.",
        compared["AUC-PR"],
    )


def _curve_chart(
    name: str,
    title: str,
    axes: tuple[str, str],
    curves: tuple[Curve, Curve],
    random: tuple[list[float], list[float]],
    note: str,
    area: Comparison,
) -> Chart:
    traces: list[Figure] = [
        {
            "type": "scatter",
            "mode": "lines",
            "x": random[0],
            "y": random[1],
            "name": "random scores",
            "line": {"color": GREY, "width": 1, "dash": "dot"},
            "hoverinfo": "skip",
        }
    ]
    lines: dict[str, Figure] = {
        "detector alone": {**NORMAL_LINE, "dash": "dash", "width": 2},
        "calibrated": NEW_LINE,
    }
    for (kind, line), curve in zip(lines.items(), curves, strict=True):
        share, value, low, high = curve.share, curve.value, curve.low, curve.high
        traces.append(
            {
                "type": "scatter",
                "mode": "lines",
                "x": rounded([*share, *share[::-1]]),
                "y": rounded([*high, *low[::-1]]),
                "fill": "toself",
                "fillcolor": FAINT[line["color"]],
                "line": {"width": 0},
                "hoverinfo": "skip",
                "showlegend": False,
            }
        )
        traces.append(
            {
                "type": "scatter",
                "mode": "lines",
                "x": rounded(share),
                "y": rounded(value),
                "name": kind,
                "line": line,
                "text": [
                    f"{kind}: {v:.2f} at {s:.2f} ({lo:.2f} to {hi:.2f})"
                    for s, v, lo, hi in zip(share, value, low, high, strict=True)
                ],
                "hoverinfo": "text",
            }
        )
    layout = new_layout(f"share of {axes[0]}", f"share of {axes[1]}", height=340)
    layout["xaxis"] |= {"range": [-0.01, 1.01]}
    layout["yaxis"] |= {"range": [-0.02, 1.02]}
    shown = [int(np.abs(curves[0].share - s).argmin()) for s in (0, 0.01, 0.05, 0.1, 0.25, 0.5, 1)]
    return Chart(
        name,
        title,
        f"The area is {area.before.value:.3f} for the detector alone and {area.after.value:.3f} "
        f"calibrated. Shaded: {CONFIDENCE}{PERCENT} intervals.",
        note,
        {"data": traces, "layout": layout},
        NumberTable(
            [f"share of {axes[0]}", f"{axes[1]}, detector alone", f"{axes[1]}, calibrated"],
            [
                [
                    f"{curves[0].share[i]:.2f}",
                    *(f"{c.value[i]:.3f} ({c.low[i]:.3f} to {c.high[i]:.3f})" for c in curves),
                ]
                for i in shown
            ],
        ),
    )
