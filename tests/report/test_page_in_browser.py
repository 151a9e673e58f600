"""The page in a real browser."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from ctad.report import render_page

from .conftest import NO_TIMEOUTS
from .reports import MALICIOUS_NAMES, MALICIOUS_TEXT, first_rows
from .test_rendering import CHARTS, SECTIONS

pytestmark = pytest.mark.slow


def section_names(page):
    return page.eval_on_selector_all("main > section", "all => all.map(one => one.id)")


def visible_rows(page):
    """The numbers of the visible rows of the table of alerts."""
    cells = page.locator("#alerts-table tbody:not([hidden]) tr:first-child th")
    return [int(text.replace(",", "").split()[-1]) for text in cells.all_inner_texts()]


def column(page, name):
    headers = page.locator("#alerts-table thead th").all_inner_texts()
    place = [header.strip() for header in headers].index(name) + 1
    path = f"#alerts-table tbody:not([hidden]) tr:first-child > :nth-child({place})"
    return [text.strip() for text in page.locator(path).all_inner_texts()]


def test_the_verdict_comes_first_and_all_charts_are_drawn(full_page, report):
    assert section_names(full_page) == list(SECTIONS)
    assert full_page.locator("h1").inner_text() == report.title
    verdict = full_page.locator("#verdict").inner_text()
    assert f"{len(report.labels)}\n\nnew rows" in verdict
    assert f"{report.selected.sum()}\n\nto act on" in verdict
    assert (
        "On average, at most 5\u00a0% of these rows are false alarms, provided that normal rows"
        in verdict
    )
    assert "Drift\n\nthe model may no longer fit" in verdict
    assert report.drift.text in verdict
    assert report.notices[0] in verdict
    for name in CHARTS:
        chart = full_page.locator(f"#chart-{name}")
        assert chart.locator(".trace, .point, .points path").count() > 0, name
        assert chart.bounding_box()["width"] > 400


def test_the_chart_on_the_screen_is_drawn_first(opened):
    with opened(charts=False) as page:
        assert page.evaluate("Plotly.drawn[0]") == "chart-drift"
        assert len(page.evaluate("Plotly.drawn")) == len(CHARTS)
    scroll = """
        addEventListener("load", () => {
            document.getElementById("map").scrollIntoView({ behavior: "instant" });
        });
    """
    with opened(charts=False, before=scroll) as page:
        assert page.evaluate("Plotly.drawn[0]") == "chart-map"


def test_sections_without_data_are_left_out(opened):
    with opened("bare", charts=False) as page:
        names = ["verdict", "alerts", "scores", "map", "model", "reproduce"]
        assert section_names(page) == names
        assert page.locator("nav a").all_inner_texts() == [SECTIONS[name] for name in names]
        assert "ranked, but not selected" in page.locator("#verdict").inner_text()
        headers = " ".join(page.locator("#alerts-table thead th").all_inner_texts())
        assert headers == "Row Rank Score Main reason Detector's rank"
        assert page.get_by_label("only rows to act on").count() == 0


def test_alerts_are_sorted_by_click_and_by_keyboard(opened, report):
    with opened(charts=False) as page:
        page.locator("#more").click()
        assert visible_rows(page) == [alert.row for alert in report.alerts]
        score = page.get_by_role("button", name="Score", exact=True)
        header = page.locator("#alerts-table thead th", has=score)
        score.click()
        assert header.get_attribute("aria-sort") == "ascending"
        assert visible_rows(page) == [alert.row for alert in report.alerts[::-1]]
        score.press("Enter")
        assert header.get_attribute("aria-sort") == "descending"
        assert visible_rows(page) == [alert.row for alert in report.alerts]
        page.get_by_role("button", name="Main reason").press("Space")
        assert column(page, "Main reason") == sorted(column(page, "Main reason"))
        assert page.locator("#alerts-table [aria-sort=none]").count() == 7


def test_infinite_scores_are_sorted_and_shown(opened, report, tmp_path):
    alerts = [
        replace(alert, score=score)
        for alert, score in zip(report.alerts, (np.inf, 12345.6, 0.5, -np.inf), strict=False)
    ]
    path = render_page(replace(report, alerts=alerts)).save(tmp_path / "page.html")
    with opened(path, charts=False) as page:
        assert column(page, "Score") == ["∞", "12,300", "0.500", "\u2212∞"]
        page.get_by_role("button", name="Score", exact=True).click()
        assert column(page, "Score") == ["\u2212∞", "0.500", "12,300", "∞"]


def test_alerts_are_searched_and_filtered(opened, report):
    with opened(charts=False) as page:
        shown = page.get_by_role("status")
        assert shown.inner_text() == "20 of 100 rows shown"
        act = [alert.row for alert in report.alerts if alert.is_selected]
        page.get_by_label("only rows to act on").check()
        assert visible_rows(page) == act
        assert shown.inner_text() == f"{len(act)} of 100 rows shown"
        name = "symmetry"
        page.get_by_label("Find").fill(name.upper())
        expected = [
            alert.row
            for alert in report.alerts
            if alert.is_selected and any(name in reason.column for reason in alert.reasons)
        ]
        assert 0 < len(expected) < len(act)
        assert visible_rows(page) == expected
        page.get_by_label("Find").fill("no such thing")
        assert visible_rows(page) == []
        page.get_by_label("Find").fill("")
        page.get_by_label("only rows to act on").uncheck()
        page.get_by_role("button", name="Show all 100 rows").press("Enter")
        assert len(visible_rows(page)) == 100
        assert page.evaluate("document.activeElement.className") == "opener"


def test_a_row_opens_its_explanation_and_keeps_it_when_sorted(opened, report):
    with opened(charts=False) as page:
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


@pytest.mark.parametrize("width", [360, 768])
def test_nothing_is_wider_than_the_screen(malicious_page, width):
    page = malicious_page
    page.set_viewport_size({"width": width, "height": 900})
    page.wait_for_function(
        "width => [...document.querySelectorAll('.chart .main-svg:first-child')]"
        ".every(chart => chart.getBoundingClientRect().width <= width)",
        arg=width,
    )
    opener = page.locator(".opener").first
    if opener.get_attribute("aria-expanded") == "false":
        opener.click()
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") == width
    explanation = page.locator(".explanation").first.bounding_box()
    assert explanation["x"] >= 0
    assert explanation["x"] + explanation["width"] <= width
    for region in page.locator(".wide").all():
        assert region.get_attribute("tabindex") == "0"


def test_charts_follow_the_width_of_the_window(full_page):
    chart = full_page.locator("#chart-roc .main-svg").first
    is_narrower = """old => {
        const chart = document.querySelector('#chart-roc .main-svg');
        return chart.getBoundingClientRect().width < old;
    }"""
    before = chart.bounding_box()["width"]
    full_page.set_viewport_size({"width": 390, "height": 800})
    full_page.wait_for_function(is_narrower, arg=before)
    assert chart.bounding_box()["width"] <= 390
    full_page.set_viewport_size({"width": 1280, "height": 900})
    full_page.wait_for_function(f"old => !({is_narrower})(old)", arg=before)


def test_a_finger_on_a_chart_scrolls_the_page(opened):
    phone = {"width": 390, "has_touch": True, "is_mobile": True}
    with opened(wait_for="#chart-scores-before .main-svg", **phone) as page:
        box = page.locator("#chart-scores-before").bounding_box()
        page.evaluate("y => scrollTo({top: y, behavior: 'instant'})", box["y"] - 200)
        box, before = page.locator("#chart-scores-before").bounding_box(), page.evaluate("scrollY")
        session = page.context.new_cdp_session(page)
        finger = {"x": 200, "y": box["y"] + 200}
        session.send("Input.synthesizeScrollGesture", {**finger, "yDistance": -150})
        assert page.evaluate("scrollY") > before + 100


def test_user_text_is_shown_as_text(malicious_page):
    """No text becomes an element. The fixture checks that there were no dialogs or requests."""
    page = malicious_page
    assert page.title() == MALICIOUS_TEXT
    assert page.locator("h1").inner_text() == MALICIOUS_TEXT
    assert page.locator("#reproduce code").inner_text() == MALICIOUS_TEXT
    assert page.locator("script").count() == 4  # figures, plotly.js twice, page.js
    assert page.locator("img, main b, main i, a[href^='javascript'], main script").count() == 0
    shown = " ".join(page.locator("#alerts").text_content().split())
    for name in list(MALICIOUS_NAMES.values())[:4]:
        assert " ".join(name.split()) in shown


def test_user_text_is_shown_as_text_in_charts(malicious_page):
    page = malicious_page
    labels = page.locator("#chart-drift .yaxislayer-above text").all_text_contents()
    assert "<script>alert(1)</s…" in labels
    assert '"><img src=x onerro…' in labels
    assert "$x^2$" in labels  # not a formula
    assert page.locator("#chart-drift a, #chart-map a").count() == 0
    bar = page.locator("#chart-drift .points path").nth(labels.index("<script>alert(1)</s…"))
    bar.scroll_into_view_if_needed()
    box = bar.bounding_box()
    page.mouse.move(box["x"] + 5, box["y"] + 5)
    page.mouse.move(box["x"] + 9, box["y"] + 5)
    hover = page.wait_for_selector(".hoverlayer text", state="attached")
    assert hover.text_content().startswith("<script>alert(1)</script>: difference 0.")


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


@pytest.mark.parametrize("scheme", ["dark", "light"])
def test_text_contrasts_with_its_background(full_page, scheme):
    full_page.emulate_media(color_scheme=scheme)
    full_page.locator(".opener").first.click()
    assert full_page.evaluate(CONTRAST) == []
    background = full_page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (background == "rgb(255, 255, 255)") == (scheme == "light")
    full_page.locator(".opener").first.click()
    full_page.emulate_media(color_scheme="light")


def test_screen_readers_and_keyboards(opened, report):
    with opened(charts=False) as page:
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
        numbers = page.get_by_role("region", name="Columns compared with training: numbers")
        assert report.drift.drifts[0].column in numbers.inner_text()


def test_the_focus_is_visible(opened):
    with opened(charts=False) as page:
        for _ in range(40):
            page.keyboard.press("Tab")
            outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
            assert outline != "none", page.evaluate("document.activeElement.outerHTML")


def test_print_is_light_fits_the_paper_and_explains_the_first_rows(opened):
    with opened(color_scheme="dark", before=NO_TIMEOUTS, wait_for="main") as page:
        page.evaluate("dispatchEvent(new Event('beforeprint'))")  # draws the charts
        page.emulate_media(media="print", color_scheme="dark")
        page.set_viewport_size({"width": 680, "height": 900})  # A4 between its margins
        assert page.evaluate("document.documentElement.scrollWidth") == 680
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == (
            "rgb(255, 255, 255)"
        )
        assert page.locator(".why:visible").count() == 5
        assert not page.locator("nav").is_visible()
        for chart in page.locator(".chart").all():
            width = chart.bounding_box()["width"]
            assert chart.locator(".main-svg").first.bounding_box()["width"] <= width
        assert page.evaluate(CONTRAST) == []
        page.set_viewport_size({"width": 1280, "height": 900})
        page.emulate_media(media="screen")
        assert page.pdf(format="A4").startswith(b"%PDF")
        page.wait_for_function(
            "document.querySelector('#chart-map .main-svg').getBoundingClientRect().width > 640"
        )


def test_reduced_motion(opened):
    with opened(charts=False, reduced_motion="reduce") as page:
        assert page.evaluate("getComputedStyle(document.documentElement).scrollBehavior") == "auto"


def test_the_page_works_without_scripts(opened, report):
    with opened(charts=False, wait_for="main", java_script_enabled=False) as page:
        assert page.locator(".why:visible").count() == len(report.alerts)
        assert page.locator(".chart:visible").count() == 0


def test_a_single_row(opened, report, tmp_path):
    path = render_page(first_rows(report, 1)).save(tmp_path / "one.html")
    with opened(path) as page:
        assert "map" in section_names(page)
