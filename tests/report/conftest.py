"""Pages in a real browser."""

import shutil
from contextlib import contextmanager

import pytest

from ctad.report import page_of

from .reports import bare, cancer_report

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="session")
def report():
    return cancer_report()


@pytest.fixture(scope="session")
def pages(report, tmp_path_factory):
    """Paths of pages by name."""
    folder = tmp_path_factory.mktemp("pages")
    reports = {"full": report, "bare": bare(report), "evil": cancer_report(evil=True)}
    for name, shown in reports.items():
        (folder / f"{name}.html").write_text(page_of(shown), encoding="utf-8")
    return {name: folder / f"{name}.html" for name in reports}


@pytest.fixture(scope="session")
def browser():
    api = pytest.importorskip(
        "playwright.sync_api", reason="needs Playwright: pip install playwright"
    )
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        pytest.skip(f"needs one of {', '.join(BROWSERS)}: apt install chromium, or alike")
    with api.sync_playwright() as playwright:
        # Containers run as root, for whom chromium has no sandbox.
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def opened(browser, pages):
    """Open a page by name or path; whatever it asks for or complains of fails the test."""

    @contextmanager
    def opening(name="full", width=1280, wait=True, before="", **options):
        path = pages.get(name, name)
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        page = context.new_page()
        page.set_default_timeout(20_000)
        said, asked = [], []
        page.on("console", lambda message: said.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: asked.append(request.url))
        page.add_init_script(before)
        page.goto(path.as_uri())
        if wait:
            page.wait_for_selector("html[data-charts=drawn]", state="attached")
        yield page
        context.close()
        assert said == []
        assert asked == [path.as_uri()]

    return opening
