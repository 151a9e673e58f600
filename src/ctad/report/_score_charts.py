"""How scores are distributed, before and after calibration."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from .._number_text import counted
from .._types import Floats
from ._chart import (
    FAINT,
    GREY,
    NEW_LINE,
    NORMAL_LINE,
    Chart,
    Figure,
    NumberTable,
    as_sentence,
    new_layout,
    rounded,
)
from ._formatting import PERCENT, percent_text, score_text
from ._report import Report
from ._score_axis import ScoreAxis


def score_charts(report: Report) -> Iterator[Chart]:
    """How scores are distributed, before and after calibration."""
    if not len(report.scores.score):
        return
    selected_from = None
    if report.selected is not None and report.selected.any():
        selected_from = float(report.scores.score[report.selected].min())
    new, normal = report.scores, report.normal_scores
    yield _distribution(
        "before",
        "Before: the detector alone",
        new.base_score,
        None if normal is None else normal.base_score,
    )
    yield _distribution(
        "after",
        "After: with the calibration term",
        new.score,
        None if normal is None else normal.score,
        selected_from,
    )


def _distribution(
    name: str,
    title: str,
    new: Floats,
    normal: Floats | None,
    selected_from: float | None = None,
) -> Chart:
    """Histograms of new and of normal scores; a line marks the lowest selected score."""
    groups = {"new rows": (new, NEW_LINE)}
    if normal is not None and len(normal):
        groups = {"normal rows": (normal, NORMAL_LINE), **groups}
    axis = ScoreAxis.fitting(*(scores for scores, _ in groups.values()))
    traces = [_histogram(axis, scores, kind, line) for kind, (scores, line) in groups.items()]
    positions, texts = axis.ticks()
    layout = new_layout("score, higher is more unusual", "share of rows")
    layout["xaxis"] |= {"tickvals": positions, "ticktext": texts}
    layout["yaxis"] |= {"ticksuffix": " %", "rangemode": "tozero"}
    if selected_from is not None:
        at = np.clip(axis.positions(np.array([selected_from]))[0], axis.low, axis.high)
        _mark(layout, float(at), "to act on →")
    typical = {
        kind: [score_text(q) for q in _quantiles(scores)] for kind, (scores, _) in groups.items()
    }
    message = "; ".join(f"half of the {kind} score below {q[1]}" for kind, q in typical.items())
    if normal is not None and len(normal):
        above = float((new > _quantiles(normal)[2]).mean())
        message += (
            f". {percent_text(above)} of the new rows score above 95{PERCENT} of the normal rows"
            f" (5{PERCENT} are expected if they are alike)"
        )
    return Chart(
        f"scores-{name}",
        title,
        as_sentence(message),
        _axis_note(axis),
        {"data": traces, "layout": layout},
        NumberTable(
            ["rows", "lowest", "half below", f"95{PERCENT} below", f"99{PERCENT} below", "highest"],
            [[kind, *values] for kind, values in typical.items()],
        ),
    )


def _quantiles(scores: Floats) -> list[float]:
    """Lowest, median, 95 %, 99 %, highest. Each is one of the scores, which may be infinite."""
    return [float(q) for q in np.percentile(scores, [0, 50, 95, 99, 100], method="lower")]


def _histogram(axis: ScoreAxis, scores: Floats, kind: str, line: dict[str, Any]) -> Figure:
    """A histogram, drawn as its outline."""
    counts = axis.counts(scores)
    edges = axis.edges()
    shares = 100 * counts / len(scores)
    values = [axis.score(edge) for edge in edges]
    ends = [f"{score_text(a)} to {score_text(b)}" for a, b in pairwise(values)]
    if axis.has_lower:
        ends[0] = f"less than {score_text(axis.score(axis.low))}"
    if axis.has_higher:
        ends[-1] = f"more than {score_text(axis.score(axis.high))}"
    texts = [
        f"score {between}: {count:,} of {counted(len(scores), kind[:-1], kind)}, {share:.2g} %"
        for between, count, share in zip(ends, counts, shares, strict=True)
    ]
    return {
        "type": "scatter",
        "mode": "lines",
        "name": kind,
        # Down to zero at both ends.
        "x": rounded([edges[0], *edges, edges[-1]]),
        "y": rounded([0, *shares, shares[-1], 0]),
        "text": [texts[0], *texts, texts[-1], texts[-1]],
        "hoverinfo": "text",
        "line": {**line, "shape": "hv"},
        "fill": "tozeroy",
        "fillcolor": FAINT[line["color"]],
    }


def _axis_note(axis: ScoreAxis) -> str:
    note = "The axis is compressed at its ends, to show extreme scores."
    outside = [
        f"{'below' if end < 0 else 'above'} {score_text(axis.score(end))}"
        for end, exists in ((axis.low, axis.has_lower), (axis.high, axis.has_higher))
        if exists
    ]
    if outside:
        note += f" All scores {' or '.join(outside)} share one bar at the end."
    return note


def _mark(layout: Figure, at: float, text: str) -> None:
    """A vertical line with a label."""
    layout["shapes"] = [
        {
            "type": "line",
            "x0": at,
            "x1": at,
            "y0": 0,
            "y1": 1,
            "yref": "paper",
            "line": {"color": GREY, "width": 1.5, "dash": "dash"},
        }
    ]
    layout["annotations"] = [
        {
            "x": at,
            "y": 1,
            "yref": "paper",
            "text": text,
            "showarrow": False,
            "xanchor": "left",
            "yanchor": "top",
        }
    ]
