"""The page, as a person or a program finds it."""

import builtins
import json
import re
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from ctad.report import Scores, page_of

from .reports import EVIL, large_report

ALL = {
    "verdict": "Verdict",
    "alerts": "Top alerts",
    "drift": "Changed columns",
    "p-values": "How unusual the rows are",
    "scores": "Scores before and after",
    "curves": "Against the labels",
    "moved": "What calibration moved",
    "map": "Map",
    "model": "The model",
    "reproduce": "Make this page again",
}
CHARTS = {"drift", "p-values", "scores-before", "scores-after", "roc", "pr", "map"}


def sections(page):
    return page.eval_on_selector_all("main > section", "all => all.map(one => one.id)")


def first_cells(page):
    """The rows of the table of alerts that can be seen."""
    cells = page.locator("#alerts-table tbody:not([hidden]) tr:first-child th")
    return [int(text.replace(",", "").split()[-1]) for text in cells.all_inner_texts()]


def column(page, name):
    headers = page.locator("#alerts-table thead th").all_inner_texts()
    place = [header.strip() for header in headers].index(name) + 1
    path = f"#alerts-table tbody:not([hidden]) tr:first-child > :nth-child({place})"
    return [text.strip() for text in page.locator(path).all_inner_texts()]


def test_the_verdict_comes_first_and_all_charts_are_drawn(opened, report):
    with opened() as page:
        assert sections(page) == list(ALL)
        assert page.locator("h1").inner_text() == report.title
        verdict = page.locator("#verdict").inner_text()
        assert f"{len(report.labels)}\n\nnew rows" in verdict
        assert f"{report.selected.sum()}\n\nto act on" in verdict
        assert (
            "on average at most 5\u00a0% are false alarms. That holds if normal rows are still"
            in verdict
        )
        assert "Does not fit" in verdict
        assert report.fit.text in verdict
        assert report.notices[0] in verdict
        for name in CHARTS:
            chart = page.locator(f"#chart-{name}")
            assert chart.locator(".trace, .point, .points path").count() > 0, name
            assert chart.bounding_box()["width"] > 400


def test_what_is_on_the_screen_is_drawn_first(opened):
    noted = """
        window.order = [];
        new MutationObserver((changes) => {
            for (const { target } of changes) if (target.matches?.(".chart")) order.push(target.id);
        }).observe(document, { childList: true, subtree: true });
    """
    with opened(before=noted) as page:
        assert page.evaluate("order")[0] == "chart-drift"
    scrolled = """
        addEventListener("load", () => {
            document.getElementById("map").scrollIntoView({ behavior: "instant" });
        });
    """
    with opened(before=noted + scrolled) as page:
        assert page.evaluate("order")[0] == "chart-map"


def test_what_there_is_no_data_for_is_left_out(opened):
    with opened("bare") as page:
        assert sections(page) == ["verdict", "alerts", "scores", "map", "model", "reproduce"]
        assert page.locator("nav a").all_inner_texts() == [ALL[name] for name in sections(page)]
        assert "which to act on cannot be said" in page.locator("#verdict").inner_text()
        headers = " ".join(page.locator("#alerts-table thead th").all_inner_texts())
        assert headers == "Row Rank Score Main reason Detector's rank"
        assert page.get_by_label("only rows to act on").count() == 0


@pytest.mark.parametrize("name", ["full", "bare"])
def test_links_lead_somewhere(opened, name):
    with opened(name, wait=False) as page:
        targets = page.eval_on_selector_all("a", "all => all.map(a => a.getAttribute('href'))")
        assert len(targets) == len(set(targets))
        for target in targets:
            assert page.locator(target).count() == 1


def test_alerts_are_sorted_by_click_and_by_keyboard(opened, report):
    with opened(wait=False) as page:
        page.locator("#more").click()
        assert first_cells(page) == [alert.row for alert in report.alerts]
        score = page.get_by_role("button", name="Score", exact=True)
        header = page.locator("#alerts-table thead th", has=score)
        score.click()
        assert header.get_attribute("aria-sort") == "ascending"
        assert first_cells(page) == [alert.row for alert in report.alerts[::-1]]
        score.press("Enter")
        assert header.get_attribute("aria-sort") == "descending"
        assert first_cells(page) == [alert.row for alert in report.alerts]
        page.get_by_role("button", name="Main reason").press("Space")
        assert column(page, "Main reason") == sorted(column(page, "Main reason"))
        assert page.locator("#alerts-table [aria-sort=none]").count() == 7


def test_endless_scores_are_sorted_and_shown(opened, report, tmp_path):
    alerts = [
        alert._replace(score=score)
        for alert, score in zip(report.alerts, (np.inf, 12345.6, 0.5, -np.inf), strict=False)
    ]
    (tmp_path / "page.html").write_text(page_of(replace(report, alerts=alerts)), encoding="utf-8")
    with opened(tmp_path / "page.html", wait=False) as page:
        assert column(page, "Score") == ["∞", "12,300", "0.500", "\u2212∞"]
        page.get_by_role("button", name="Score", exact=True).click()
        assert column(page, "Score") == ["\u2212∞", "0.500", "12,300", "∞"]


def test_alerts_are_found_by_words_and_by_what_to_act_on(opened, report):
    with opened(wait=False) as page:
        shown = page.get_by_role("status")
        assert shown.inner_text() == "20 of 100 rows shown"
        act = [alert.row for alert in report.alerts if alert.is_selected]
        page.get_by_label("only rows to act on").check()
        assert first_cells(page) == act
        assert shown.inner_text() == f"{len(act)} of 100 rows shown"
        name = "symmetry"
        page.get_by_label("Find").fill(name.upper())
        expected = [
            alert.row
            for alert in report.alerts
            if alert.is_selected and any(name in reason.column for reason in alert.reasons)
        ]
        assert 0 < len(expected) < len(act)
        assert first_cells(page) == expected
        page.get_by_label("Find").fill("no such thing")
        assert first_cells(page) == []
        page.get_by_label("Find").fill("")
        page.get_by_label("only rows to act on").uncheck()
        page.get_by_role("button", name="Show all 100 rows").press("Enter")
        assert len(first_cells(page)) == 100
        assert page.evaluate("document.activeElement.className") == "opener"


def test_a_row_opens_to_its_explanation_and_keeps_it_when_sorted(opened, report):
    with opened(wait=False) as page:
        alert = report.alerts[1]
        opener = page.get_by_role("button", name=f"Why row {alert.row}", exact=True)
        why = page.locator(f"#{opener.get_attribute('aria-controls')}")
        assert not why.is_visible()
        opener.press("Enter")
        assert opener.get_attribute("aria-expanded") == "true"
        assert why.is_visible()
        for text in (alert.text.splitlines()[0], alert.reasons[0].column, alert.reasons[0].usual):
            assert text in why.inner_text()
        page.get_by_role("button", name="p-value", exact=True).click()
        page.locator("#more").click()
        above = why.locator("xpath=preceding-sibling::tr").locator("button")
        assert above.inner_text().split()[-1] == str(alert.row)
        opener.click()
        assert not why.is_visible()


@pytest.mark.parametrize(("name", "width"), [("full", 360), ("evil", 360), ("full", 768)])
def test_nothing_is_wider_than_the_screen(opened, name, width):
    with opened(name, width) as page:
        page.locator(".opener").first.click()
        for summary in page.locator("summary").all():
            summary.click()
        assert page.evaluate("document.documentElement.scrollWidth") == width
        seen = page.locator(".explanation").first.bounding_box()
        assert seen["x"] >= 0
        assert seen["x"] + seen["width"] <= width
        for region in page.locator(".wide").all():
            assert region.get_attribute("tabindex") == "0"
        for chart in page.locator(".chart .main-svg:first-child").all():
            assert chart.bounding_box()["width"] <= width


def test_charts_follow_the_width_of_the_window(opened):
    with opened(width=1280) as page:
        chart = page.locator("#chart-roc .main-svg").first
        before = chart.bounding_box()["width"]
        page.set_viewport_size({"width": 390, "height": 800})
        page.wait_for_function(
            "old => document.querySelector('#chart-roc .main-svg').getBoundingClientRect().width"
            " < old",
            arg=before,
        )
        assert chart.bounding_box()["width"] <= 390


def test_a_finger_on_a_chart_scrolls_the_page(opened):
    with opened(width=390, has_touch=True, is_mobile=True) as page:
        box = page.locator("#chart-scores-before").bounding_box()
        page.evaluate("y => scrollTo({top: y, behavior: 'instant'})", box["y"] - 200)
        box, before = page.locator("#chart-scores-before").bounding_box(), page.evaluate("scrollY")
        session = page.context.new_cdp_session(page)
        finger = {"x": 200, "y": box["y"] + 200}
        session.send("Input.synthesizeScrollGesture", {**finger, "yDistance": -150})
        assert page.evaluate("scrollY") > before + 100


def test_user_text_is_shown_as_text(opened):
    """Whatever a column is called, no element comes of it; `opened` sees dialogs and requests."""
    with opened("evil") as page:
        for opener in page.locator("#alerts-table tbody:not([hidden]) .opener").all():
            opener.click()
        assert page.locator("script").count() == 4  # figures, plotly.js twice, page.js
        assert page.locator("img, main b, main i, a[href^='javascript'], main script").count() == 0
        shown = page.locator("#alerts").inner_text()
        for name in list(EVIL.values())[:4]:
            assert " ".join(name.split()) in " ".join(shown.split())
        labels = page.locator("#chart-drift .yaxislayer-above text").all_text_contents()
        assert "<script>alert(1)</s…" in labels
        assert '"><img src=x onerro…' in labels
        assert page.locator("#chart-drift a, #chart-map a").count() == 0
        assert "$x^2$" in labels  # no formula
        bar = page.locator("#chart-drift .points path").nth(labels.index("<script>alert(1)</s…"))
        bar.scroll_into_view_if_needed()
        box = bar.bounding_box()
        page.mouse.move(box["x"] + 5, box["y"] + 5)
        page.mouse.move(box["x"] + 9, box["y"] + 5)
        hover = page.wait_for_selector(".hoverlayer text", state="attached")
        assert hover.text_content().startswith("<script>alert(1)</script>: gap 0.")


def test_titles_facts_and_commands_are_text_too(opened, report, tmp_path):
    evil = "</title></script><script>alert(1)</script><img src=x onerror=alert(2)>"
    shown = replace(
        report,
        title=evil,
        facts={evil: evil},
        reproduce=evil,
        notices=[evil],
        fit=report.fit._replace(text=evil),
        plane=report.plane._replace(axes=(evil, "\ud800 half a character")),
    )
    (tmp_path / "page.html").write_text(page_of(shown), encoding="utf-8")
    with opened(tmp_path / "page.html") as page:
        assert page.title() == evil
        assert page.locator("h1").inner_text() == evil
        assert page.locator("#reproduce code").inner_text() == evil
        assert page.locator("img").count() == 0


def test_figures_are_json_that_no_parser_of_html_takes_for_markup(pages):
    text = pages["evil"].read_text(encoding="utf-8")
    (figures,) = re.findall(r'<script type="application/json" id="figures">(.*?)</script>', text)
    assert not set("<>&\u2028") & set(figures)
    assert set(json.loads(figures)) == CHARTS


CONTRAST = """() => {
  const part = (v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const numbers = (color) => color.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  const ground = (e) => {
    for (; e; e = e.parentElement) {
      const color = numbers(getComputedStyle(e).backgroundColor);
      if (color.length < 4 || color[3] === 1) return color;
    }
    return [255, 255, 255];
  };
  const low = [];
  for (const e of document.querySelectorAll("body *")) {
    const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    const box = e.getBoundingClientRect();
    if (!own || !box.width || !box.height || e.closest(".hoverlayer, script, .unseen")) continue;
    const style = getComputedStyle(e);
    const ink = e.closest("svg") ? style.fill : style.color;
    const [a, b] = [light(numbers(ink)), light(ground(e))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) low.push([e.tagName, e.textContent, ink, ratio]);
  }
  return low;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_its_ground(opened, scheme):
    with opened(color_scheme=scheme) as page:
        page.locator(".opener").first.click()
        assert page.evaluate(CONTRAST) == []
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (ground == "rgb(255, 255, 255)") == (scheme == "light")


def test_it_can_be_used_without_seeing_it(opened, report):
    with opened() as page:
        for landmark in ("banner", "navigation", "main", "contentinfo"):
            assert page.get_by_role(landmark).count() == 1
        levels = page.eval_on_selector_all("h1, h2, h3", "all => all.map(h => +h.tagName[1])")
        assert levels[0] == 1
        assert all(after - before <= 1 for before, after in pairwise(levels))
        for name in CHARTS:
            chart = page.locator(f"#chart-{name}")
            assert chart.get_attribute("role") == "img"
            assert len(chart.get_attribute("aria-label")) > 60
        assert page.locator("table:not(:has(caption))").count() == 0
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.innerText") == "Skip to the verdict"
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "main"
        page.locator("#chart-drift + figcaption summary").press("Enter")
        numbers = page.get_by_role("region", name="Columns, now against in training: the numbers")
        assert report.fit.drifts[0].column in numbers.inner_text()


def test_focus_can_be_seen_on_all_that_takes_it(opened):
    with opened() as page:
        for _ in range(40):
            page.keyboard.press("Tab")
            outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
            assert outline != "none", page.evaluate("document.activeElement.outerHTML")


def test_print_is_light_fits_the_paper_and_explains_the_first_rows(opened):
    with opened(color_scheme="dark") as page:
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        page.emulate_media(media="print", color_scheme="dark")
        page.set_viewport_size({"width": 680, "height": 900})  # A4 between its margins
        assert page.evaluate("document.documentElement.scrollWidth") == 680
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == (
            "rgb(255, 255, 255)"
        )
        assert page.locator(".why:visible").count() == 5
        assert not page.locator("nav").is_visible()
        for chart in page.locator(".chart").all():
            room = chart.bounding_box()["width"]
            assert chart.locator(".main-svg").first.bounding_box()["width"] <= room
        assert page.evaluate(CONTRAST) == []
    with opened() as page:
        assert page.pdf(format="A4").startswith(b"%PDF")
        page.wait_for_function(
            "document.querySelector('#chart-map .main-svg').getBoundingClientRect().width > 640"
        )


def test_those_who_want_no_motion_get_none(opened):
    with opened(wait=False, reduced_motion="reduce") as page:
        assert page.evaluate("getComputedStyle(document.documentElement).scrollBehavior") == "auto"


def test_the_table_can_be_read_without_scripts(opened, report):
    with opened(wait=False, java_script_enabled=False) as page:
        assert page.locator(".why:visible").count() == len(report.alerts)
        assert page.locator(".chart:visible").count() == 0


def test_many_rows_are_summarised(opened, tmp_path):
    page = page_of(large_report())
    assert len(page.encode()) < 8e6
    assert page.count('class="opener"') == 100
    path = tmp_path / "large.html"
    path.write_text(page, encoding="utf-8")
    with opened(path, width=390) as shown:
        assert "100,000\n\nnew rows" in shown.locator("#verdict").inner_text()
        assert "more" in shown.locator("#chart-scores-after .xtick").all_text_contents()
        assert shown.locator("#chart-map .point").count() <= 4000
        assert "share one bar at the end" in shown.locator("#scores").inner_text()


@pytest.mark.parametrize("rows", [0, 1, 2])
def test_few_rows_are_no_trouble(opened, report, tmp_path, rows):
    few = replace(
        report,
        scores=Scores(*(part[:rows] for part in report.scores)),
        p_values=report.p_values[:rows],
        selected=report.selected[:rows],
        labels=report.labels[:rows],
        alerts=[],
        moved_up=[],
        moved_down=[],
        plane=report.plane._replace(
            new=report.plane.new[:rows], new_rows=np.arange(rows), centroids=np.empty((0, 2))
        ),
    )
    path = tmp_path / "few.html"
    path.write_text(page_of(few), encoding="utf-8")
    with opened(path) as page:
        assert ("map" in sections(page)) == (rows > 0)


@pytest.mark.parametrize(("fits", "text"), [(True, "Fits"), (False, "Does not fit")])
def test_the_verdict_says_whether_the_model_still_fits(report, fits, text):
    page = page_of(replace(report, fit=replace(report.fit, still_fits=fits, p_value=None)))
    assert f'<p class="figure">{text}</p>' in page


def test_no_row_to_act_on_is_said(report):
    page = page_of(replace(report, selected=np.zeros(len(report.labels), dtype=bool)))
    assert f"fewer than {report.fewest} anomalies among so many rows" in page
    enough = replace(report, selected=np.zeros(len(report.labels), dtype=bool), fewest=1)
    assert "No row is unusual enough" in page_of(enough)


@pytest.mark.parametrize("missing", ["plotly", "jinja2"])
def test_without_plotly_or_jinja2_the_error_says_what_brings_them(report, missing, monkeypatch):
    for name in list(sys.modules):
        if name.partition(".")[0] == missing:
            monkeypatch.delitem(sys.modules, name)
    found = builtins.__import__

    def lacking(name, *rest, **more):
        if name.partition(".")[0] == missing:
            raise ImportError(f"No module named {name!r}", name=missing)
        return found(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", lacking)
    with pytest.raises(ImportError, match=rf"need {missing}: pip install 'ctad\[report\]'"):
        page_of(report)


def test_what_draws_is_imported_when_a_page_is_made():
    code = "import sys, ctad.report; sys.exit(bool({'plotly', 'jinja2'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
