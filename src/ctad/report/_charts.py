"""Charts of a report, as plotly describes them, and what each says in words.

Figures are plain dictionaries: plotly.js reads nothing else, and any release of it reads these.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from .._metrics import CONFIDENCE, Comparison, Curve, compare, curves_of
from .._p_values import format_p_value
from .._result_types import ColumnDrift
from .._types import Floats
from ._axis import Axis, axis_for
from ._data import Report
from ._numbers import PERCENT, counted, percent_text, score_text

BLUE, ROSE = "#4477aa", "#cc6677"  # told apart by the colour-blind, on white and on black
GREY = "#808080"
FAINT = {BLUE: "rgba(68,119,170,.25)", ROSE: "rgba(204,102,119,.22)"}
NORMAL = {"color": BLUE, "width": 1.5}
NEW = {"color": ROSE, "width": 2.5}

RESAMPLES, SEED = 200, 0
MOST_COLUMNS = 20  # with bars
LONGEST_NAME = 20

Figure = dict[str, Any]


class Numbers(NamedTuple):
    """Numbers behind a chart, as a table."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]


class Chart(NamedTuple):
    """A figure, and what it says to those who do not see it."""

    name: str
    title: str
    message: str  # what there is to see
    note: str  # how to read it
    figure: Figure
    numbers: Numbers | None = None


def literal(text: str, longest: int = LONGEST_NAME) -> str:
    """Text of a user for a label: plotly takes `<b>`, `<a href=...>`, `&lt;` for markup and `$x$`
    for a formula."""
    if len(text) > longest:
        text = text[: longest - 1] + "…"
    return html.escape(" ".join(text.split()), quote=False).replace("$", "&#36;")


def score_charts(report: Report) -> Iterator[Chart]:
    """How scores are distributed, before and after calibration."""
    if not len(report.scores.score):
        return
    act_from = None
    if report.selected is not None and report.selected.any():
        act_from = float(report.scores.score[report.selected].min())
    for name, title, field, line in (
        ("before", "Before: the detector alone", "base_score", None),
        ("after", "After: with the calibration term", "score", act_from),
    ):
        new: Floats = getattr(report.scores, field)
        normal: Floats | None = report.normal and getattr(report.normal, field)
        yield _distribution(name, title, new, normal, line)


def _distribution(
    name: str, title: str, new: Floats, normal: Floats | None, act_from: float | None
) -> Chart:
    groups = {"new rows": (new, NEW)}
    if normal is not None and len(normal):
        groups = {"normal rows": (normal, NORMAL), **groups}
    axis = axis_for(*(scores for scores, _ in groups.values()))
    traces = [_steps(axis, scores, kind, line) for kind, (scores, line) in groups.items()]
    places, texts = axis.ticks()
    layout = layout_of("score, higher is more unusual", "share of rows")
    layout["xaxis"] |= {"tickvals": places, "ticktext": texts}
    layout["yaxis"] |= {"ticksuffix": " %", "rangemode": "tozero"}
    if act_from is not None:
        at = np.clip(axis.places(np.array([act_from]))[0], axis.low, axis.high)
        _mark(layout, float(at), "to act on →")
    typical = {
        kind: [score_text(q) for q in _quantiles(scores)] for kind, (scores, _) in groups.items()
    }
    message = "; ".join(f"half of the {kind} score below {q[1]}" for kind, q in typical.items())
    if len(groups) == 2:
        beyond = float((new > _quantiles(normal)[2]).mean())  # type: ignore[arg-type]
        message += (
            f". {percent_text(beyond)} of the new rows score above 95{PERCENT} of the normal ones"
            f" (5{PERCENT} would, if they were alike)"
        )
    return Chart(
        f"scores-{name}",
        title,
        sentence(message),
        _squeezed(axis),
        {"data": traces, "layout": layout},
        Numbers(
            [
                "rows",
                "lowest",
                "half are below",
                f"95{PERCENT} are below",
                f"99{PERCENT} are below",
                "highest",
            ],
            [[kind, *values] for kind, values in typical.items()],
        ),
    )


def _quantiles(scores: Floats) -> list[float]:
    """Lowest, median, 95 %, 99 %, highest; one of the scores each, so infinite ones do no harm."""
    return [float(q) for q in np.percentile(scores, [0, 50, 95, 99, 100], method="lower")]


def _steps(axis: Axis, scores: Floats, kind: str, line: dict[str, Any]) -> Figure:
    """A histogram drawn as its outline."""
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
        "x": short([edges[0], *edges, edges[-1]]),
        "y": short([0, *shares, shares[-1], 0]),
        "text": [texts[0], *texts, texts[-1], texts[-1]],
        "hoverinfo": "text",
        "line": {**line, "shape": "hv"},
        "fill": "tozeroy",
        "fillcolor": FAINT[line["color"]],
    }


def _squeezed(axis: Axis) -> str:
    note = "The axis is squeezed far out, to have room for extreme scores."
    beyond = [
        f"{'below' if end < 0 else 'above'} {score_text(axis.score(end))}"
        for end, has in ((axis.low, axis.has_lower), (axis.high, axis.has_higher))
        if has
    ]
    if beyond:
        note += f" All scores {' or '.join(beyond)} share one bar at the end."
    return note


def has_curves(report: Report) -> bool:
    """Whether there are both anomalies and normal rows among the labels."""
    return report.labels is not None and 0 < report.labels.sum() < len(report.labels)


def comparisons(report: Report) -> dict[str, Comparison]:
    """AUC-PR and AUC-ROC before and after, and the gain."""
    assert report.labels is not None
    before, _, after = report.scores
    return compare(before, after, report.labels, resamples=RESAMPLES, seed=SEED)


def curve_charts(report: Report, compared: dict[str, Comparison]) -> Iterator[Chart]:
    """ROC and PR curves of the detector alone and of the calibrated one."""
    assert report.labels is not None
    base, _, score = report.scores
    before, after = (
        curves_of(scores, report.labels, resamples=RESAMPLES, seed=SEED) for scores in (base, score)
    )
    rate = float(report.labels.mean())
    yield _curve_chart(
        "roc",
        "ROC curve: anomalies found against false alarms",
        ("false alarms among normal rows", "anomalies found"),
        (before["AUC-ROC"], after["AUC-ROC"]),
        ([0, 1], [0, 1]),
        "The area is the chance that an anomaly scores above a normal row. "
        "Guessing gives the dotted line and 0.5; 1 is perfect.",
        compared["AUC-ROC"],
    )
    yield _curve_chart(
        "pr",
        "PR curve: how many alarms are right",
        ("anomalies found", "alarms that are right"),
        (before["AUC-PR"], after["AUC-PR"]),
        ([0, 1], [rate, rate]),
        "The area is the average share of right alarms on the way to finding all anomalies. "
        f"Guessing gives the dotted line and {rate:.3f}, the share of anomalies; 1 is perfect.",
        compared["AUC-PR"],
    )


def _curve_chart(
    name: str,
    title: str,
    axes: tuple[str, str],
    curves: tuple[Curve, Curve],
    guess: tuple[list[float], list[float]],
    note: str,
    area: Comparison,
) -> Chart:
    traces: list[Figure] = [
        {
            "type": "scatter",
            "mode": "lines",
            "x": guess[0],
            "y": guess[1],
            "name": "guessing",
            "line": {"color": GREY, "width": 1, "dash": "dot"},
            "hoverinfo": "skip",
        }
    ]
    looks: Sequence[tuple[str, Figure]]
    looks = (("detector alone", {**NORMAL, "dash": "dash", "width": 2}), ("calibrated", NEW))
    for (kind, line), (share, value, low, high) in zip(looks, curves, strict=True):
        traces.append(
            {
                "type": "scatter",
                "mode": "lines",
                "x": short([*share, *share[::-1]]),
                "y": short([*high, *low[::-1]]),
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
                "x": short(share),
                "y": short(value),
                "name": kind,
                "line": line,
                "text": [
                    f"{kind}: {v:.2f} at {s:.2f} ({lo:.2f} to {hi:.2f})"
                    for s, v, lo, hi in zip(share, value, low, high, strict=True)
                ],
                "hoverinfo": "text",
            }
        )
    layout = layout_of(f"share of {axes[0]}", f"share of {axes[1]}", height=340)
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
        Numbers(
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


def p_value_chart(report: Report) -> Chart | None:
    """How p-values are distributed, against evenly, as those of normal rows are."""
    if report.p_values is None or not len(report.p_values):
        return None
    rows = len(report.p_values)
    # Of m normal rows, p-values are multiples of 1 / (m + 1): bins hold as many of them each.
    normal = rows if report.normal is None else len(report.normal.score)
    bins = 20 if normal >= 99 else 10 if normal >= 19 else 5
    places = np.clip(np.ceil(report.p_values * bins - 1e-9) - 1, 0, bins - 1).astype(int)
    counts = np.bincount(places, minlength=bins)
    shares = 100 * counts / rows
    ends = [f"{i / bins:g} to {(i + 1) / bins:g}" for i in range(bins)]
    layout = layout_of("p-value, lower is more unusual", "share of new rows")
    layout["yaxis"] |= {"ticksuffix": " %", "rangemode": "tozero"}
    layout["xaxis"] |= {"range": [0, 1]}
    traces = [
        {
            "type": "bar",
            "name": "new rows",
            "x": short((np.arange(bins) + 0.5) / bins),
            "y": short(shares),
            "width": 0.92 / bins,
            "marker": {"color": FAINT[ROSE], "line": NEW},
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
            "name": "if all rows were normal",
            "x": [0, 1],
            "y": [100 / bins, 100 / bins],
            "line": {**NORMAL, "dash": "dash", "width": 2},
            "hoverinfo": "skip",
        },
    ]
    return Chart(
        "p-values",
        "p-values of the new rows",
        f"{percent_text(float((report.p_values <= 1 / bins).mean()))} of the new rows have a "
        f"p-value of at most {1 / bins:g}; {percent_text(1 / bins)} would, if all were normal.",
        "A p-value says how often a normal row scores at least as high. Those of normal rows "
        "spread evenly along the dashed line; a peak on the left is what anomalies make.",
        {"data": traces, "layout": layout},
        Numbers(
            ["p-value", "rows", "share"],
            [
                [between, f"{count:,}", percent_text(count / rows)]
                for between, count in zip(ends, counts, strict=True)
            ],
        ),
    )


def drift_chart(drifts: Sequence[ColumnDrift]) -> Chart | None:
    """The columns that changed most since training."""
    if not drifts:
        return None
    shown = sorted(drifts, key=lambda drift: -drift.statistic)[:MOST_COLUMNS]
    changed = sum(drift.has_changed for drift in drifts)
    layout = layout_of("gap to training", "", height=110 + 24 * len(shown))
    layout["barmode"] = "overlay"
    layout["xaxis"] |= {"range": [0, min(1.0, max(0.2, 1.1 * shown[0].statistic))]}
    layout["yaxis"] |= {
        "tickvals": list(range(len(shown))),
        "ticktext": [
            f"<b>{literal(drift.column)}</b>" if drift.has_changed else literal(drift.column)
            for drift in shown
        ],
        "range": [len(shown) - 0.4, -0.6],
        "tickfont": {"size": 12},
        "showgrid": False,
    }
    traces = []
    for kind, color, has_changed in (("changed", ROSE, True), ("as in training", BLUE, False)):
        places = [i for i, drift in enumerate(shown) if drift.has_changed is has_changed]
        if places:
            traces.append(
                {
                    "type": "bar",
                    "orientation": "h",
                    "name": kind,
                    "x": short([shown[i].statistic for i in places]),
                    "y": places,
                    "width": 0.7,
                    "marker": {"color": color},
                    "text": [
                        f"{literal(shown[i].column, 60)}: gap {shown[i].statistic:.2f}, "
                        f"p-value {html.escape(format_p_value(shown[i].p_value))}"
                        for i in places
                    ],
                    "textposition": "none",
                    "hoverinfo": "text",
                }
            )
    message = f"{counted(changed, 'column has', 'columns have')} changed, of {len(drifts):,}"
    if changed:
        first = next(drift for drift in shown if drift.has_changed)
        message += f"; most of all {first.column}, by {first.statistic:.2f}"
    if len(drifts) > len(shown):
        message += f". The {len(shown)} with the largest gaps are shown"
    return Chart(
        "drift",
        "Columns, now against in training",
        sentence(message),
        "The gap is the largest difference between the two cumulative distributions "
        "(Kolmogorov-Smirnov): 0 is no difference, 1 is no overlap. p-values allow for the number "
        "of columns.",
        {"data": traces, "layout": layout},
        Numbers(
            ["column", "gap", "p-value", ""],
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


def layout_of(across: str, up: str, height: int = 320) -> Figure:
    """What all charts have in common. Colours of text and grid come from the page's style."""
    axis = {
        "fixedrange": True,  # a finger that scrolls the page must not zoom
        "automargin": True,
        "zeroline": False,
        "gridcolor": GREY,
        "linecolor": GREY,
    }
    return {
        "autosize": True,
        "height": height,
        # plotly leaves out a last tick that has no room on the right.
        "margin": {"l": 12, "r": 22, "t": 12, "b": 12},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": "system-ui, sans-serif", "size": 13, "color": GREY},
        "hoverlabel": {"bgcolor": "#222", "bordercolor": "#222", "font": {"color": "#fff"}},
        "hovermode": "closest",
        "dragmode": False,
        "showlegend": True,
        "legend": {
            "orientation": "h",
            "x": 0,
            "y": 1.02,
            "yanchor": "bottom",
            "itemclick": False,
            "itemdoubleclick": False,
        },
        "xaxis": {**axis, "title": _title(across), "tickangle": 0},
        "yaxis": {**axis, "title": _title(up)},
    }


def _title(text: str) -> Figure:
    return {"text": text, "standoff": 8, "font": {"size": 13}}


def _mark(layout: Figure, at: float, text: str) -> None:
    """A line upwards with a word."""
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


def short(values: Any) -> list[float]:
    """Numbers with as many digits as a chart can show."""
    return [float(f"{value:.5g}") for value in values]


def sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "."
