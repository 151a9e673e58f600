"""The page as text, without a browser."""

import builtins
import json
import re
import sys
from dataclasses import replace

import numpy as np
import pytest

from ctad.report import render_page

from .reports import first_rows, large_report

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
CHARTS = {"drift", "p-values", "scores-before", "scores-after", "roc", "pr", "map"}


@pytest.mark.parametrize("name", ["full", "bare"])
def test_all_links_have_a_target(pages, name):
    text = pages[name].read_text(encoding="utf-8").partition('<script type="text/plain"')[0]
    targets = re.findall(r'<a [^>]*href="#([^"]*)"', text)
    assert len(targets) == len(set(targets)) > 5
    for target in targets:
        assert text.count(f'id="{target}"') == 1


def figures_of(html):
    (text,) = re.findall(r'<script type="application/json" id="figures">(.*?)</script>', html)
    return text


def test_figures_are_json_without_markup(pages):
    figures = figures_of(pages["malicious"].read_text(encoding="utf-8"))
    assert not set("<>&\u2028") & set(figures)
    assert set(json.loads(figures)) == CHARTS


def test_many_rows_are_summarised():
    page = render_page(large_report()).html
    assert len(page.encode()) < 8e6
    assert page.count('class="opener"') == 100
    assert '<p class="figure">20,000</p>' in page
    assert "share one bar at the end" in page
    figures = json.loads(figures_of(page))
    assert "more" in figures["scores-after"]["layout"]["xaxis"]["ticktext"]
    assert sum(len(trace["x"]) for trace in figures["map"]["data"]) <= 4000


@pytest.mark.parametrize("n", [0, 2])
def test_few_rows(report, n):
    page = render_page(first_rows(report, n)).html
    assert ('<section id="map"' in page) == (n > 0)


@pytest.mark.parametrize(("still_fits", "text"), [(True, "No drift"), (False, "Drift")])
def test_the_verdict_on_drift(report, still_fits, text):
    drift = replace(report.drift, still_fits=still_fits, p_value=None)
    page = render_page(replace(report, drift=drift))
    assert f'<p class="figure">{text}</p>' in page.html


def test_the_reason_why_no_row_is_selected(report):
    none = replace(report, selected=np.zeros(len(report.labels), dtype=bool))
    assert f"fewer than {report.fewest_discoveries} anomalies" in render_page(none).html
    enough = replace(none, fewest_discoveries=1)
    assert "No row is unusual enough" in render_page(enough).html


@pytest.mark.parametrize("missing", ["plotly", "jinja2"])
def test_missing_packages_are_named(report, missing, monkeypatch):
    for name in list(sys.modules):
        if name.partition(".")[0] == missing:
            monkeypatch.delitem(sys.modules, name)
    original = builtins.__import__

    def without(name, *rest, **more):
        if name.partition(".")[0] == missing:
            raise ImportError(f"No module named {name!r}", name=missing)
        return original(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=rf"need {missing}: pip install 'ctad\[report\]'"):
        render_page(report)
