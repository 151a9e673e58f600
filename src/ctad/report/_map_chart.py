"""The map: rows and centroids in two dimensions."""

from __future__ import annotations

import html

import numpy as np

from .._number_text import counted, format_p_value
from .._types import Booleans, Floats, Integers
from ._chart import BLUE, GREY, ROSE, Chart, Figure, as_sentence, label_text, new_layout, rounded
from ._formatting import percent_text, score_text
from ._report import Projection, Report

N_HIGHEST = 20  # rows that are marked if none are selected
SEED = 0
DARK_ROSE = "#5a1a27"  # around marked rows


def map_chart(report: Report) -> Chart | None:
    """Training rows, new rows and centroids; rows to act on are marked."""
    points = report.projection
    if not len(points.new):
        return None
    is_marked, kind = _marked(report)
    random = np.random.default_rng(SEED)
    others = _sample(np.flatnonzero(~is_marked), random)
    marked = _sample(np.flatnonzero(is_marked), random)
    training, centroids = (
        _sample(np.arange(len(part)), random) for part in (points.training, points.centroids)
    )
    bounds = _bounds(np.concatenate([points.training, points.new]))
    outside = ((points.new < bounds[0]) | (points.new > bounds[1])).any(axis=1)
    layout = new_layout(_axis_title(points, 0), _axis_title(points, 1), height=440)
    for number, axis in enumerate(("xaxis", "yaxis")):
        margin = 0.03 * float(bounds[1, number] - bounds[0, number])
        layout[axis] |= {
            "range": rounded([bounds[0, number] - margin, bounds[1, number] + margin]),
            "showticklabels": False,
        }
    traces = [
        _points("training rows", points.training[training], bounds)
        | {"marker": {"color": BLUE, "size": 5, "opacity": 0.6}, "hoverinfo": "skip"},
        _points("new rows", points.new[others], bounds)
        | {"marker": {"color": ROSE, "size": 5, "opacity": 0.65}}
        | _row_texts(report, points.new_rows[others], outside[others]),
        _points("centroids", points.centroids[centroids], bounds)
        | {
            "marker": {
                "size": 9 if len(centroids) <= 100 else 5,
                "symbol": "x-thin",
                "line": {"color": GREY, "width": 2},
            }
        }
        | {"hoverinfo": "name"},
        _points(kind, points.new[marked], bounds)
        | {
            "marker": {
                "color": ROSE,
                "size": 10 if len(marked) <= 100 else 7,
                "symbol": "diamond",
                "line": {"color": DARK_ROSE, "width": 1.5},
            }
        }
        | _row_texts(report, points.new_rows[marked], outside[marked]),
    ]
    message = (
        f"{counted(len(others) + len(marked), 'new row', 'new rows')} among "
        f"{counted(len(training), 'training row', 'training rows')} and "
        f"{counted(len(points.centroids), 'centroid', 'centroids')}"
    )
    if len(marked):
        message += f"; {len(marked):,} new rows are marked: {kind}"
    if len(others) + len(marked) < len(report.scores.score):
        message += (
            ". The map shows the rows with the highest scores and a random sample of all "
            f"{len(report.scores.score):,} rows"
        )
    if outside.any():
        message += f". Drawn at the edges: {counted(int(outside.sum()), 'row', 'rows')} farther out"
    return Chart(
        "map",
        "New rows among training rows",
        as_sentence(message),
        "The first two principal components of the training rows, with "
        f"{percent_text(sum(points.explained_variance))} of their variance: rows that look close "
        "may differ in other directions. Axes have the names of the columns with the largest "
        "weights. Each centroid is the mean of a group of training rows.",
        {"data": [trace for trace in traces if trace["x"]], "layout": layout},
    )


def _marked(report: Report) -> tuple[Booleans, str]:
    """Which new rows to mark, and why."""
    rows = report.projection.new_rows
    if report.selected is not None and report.selected.any():
        return report.selected[rows], "to act on"
    return np.isin(rows, [alert.row for alert in report.alerts[:N_HIGHEST]]), "highest scores"


def _sample(rows: Integers, random: np.random.Generator) -> Integers:
    """All rows, or a random sample if they are too many."""
    if len(rows) <= Report.MAX_POINTS:
        return rows
    return np.sort(random.choice(rows, Report.MAX_POINTS, replace=False))


def _bounds(points: Floats) -> Floats:
    """Corners of the map. Rows far away are drawn at the edges, so that the others can be seen."""
    low, high = np.percentile(points, [1, 99], axis=0)
    margin = np.where(high > low, high - low, 1.0)
    nearest, farthest = points.min(axis=0), points.max(axis=0)
    return np.array([np.maximum(nearest, low - margin), np.minimum(farthest, high + margin)])


def _points(kind: str, points: Floats, bounds: Floats) -> Figure:
    drawn = np.clip(points, *bounds)
    return {
        "type": "scatter",
        "mode": "markers",
        "name": kind,
        "x": rounded(drawn[:, 0]),
        "y": rounded(drawn[:, 1]),
    }


def _row_texts(report: Report, rows: Integers, outside: Booleans) -> Figure:
    p_values = report.scores.p_value
    texts = []
    for row, is_outside in zip(rows, outside, strict=True):
        text = f"row {report.row_number(row):,}, score {score_text(report.scores.score[row])}"
        if p_values is not None:
            text += f", p-value {html.escape(format_p_value(p_values[row]))}"
        texts.append(text + ", farther out" * bool(is_outside))
    return {"text": texts, "hoverinfo": "text"}


def _axis_title(points: Projection, axis: int) -> str:
    share = percent_text(points.explained_variance[axis])
    return f"{label_text(points.axis_names[axis], 34)}<br>{share} of the variance"
