"""Broken links and missing documentation fail the build; pages of the site fetch nothing."""

import re
import warnings
from dataclasses import dataclass

import pytest

import ctad

from .pages import DOCS

# Our configuration on two small pages: a broken link, a class without a docstring, and an API page
# that lacks a function.
INDEX = "# Pages\n\n[gone](gone.md), $a_b$\n\n```{toctree}\napi\n```\n"
API = """
API
===

.. currentmodule:: ctad
.. autoclass:: CTAD
   :members:
   :inherited-members:
.. autoclass:: Undocumented
"""


@dataclass(frozen=True)
class Build:
    """How a build of the site ended."""

    code: int
    log: str
    pages: list[str]


@pytest.fixture(scope="module")
def faulty_build(tmp_path_factory):
    from sphinx.cmd.build import build_main

    source = tmp_path_factory.mktemp("docs")
    (source / "conf.py").write_bytes((DOCS / "conf.py").read_bytes())
    (source / "index.md").write_text(INDEX)
    (source / "api.rst").write_text(API)
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings(action="ignore"):
        patch.setattr(ctad, "Undocumented", type("Undocumented", (), {}), raising=False)
        patch.setattr(ctad, "__all__", [*ctad.__all__, "Undocumented"])
        options = ["--fail-on-warning", "--keep-going", "--quiet", "-w", str(source / "log")]
        code = build_main([*options, str(source), str(source / "site")])
    pages = [path.read_text() for path in (source / "site").rglob("*.html")]
    return Build(code, (source / "log").read_text(), pages)


def test_broken_links_and_missing_documentation_are_errors(faulty_build):
    assert faulty_build.code != 0
    assert "'myst' cross-reference target not found: 'gone.md'" in faulty_build.log
    assert "ctad.Undocumented has no docstring" in faulty_build.log
    assert "ctad.RelaxedCTAD is public and not in docs/api" in faulty_build.log
    assert "ctad.theory.bounds is public and not in docs/api" in faulty_build.log
    assert "ctad.CTAD.delta" not in faulty_build.log


def test_pages_fetch_nothing(faulty_build):
    assert len(faulty_build.pages) >= 2
    for page in faulty_build.pages:
        assert not re.search(r'<(script|link|img|iframe)[^>]*(src|href)="(https?:)?//', page)
    assert any("<math" in page for page in faulty_build.pages)
