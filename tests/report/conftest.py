"""Reports, their pages, and a browser that opens them."""

import re
import shutil
from contextlib import contextmanager

import pytest

from ctad.report import render_page

from .reports import bare_report, cancer_report, malicious_report

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
ALL_CHARTS = "html[data-charts=drawn]"
NO_TIMEOUTS = "window.setTimeout = () => 0;"  # charts are drawn in timeouts
# In place of plotly.js, which takes a second to load: notes which charts would be drawn.
STUB = "window.Plotly = { drawn: [], newPlot: (place) => Plotly.drawn.push(place.id) };"
PLOTLY = re.compile(r'(<script type="text/plain" id="plotly">).*?(</script>)', re.DOTALL)


@pytest.fixture(scope="session")
def report():
    return cancer_report()


@pytest.fixture(scope="session")
def pages(report, tmp_path_factory):
    """Paths of pages by name."""
    folder = tmp_path_factory.mktemp("pages")
    reports = {"full": report, "bare": bare_report(report), "malicious": malicious_report()}
    return {
        name: render_page(shown).save(folder / f"{name}.html") for name, shown in reports.items()
    }


@pytest.fixture(scope="session")
def browser():
    api = pytest.importorskip(
        "playwright.sync_api", reason="needs Playwright: pip install playwright"
    )
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        pytest.skip(f"needs one of {', '.join(BROWSERS)}, for example: apt install chromium")
    with api.sync_playwright() as playwright:
        # Containers run as root, for whom chromium has no sandbox.
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


def without_plotly(path):
    light = path.with_suffix(".light.html")
    if not light.exists():
        light.write_text(PLOTLY.sub(r"\1\2", path.read_text(encoding="utf-8")), encoding="utf-8")
    return light


@pytest.fixture(scope="session")
def opened(browser, pages):
    """Open a page by name or path; errors, dialogs and requests of the page fail the test.

    Waits for an element, by default until all charts are drawn. Without charts it is quick.
    """

    @contextmanager
    def opening(name="full", width=1280, charts=True, wait_for=ALL_CHARTS, before="", **options):
        path = pages.get(name, name)
        if not charts:
            before += STUB
            path = without_plotly(path)
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        page = context.new_page()
        page.set_default_timeout(20_000)
        messages, requests = [], []
        page.on("console", lambda message: messages.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: messages.append(str(error)))
        page.on("dialog", lambda dialog: (messages.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: requests.append(request.url))
        page.add_init_script(before)
        page.goto(path.as_uri())
        page.wait_for_selector(wait_for, state="attached")
        yield page
        context.close()
        assert messages == []
        assert requests == [path.as_uri()]

    return opening


@pytest.fixture(scope="module")
def full_page(opened):
    """The full page with its charts, for tests that leave it as it was."""
    with opened() as page:
        yield page


@pytest.fixture(scope="module")
def malicious_page(opened):
    """A page of texts that try to be code, on a phone."""
    with opened("malicious", width=360) as page:
        yield page
