"""A chart of a report: a figure as plotly describes it, and its message in words.

Figures are plain dictionaries: plotly.js reads nothing else, and any release of it reads these.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

BLUE, ROSE = "#4477aa", "#cc6677"  # distinguishable for the colour-blind, on white and on black
GREY = "#808080"
FAINT = {BLUE: "rgba(68,119,170,.25)", ROSE: "rgba(204,102,119,.22)"}
NORMAL_LINE = {"color": BLUE, "width": 1.5}
NEW_LINE = {"color": ROSE, "width": 2.5}

MAX_LABEL_LENGTH = 20

Figure = dict[str, Any]


@dataclass(frozen=True)
class NumberTable:
    """The numbers behind a chart."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, eq=False)
class Chart:
    """A figure, and its content in words for those who do not see it.

    Attributes
    ----------
    name, title : str
    message : str
        What the chart shows.
    note : str
        How to read it.
    figure : dict
    numbers : NumberTable or None
    """

    name: str
    title: str
    message: str
    note: str
    figure: Figure
    numbers: NumberTable | None = None


def label_text(text: str, max_length: int = MAX_LABEL_LENGTH) -> str:
    """Text of a user as a label.

    Escaped, because plotly reads `<b>`, `<a href=...>` and `&lt;` as markup and `$x$` as a formula.
    """
    if len(text) > max_length:
        text = text[: max_length - 1] + "…"
    return html.escape(" ".join(text.split()), quote=False).replace("$", "&#36;")


def new_layout(x_title: str, y_title: str, height: int = 320) -> Figure:
    """The layout that all charts share. The page's style sets the colours of text and grid."""
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
        "xaxis": {**axis, "title": _axis_title(x_title), "tickangle": 0},
        "yaxis": {**axis, "title": _axis_title(y_title)},
    }


def _axis_title(text: str) -> Figure:
    return {"text": text, "standoff": 8, "font": {"size": 13}}


def rounded(values: Iterable[float]) -> list[float]:
    """Numbers with as many digits as a chart can show."""
    return [float(f"{value:.5g}") for value in values]


def as_sentence(text: str) -> str:
    """The text with a capital letter and a full stop."""
    return text[:1].upper() + text[1:] + "."
