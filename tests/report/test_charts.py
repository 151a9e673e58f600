"""Charts, also of scores with extreme values."""

from dataclasses import replace

import numpy as np
import plotly.graph_objects
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ctad._number_text import format_p_value
from ctad._result_types import ColumnDrift
from ctad.report._chart import label_text
from ctad.report._curve_charts import comparisons, curve_charts
from ctad.report._drift_chart import drift_chart
from ctad.report._formatting import percent_text, score_text, tick_text
from ctad.report._map_chart import map_chart
from ctad.report._p_value_chart import p_value_chart
from ctad.report._score_axis import ScoreAxis
from ctad.report._score_charts import score_charts

from .reports import large_report

scores = arrays(
    np.float64, st.integers(1, 40), elements=st.floats(allow_nan=False, allow_infinity=True)
)


@given(scores, scores)
@example(np.array([0.0]), np.array([5e-324]))  # the smallest difference there is
def test_every_axis_has_all_scores_and_distinct_ticks(first, second):
    axis = ScoreAxis.fitting(first, second)
    for group in (first, second):
        assert axis.counts(group).sum() == len(group)
    positions, texts = axis.ticks()
    assert len(positions) == len(texts) >= 1
    assert positions == sorted(set(positions))
    assert np.isfinite(axis.edges()).all()
    assert (np.diff(axis.edges()) > 0).all()


def test_ticks_are_round_and_few():
    def ticks(values):
        return ScoreAxis.fitting(np.asarray(values)).ticks()[1]

    assert ticks(np.linspace(0.36, 0.7, 500)) == ["0.4", "0.5", "0.6", "0.7"]
    assert ticks([*np.linspace(0, 10, 500), np.inf])[-1] == "more"
    assert ticks([*np.linspace(0, 10, 500), -1e9])[0] == "less"


def test_plotly_accepts_the_figures(report):
    for shown in (report, large_report()):
        charts = [
            *score_charts(shown),
            *curve_charts(shown, comparisons(shown)),
            p_value_chart(shown),
            drift_chart(shown.drift.drifts),
            map_chart(shown),
        ]
        for chart in charts:
            plotly.graph_objects.Figure(chart.figure).to_json()


def test_bars_of_p_values_include_all_rows(report):
    chart = p_value_chart(report)
    rows = [int(row[1].replace(",", "")) for row in chart.numbers.rows]
    assert sum(rows) == len(report.scores.p_value)
    at_most = (report.scores.p_value <= 0.05).sum()
    assert rows[0] == at_most
    assert percent_text(at_most / len(report.scores.p_value)) in chart.message


def test_the_most_changed_columns_are_shown():
    drifts = [ColumnDrift(f"c{c}", c / 100, 0.5, c > 90) for c in range(100)]
    chart = drift_chart(drifts)
    assert [row[0] for row in chart.numbers.rows] == [f"c{c}" for c in range(99, 79, -1)]
    assert chart.message.startswith("9 of 100 columns have changed, most of all c99, by 0.99.")
    assert drift_chart([]) is None


def test_rows_far_out_are_drawn_at_the_edge(report):
    new = report.projection.new.copy()
    new[0] = 1e6
    chart = map_chart(replace(report, projection=replace(report.projection, new=new)))
    assert "Drawn at the edges: 1 row farther out" in chart.message
    for trace in chart.figure["data"]:
        assert max(trace["x"]) < 1e3


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<b>x</b>", "&lt;b&gt;x&lt;/b&gt;"),
        ("&lt;", "&amp;lt;"),
        ("a\nb", "a b"),
        ("x" * 30, "x" * 19 + "…"),
    ],
)
def test_labels_have_no_markup(text, shown):
    assert label_text(text) == shown


def test_numbers_as_text():
    assert [format_p_value(p) for p in (1, 0.05, 0.00099, 0.0004, 0)] == [
        "1.000",
        "0.050",
        "0.0010",
        "0.0004",
        "< 0.000001",
    ]
    assert [score_text(s) for s in (999.6, 0.0001, 1e-5, 0, -1234567)] == [
        "1,000",
        "0.000100",
        "1.00e\u221205",
        "0",
        "\u22121,230,000",
    ]
    assert score_text(float("nan")) == "not a number"
    assert percent_text(0.00001) == "< 0.1\u00a0%"
    assert percent_text(0.99999) == "> 99.9\u00a0%"
    assert [tick_text(*t) for t in ((0, 1), (2e7, 1e6), (1e6 + 0.5, 0.5), (3e-7, 1e-7))] == [
        "0",
        "2e7",
        "1,000,000.5",
        "3e\u221207",
    ]
