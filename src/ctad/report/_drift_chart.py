"""The columns that changed most since training."""

from __future__ import annotations

import html
from collections.abc import Sequence

from .._number_text import counted, format_p_value
from .._result_types import ColumnDrift
from ._chart import (
    BLUE,
    ROSE,
    Chart,
    NumberTable,
    as_sentence,
    label_text,
    new_layout,
    rounded,
)

MAX_COLUMNS = 20


def drift_chart(drifts: Sequence[ColumnDrift]) -> Chart | None:
    """The columns that changed most since training."""
    if not drifts:
        return None
    shown = sorted(drifts, key=lambda drift: -drift.statistic)[:MAX_COLUMNS]
    changed = sum(drift.has_changed for drift in drifts)
    layout = new_layout("difference from training", "", height=110 + 24 * len(shown))
    layout["barmode"] = "overlay"
    layout["xaxis"] |= {"range": [0, min(1.0, max(0.2, 1.1 * shown[0].statistic))]}
    layout["yaxis"] |= {
        "tickvals": list(range(len(shown))),
        "ticktext": [
            f"<b>{label_text(drift.column)}</b>" if drift.has_changed else label_text(drift.column)
            for drift in shown
        ],
        "range": [len(shown) - 0.4, -0.6],
        "tickfont": {"size": 12},
        "showgrid": False,
    }
    traces = []
    for kind, color, has_changed in (("changed", ROSE, True), ("as in training", BLUE, False)):
        indices = [i for i, drift in enumerate(shown) if drift.has_changed is has_changed]
        if indices:
            traces.append(
                {
                    "type": "bar",
                    "orientation": "h",
                    "name": kind,
                    "x": rounded([shown[i].statistic for i in indices]),
                    "y": indices,
                    "width": 0.7,
                    "marker": {"color": color},
                    "text": [
                        f"{label_text(shown[i].column, 60)}: difference {shown[i].statistic:.2f}, "
                        f"p-value {html.escape(format_p_value(shown[i].p_value))}"
                        for i in indices
                    ],
                    "textposition": "none",
                    "hoverinfo": "text",
                }
            )
    message = f"{changed:,} of {counted(len(drifts), 'column has', 'columns have')} changed"
    if changed:
        first = next(drift for drift in shown if drift.has_changed)
        message += f", most of all {first.column}, by {first.statistic:.2f}"
    if len(drifts) > len(shown):
        message += f". The {len(shown)} columns with the largest differences are shown"
    return Chart(
        "drift",
        "Columns compared with training",
        as_sentence(message),
        "The difference is the largest one between the two cumulative distributions "
        "(Kolmogorov-Smirnov): 0 is no difference, 1 is no overlap. p-values are adjusted for the "
        "number of columns.",
        {"data": traces, "layout": layout},
        NumberTable(
            ["column", "difference", "p-value", ""],
            [
                [
                    drift.column,
                    f"{drift.statistic:.3f}",
                    format_p_value(drift.p_value),
                    "changed" if drift.has_changed else "as in training",
                ]
                for drift in shown
            ],
        ),
    )
