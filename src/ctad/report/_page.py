"""One HTML file with all of a report in it, which needs no other file and no network."""

from __future__ import annotations

import base64
import hashlib
import json
import math
from importlib.resources import files
from typing import Any

from .. import __version__
from .._metrics import Comparison
from .._p_values import format_p_value
from ..errors import MissingPackageError
from ._charts import (
    RESAMPLES,
    Chart,
    comparisons,
    curve_charts,
    drift_chart,
    has_curves,
    p_value_chart,
    score_charts,
)
from ._data import MOST_ALERTS, MOST_MOVED, Report
from ._map import map_chart
from ._numbers import counted, gain_text, percent_text, score_text

EXPLAINED_IN_PRINT = 5

# In this order; those without data are left out. What a person on call needs stands first.
SECTIONS = {
    "verdict": "Verdict",
    "alerts": "Top alerts",
    "drift": "Columns, now and in training",
    "p-values": "How unusual the rows are",
    "scores": "Scores before and after",
    "curves": "Against the labels",
    "moved": "What calibration moved",
    "map": "Map",
    "model": "The model",
    "reproduce": "Make this page again",
}


def page_of(report: Report) -> str:
    """The HTML page of a report.

    Parameters
    ----------
    report : Report

    Returns
    -------
    str
        One self-contained file: styles, scripts and plotly.js are inside, and its content
        security policy forbids any request.

    Raises
    ------
    ImportError
        Without plotly and jinja2, which `pip install 'ctad[report]'` brings.

    Examples
    --------
    >>> import numpy as np
    >>> from ctad.report import Plane, Report, Scores, page_of
    >>> points = np.array([[0.0, 0.0], [0.1, 0.2], [9.0, 9.0]])
    >>> base, term = np.array([0.1, 0.2, 3.0]), np.array([0.0, 0.1, 2.0])
    >>> report = Report(
    ...     title="A detector, calibrated",
    ...     facts={"training rows": "300"},
    ...     reproduce="det.report(X)",
    ...     scores=Scores(base, term, base + term),
    ...     normal=None,
    ...     p_values=None,
    ...     selected=None,
    ...     fdr=0.05,
    ...     labels=None,
    ...     alerts=[],
    ...     moved_up=[],
    ...     moved_down=[],
    ...     fit=None,
    ...     plane=Plane(points, points, np.arange(3), points[:1], (0.6, 0.4), ("a", "b")),
    ... )
    >>> page = page_of(report)
    >>> page.count("<h1>A detector, calibrated</h1>"), "src=" in page[:2000]
    (1, False)
    """
    try:
        from jinja2 import Environment, StrictUndefined
        from plotly.offline import get_plotlyjs
    except ImportError as error:
        raise MissingPackageError(
            f"reports need {error.name}: pip install 'ctad[report]' brings it"
        ) from error

    compared = comparisons(report) if has_curves(report) else {}
    charts = _charts(report, compared)
    plotly, script = _inside_script(get_plotlyjs()), _inside_script(_part("page.js"))
    environment = Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined
    )
    environment.filters |= {
        "p": format_p_value,
        "score": score_text,
        "gain": gain_text,
        "percent": percent_text,
        "sortable": _sortable,
        "data": _data,
    }
    page = environment.from_string(_part("page.html")).render(
        report=report,
        sections={name: SECTIONS[name] for name in SECTIONS if _has(report, name, charts)},
        charts=charts,
        figures={chart.name: chart.figure for part in charts.values() for chart in part},
        compared=compared,
        resamples=RESAMPLES,
        rows=len(report.scores.score),
        selected=None if report.selected is None else int(report.selected.sum()),
        found=_found(report),
        alerts=report.alerts[:MOST_ALERTS],
        moved=[
            (direction, moved[:MOST_MOVED])
            for direction, moved in (("up", report.moved_up), ("down", report.moved_down))
            if moved
        ],
        explained_in_print=EXPLAINED_IN_PRINT,
        css=_part("page.css"),
        plotly=plotly,
        script=script,
        policy=_policy(plotly, script),
        version=__version__,
        counted=counted,
    )
    # Text with half a character, as broken files have, could not be written as UTF-8.
    return page.strip().encode("utf-8", "backslashreplace").decode("utf-8")


def _charts(report: Report, compared: dict[str, Comparison]) -> dict[str, list[Chart]]:
    """The charts of each section."""
    drifts = report.fit.drifts if report.fit is not None else ()
    return {
        "drift": _present(drift_chart(drifts)),
        "p-values": _present(p_value_chart(report)),
        "scores": list(score_charts(report)),
        "curves": list(curve_charts(report, compared)) if compared else [],
        "map": _present(map_chart(report)),
    }


def _found(report: Report) -> int | None:
    """How many anomalies are among the rows to act on."""
    if report.selected is None or report.labels is None:
        return None
    return int((report.selected & report.labels).sum())


def _present(chart: Chart | None) -> list[Chart]:
    return [] if chart is None else [chart]


def _has(report: Report, section: str, charts: dict[str, list[Chart]]) -> bool:
    if section in charts:
        return bool(charts[section])
    parts = {
        "alerts": report.alerts,
        "moved": [*report.moved_up, *report.moved_down],
        "model": report.facts,
        "reproduce": report.reproduce,
    }
    return bool(parts.get(section, True))


def _part(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _inside_script(code: str) -> str:
    """Code that cannot end its element early; line ends as a browser sees them."""
    return code.replace("\r\n", "\n").replace("</script", "<\\/script").replace("<!--", "<\\!--")


def _policy(*scripts: str) -> str:
    """What the browser lets the page do: run these scripts, show itself, fetch nothing.

    Should any text of a user ever escape its quotes, it still cannot run or call home.
    """
    hashes = (base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in scripts)
    allowed = " ".join(f"'sha256-{code}'" for code in hashes)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _data(value: Any) -> Any:
    """JSON to stand inside a script element, where `</script>` and `<!--` mean something."""
    from markupsafe import Markup

    text = json.dumps(value, allow_nan=False, separators=(",", ":"))  # escapes U+2028 as well
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)


def _sortable(value: float) -> str:
    """A number as JavaScript reads it."""
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return repr(float(value))
