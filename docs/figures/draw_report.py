"""Draw docs/report.png: a screenshot of the report.html that the commands of the README write."""

import argparse
import io
import shutil
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

WIDTH, HEIGHT = 1100, 980


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("page", type=Path, nargs="?", default=Path("report.html"))
    parser.add_argument(
        "-o", "--output", type=Path, default=Path(__file__).parents[1] / "report.png"
    )
    arguments = parser.parse_args()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        page.goto(arguments.page.resolve().as_uri())
        page.wait_for_selector("html[data-charts=drawn]", state="attached")
        page.locator(".opener").first.click()
        picture = Image.open(io.BytesIO(page.screenshot()))
        browser.close()
    picture.convert("P", palette=Image.Palette.ADAPTIVE, colors=64).save(
        arguments.output, optimize=True
    )


if __name__ == "__main__":
    main()
