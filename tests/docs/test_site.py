"""The site is strict, and needs no network."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

DOCS = Path(__file__).parents[2] / "docs"
FAULTY_PAGE = "# Pages\n\n[gone](gone.md), $a_b$\n\n```{toctree}\n:glob:\n\napi/*\n```\n"
BARE_CLASS = "\nctad.Bare = type('Bare', (), {})\nctad.__all__.append('Bare')\n"


class Built(NamedTuple):
    code: int
    said: str
    pages: list[str]


@pytest.fixture(scope="module")
def faulty(tmp_path_factory):
    """A site as ours with a broken link, a class without docstring and a page that is missing."""
    source = tmp_path_factory.mktemp("docs")
    shutil.copytree(DOCS / "api", source / "api")
    (source / "api" / "evaluation.rst").unlink()
    (source / "conf.py").write_text((DOCS / "conf.py").read_text() + BARE_CLASS)
    (source / "index.md").write_text(FAULTY_PAGE)
    options = ["--fail-on-warning", "--keep-going", "--quiet"]
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", *options, source, source / "site"],
        capture_output=True,
        text=True,
        check=False,
    )
    pages = [path.read_text() for path in (source / "site").rglob("*.html")]
    return Built(done.returncode, done.stderr, pages)


def test_broken_links_and_names_without_documentation_are_errors(faulty):
    assert faulty.code != 0
    assert "'myst' cross-reference target not found: 'gone.md'" in faulty.said
    assert "ctad.Bare has no docstring" in faulty.said
    assert "ctad.evaluation.run is public and not described" in faulty.said
    assert "ctad.evaluation.Results" in faulty.said
    assert "ctad.CTAD.delta" not in faulty.said


def test_pages_fetch_nothing(faulty):
    assert len(faulty.pages) > len(list(DOCS.glob("api/*")))
    for page in faulty.pages:
        assert not re.search(r'<(script|link|img|iframe)[^>]*(src|href)="(https?:)?//', page)
    assert any("<math" in page for page in faulty.pages)
