"""Render a report as one HTML file that needs no other file and no network."""

from __future__ import annotations

import base64
import hashlib
import json
import math
from importlib.resources import files
from typing import Any

from .. import __version__
from .._metrics import Comparison
from .._number_text import counted, format_p_value
from ..errors import MissingPackageError
from ._chart import Chart
from ._curve_charts import RESAMPLES, comparisons, curve_charts, has_curves
from ._drift_chart import drift_chart
from ._formatting import gain_text, percent_text, score_text
from ._map_chart import map_chart
from ._p_value_chart import p_value_chart
from ._page import Page
from ._report import Report
from ._score_charts import score_charts

EXPLAINED_IN_PRINT = 5

# Sections without data are left out. The first ones are for people on call.
SECTIONS = {
    "verdict": "Verdict",
    "alerts": "Top alerts",
    "drift": "Drift by column",
    "p-values": "p-values of the new rows",
    "scores": "Scores before and after calibration",
    "curves": "Comparison with the labels",
    "moved": "Rows that calibration moved",
    "map": "Map",
    "model": "The model",
    "reproduce": "Reproduce this page",
}


def render_page(report: Report) -> Page:
    """Render a report as an HTML page.

    Parameters
    ----------
    report : Report

    Returns
    -------
    Page
        Self-contained: styles, scripts and plotly.js are inside, and its content security policy
        forbids any request.

    Raises
    ------
    MissingPackageError
        Without plotly and jinja2, which `pip install 'ctad[report]'` installs.

    Examples
    --------
    >>> import numpy as np
    >>> from ctad.report import Projection, Report, render_page
    >>> from ctad._result_types import ScoreParts
    >>> points = np.array([[0.0, 0.0], [0.1, 0.2], [9.0, 9.0]])
    >>> scores = ScoreParts(
    ...     base_score=np.array([0.1, 0.2, 3.0]),
    ...     delta=np.array([0.0, 0.1, 2.0]),
    ...     score=np.array([0.1, 0.3, 5.0]),
    ... )
    >>> report = Report(
    ...     title="A detector, calibrated",
    ...     facts={"training rows": "300"},
    ...     reproduce="det.report(X)",
    ...     scores=scores,
    ...     normal_scores=None,
    ...     selected=None,
    ...     fdr=0.05,
    ...     labels=None,
    ...     alerts=[],
    ...     moved_up=[],
    ...     moved_down=[],
    ...     drift=None,
    ...     projection=Projection(
    ...         points, points, np.arange(3), points[:1], (0.6, 0.4), ("a", "b")
    ...     ),
    ... )
    >>> page = render_page(report)
    >>> page.html.count("<h1>A detector, calibrated</h1>"), "src=" in page.html[:2000]
    (1, False)
    """
    try:
        from jinja2 import Environment, StrictUndefined
        from plotly.offline import get_plotlyjs
    except ImportError as error:
        raise MissingPackageError(
            f"reports need {error.name}: pip install 'ctad[report]'"
        ) from error

    compared = comparisons(report) if has_curves(report) else {}
    charts = _charts(report, compared)
    plotly, script = _inside_script(get_plotlyjs()), _inside_script(_template("page.js"))
    environment = Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined
    )
    environment.filters |= {
        "p": format_p_value,
        "score": score_text,
        "gain": gain_text,
        "percent": percent_text,
        "sortable": _sortable,
        "json": _json,
    }
    page = environment.from_string(_template("page.html")).render(
        report=report,
        sections={name: SECTIONS[name] for name in SECTIONS if _has_content(report, name, charts)},
        charts=charts,
        figures={chart.name: chart.figure for part in charts.values() for chart in part},
        compared=compared,
        resamples=RESAMPLES,
        n_rows=len(report.scores.score),
        n_selected=None if report.selected is None else int(report.selected.sum()),
        n_found=_n_found(report),
        alerts=report.alerts[: Report.MAX_ALERTS],
        moved=[
            (direction, moved[: Report.MAX_MOVED])
            for direction, moved in (("up", report.moved_up), ("down", report.moved_down))
            if moved
        ],
        explained_in_print=EXPLAINED_IN_PRINT,
        css=_template("page.css"),
        plotly=plotly,
        script=script,
        policy=_policy(plotly, script),
        version=__version__,
        counted=counted,
    )
    # Broken files may contain half characters, which cannot be written as UTF-8.
    return Page(page.strip().encode("utf-8", "backslashreplace").decode("utf-8"))


def _charts(report: Report, compared: dict[str, Comparison]) -> dict[str, list[Chart]]:
    """The charts of each section."""
    drifts = report.drift.drifts if report.drift is not None else ()
    return {
        "drift": _present(drift_chart(drifts)),
        "p-values": _present(p_value_chart(report)),
        "scores": list(score_charts(report)),
        "curves": list(curve_charts(report, compared)) if compared else [],
        "map": _present(map_chart(report)),
    }


def _n_found(report: Report) -> int | None:
    """The number of anomalies among the rows to act on."""
    if report.selected is None or report.labels is None:
        return None
    return int((report.selected & report.labels).sum())


def _present(chart: Chart | None) -> list[Chart]:
    return [] if chart is None else [chart]


def _has_content(report: Report, section: str, charts: dict[str, list[Chart]]) -> bool:
    if section in charts:
        return bool(charts[section])
    parts = {
        "alerts": report.alerts,
        "moved": [*report.moved_up, *report.moved_down],
        "model": report.facts,
        "reproduce": report.reproduce,
    }
    return bool(parts.get(section, True))


def _template(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _inside_script(code: str) -> str:
    """Code that cannot close its script element; line ends as in a browser, for its hash."""
    return code.replace("\r\n", "\n").replace("</script", "<\\/script").replace("<!--", "<\\!--")


def _policy(*scripts: str) -> str:
    """The content security policy: only these scripts run, and nothing is fetched.

    Even if some text of a user were not escaped, it could not run or send anything.
    """
    hashes = (base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in scripts)
    allowed = " ".join(f"'sha256-{code}'" for code in hashes)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _json(value: Any) -> Any:
    """JSON for a script element, without `</script>` and `<!--`."""
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
