"""The map: rows and centroids in a plane."""

from __future__ import annotations

import html

import numpy as np
import numpy.typing as npt

from .._p_values import format_p_value
from .._types import Floats
from ._charts import BLUE, GREY, ROSE, Chart, Figure, layout_of, literal, sentence, short
from ._data import MOST_POINTS, Flags, Plane, Report
from ._numbers import counted, percent_text, score_text

MOST_HIGHEST = 20  # rows marked where nothing says which to act on
SEED = 0
DARK_ROSE = "#5a1a27"  # around the rows that are marked

Rows = npt.NDArray[np.int64]


def map_chart(report: Report) -> Chart | None:
    """Rows and centroids in a plane, the rows to act on among them."""
    plane = report.plane
    if not len(plane.new):
        return None
    striking, kind = _striking(report)
    random = np.random.default_rng(SEED)
    others = _some(np.flatnonzero(~striking), random)
    marked = _some(np.flatnonzero(striking), random)
    normal, centroids = (
        _some(np.arange(len(points)), random) for points in (plane.normal, plane.centroids)
    )
    bounds = _bounds(np.concatenate([plane.normal, plane.new]))
    outside = ((plane.new < bounds[0]) | (plane.new > bounds[1])).any(axis=1)
    layout = layout_of(_axis_title(plane, 0), _axis_title(plane, 1), height=440)
    for number, axis in enumerate(("xaxis", "yaxis")):
        margin = 0.03 * float(bounds[1, number] - bounds[0, number])
        layout[axis] |= {
            "range": short([bounds[0, number] - margin, bounds[1, number] + margin]),
            "showticklabels": False,
        }
    traces = [
        _points("training rows", plane.normal[normal], bounds)
        | {"marker": {"color": BLUE, "size": 5, "opacity": 0.6}, "hoverinfo": "skip"},
        _points("new rows", plane.new[others], bounds)
        | {"marker": {"color": ROSE, "size": 5, "opacity": 0.65}}
        | _said_of(report, plane.new_rows[others], outside[others]),
        _points("centroids", plane.centroids[centroids], bounds)
        | {
            "marker": {
                "size": 9 if len(centroids) <= 100 else 5,
                "symbol": "x-thin",
                "line": {"color": GREY, "width": 2},
            }
        }
        | {"hoverinfo": "name"},
        _points(kind, plane.new[marked], bounds)
        | {
            "marker": {
                "color": ROSE,
                "size": 10 if len(marked) <= 100 else 7,
                "symbol": "diamond",
                "line": {"color": DARK_ROSE, "width": 1.5},
            }
        }
        | _said_of(report, plane.new_rows[marked], outside[marked]),
    ]
    message = (
        f"{counted(len(others) + len(marked), 'new row', 'new rows')} among "
        f"{counted(len(normal), 'training row', 'training rows')} and "
        f"{counted(len(plane.centroids), 'centroid', 'centroids')}"
    )
    if len(marked):
        message += f"; {len(marked):,} of those drawn are marked: {kind}"
    if len(others) + len(marked) < len(report.scores.score):
        message += (
            f". Drawn are the highest scores and a random part of all {len(report.scores.score):,}"
        )
    if outside.any():
        message += f". Drawn at the edges: {counted(int(outside.sum()), 'row', 'rows')} farther out"
    along = sum(plane.explained)
    return Chart(
        "map",
        "New rows among training rows",
        sentence(message),
        "The plane in which training rows spread most (principal components); it shows "
        f"{percent_text(along)} of their variation, so rows that look near may differ in the rest. "
        "Named are the columns that weigh most along each side. Centroids stand for the "
        "training rows around them.",
        {"data": [trace for trace in traces if trace["x"]], "layout": layout},
    )


def _striking(report: Report) -> tuple[Flags, str]:
    """Which rows of the plane to mark, and what they are."""
    rows = report.plane.new_rows
    if report.selected is not None and report.selected.any():
        return report.selected[rows], "to act on"
    return np.isin(rows, [alert.row for alert in report.alerts[:MOST_HIGHEST]]), "highest scores"


def _some(rows: Rows, random: np.random.Generator) -> Rows:
    """All rows, or some of them drawn at random."""
    if len(rows) <= MOST_POINTS:
        return rows
    return np.sort(random.choice(rows, MOST_POINTS, replace=False))


def _bounds(points: Floats) -> Floats:
    """Corners of the map; a few far rows must not press all others into a dot."""
    low, high = np.percentile(points, [1, 99], axis=0)
    room = np.where(high > low, high - low, 1.0)
    nearest, farthest = points.min(axis=0), points.max(axis=0)
    return np.array([np.maximum(nearest, low - room), np.minimum(farthest, high + room)])


def _points(kind: str, points: Floats, bounds: Floats) -> Figure:
    drawn = np.clip(points, *bounds)
    return {
        "type": "scatter",
        "mode": "markers",
        "name": kind,
        "x": short(drawn[:, 0]),
        "y": short(drawn[:, 1]),
    }


def _said_of(report: Report, rows: Rows, outside: Flags) -> Figure:
    texts = []
    for row, is_outside in zip(rows, outside, strict=True):
        text = f"row {report.number_of(row):,}, score {score_text(report.scores.score[row])}"
        if report.p_values is not None:
            text += f", p-value {html.escape(format_p_value(report.p_values[row]))}"
        texts.append(text + ", farther out" * bool(is_outside))
    return {"text": texts, "hoverinfo": "text"}


def _axis_title(plane: Plane, axis: int) -> str:
    share = percent_text(plane.explained[axis])
    return f"{literal(plane.axes[axis], 34)}<br>{share} of the variation"
