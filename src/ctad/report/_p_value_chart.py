"""How p-values of new rows are distributed."""

from __future__ import annotations

import numpy as np

from ._chart import FAINT, NEW_LINE, NORMAL_LINE, ROSE, Chart, NumberTable, new_layout, rounded
from ._formatting import percent_text
from ._report import Report


def p_value_chart(report: Report) -> Chart | None:
    """How p-values are distributed; those of normal rows are uniform."""
    p_values = report.scores.p_value
    if p_values is None or not len(p_values):
        return None
    rows = len(p_values)
    # With m held-out rows, p-values are multiples of 1 / (m + 1). All bins contain about as many.
    held_out = rows if report.normal_scores is None else len(report.normal_scores.score)
    bins = 20 if held_out >= 99 else 10 if held_out >= 19 else 5
    bin_of_row = np.clip(np.ceil(p_values * bins - 1e-9) - 1, 0, bins - 1).astype(int)
    counts = np.bincount(bin_of_row, minlength=bins)
    shares = 100 * counts / rows
    ends = [f"{i / bins:g} to {(i + 1) / bins:g}" for i in range(bins)]
    layout = new_layout("p-value, lower is more unusual", "share of new rows")
    layout["yaxis"] |= {"ticksuffix": " %", "rangemode": "tozero"}
    layout["xaxis"] |= {"range": [0, 1]}
    traces = [
        {
            "type": "bar",
            "name": "new rows",
            "x": rounded((np.arange(bins) + 0.5) / bins),
            "y": rounded(shares),
            "width": 0.92 / bins,
            "marker": {"color": FAINT[ROSE], "line": NEW_LINE},
            "text": [
                f"p {between}: {count:,} rows, {share:.2g} %"
                for between, count, share in zip(ends, counts, shares, strict=True)
            ],
            "textposition": "none",
            "hoverinfo": "text",
        },
        {
            "type": "scatter",
            "mode": "lines",
            "name": "if all rows are normal",
            "x": [0, 1],
            "y": [100 / bins, 100 / bins],
            "line": {**NORMAL_LINE, "dash": "dash", "width": 2},
            "hoverinfo": "skip",
        },
    ]
    return Chart(
        "p-values",
        "p-values of the new rows",
        f"{percent_text(float((p_values <= 1 / bins).mean()))} of the new rows have a p-value of "
        f"at most {1 / bins:g}; {percent_text(1 / bins)} are expected if all rows are normal.",
        "A p-value is the share of normal rows, at most, that score as high. p-values of normal "
        "rows are spread evenly, along the dashed line; anomalies cause a peak on the left.",
        {"data": traces, "layout": layout},
        NumberTable(
            ["p-value", "rows", "share"],
            [
                [between, f"{count:,}", percent_text(count / rows)]
                for between, count in zip(ends, counts, strict=True)
            ],
        ),
    )
