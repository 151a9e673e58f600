"""The pages of the documentation and their code blocks."""

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
NUMBER = r"\d+(?:\.\d+)?"
FENCED = re.compile(r"^ *(?:```|~~~)(\S*)[^\n]*\n(.*?)^ *(?:```|~~~)$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    language: str
    code: str

    @property
    def is_session(self):
        return self.code.lstrip().startswith(">>>")

    @property
    def lines(self):
        return self.code.strip().splitlines()


@dataclass(frozen=True)
class Page:
    """A Markdown file."""

    path: Path

    @property
    def text(self):
        return self.path.read_text(encoding="utf-8")

    @property
    def blocks(self):
        return [Block(language, code) for language, code in FENCED.findall(self.text)]

    def blocks_in(self, language):
        return [block for block in self.blocks if block.language == language]

    @property
    def anchors(self):
        """The names that links to headings of this page may have."""
        headings = re.findall(r"^#+ (.*)$", FENCED.sub("", self.text), flags=re.MULTILINE)
        return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


README = Page(ROOT / "README.md")
EXAMPLE = README.blocks_in("python")[0].code
PAGES = {
    path.stem: Page(path)
    for path in (README.path, ROOT / "CONTRIBUTING.md", *sorted(DOCS.glob("*.md")))
}


def assert_same_output(printed, shown):
    """The same words, and numbers that differ by at most 0.02."""
    words, words_shown = (re.sub(NUMBER, "#", text).split() for text in (printed, shown))
    numbers, numbers_shown = (
        [float(number) for number in re.findall(NUMBER, text)] for text in (printed, shown)
    )
    assert words == words_shown
    assert numbers == pytest.approx(numbers_shown, abs=0.02)


def check_example_output(output):
    """The README's example improves its detector, by the numbers in the comments."""
    printed = [float(number) for number in re.findall(r"(?:before|after) ([\d.]+)", output)]
    in_comments = [float(number) for number in re.findall(r"\)  # ([\d.]+)$", EXAMPLE, re.M)]
    assert printed == pytest.approx(in_comments, abs=0.005)
    before, after = printed
    assert before < after
