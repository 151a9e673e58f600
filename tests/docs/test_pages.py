"""Every code block of the documentation runs, and every link leads somewhere."""

import doctest
import re
import shlex
import subprocess
import sys
import tomllib
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest

from ..cli.conftest import run

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = {
    **{path.stem: path.read_text(encoding="utf-8") for path in sorted(DOCS.glob("*.md"))},
    "contributing": (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"),
}
# Scripts that are included run in tests of their own, and what they print is compared there.
NOT_RUN = {"text", "{toctree}", "{include}", "{literalinclude}"}


class Block(NamedTuple):
    page: str
    language: str
    code: str


BLOCKS = [
    Block(page, language, code)
    for page, text in PAGES.items()
    for language, code in re.findall(
        r"^ *(?:```|~~~)(\S*)[^\n]*\n(.*?)^ *(?:```|~~~)$", text, flags=re.DOTALL | re.MULTILINE
    )
]
COMMANDS = [
    line
    for block in BLOCKS
    if block.language == "console"
    for line in block.code.strip().splitlines()
]


def python_of(page):
    return [block.code for block in BLOCKS if block[:2] == (page, "python")]


def is_session(code):
    return code.lstrip().startswith(">>>")


def test_all_blocks_are_of_a_kind_that_is_run():
    assert {block.language for block in BLOCKS} <= NOT_RUN | {"python", "console"}
    assert sum(text.count("```") + text.count("~~~") for text in PAGES.values()) == 2 * len(BLOCKS)


@pytest.mark.parametrize("page", [page for page in PAGES if python_of(page)])
def test_the_python_of_a_page_runs_from_top_to_bottom(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names, compared = {}, doctest.OutputChecker().check_output
    of_page = [block for block in BLOCKS if block.page == page]
    for block, following in pairwise([*of_page, Block(page, "", "")]):
        if block.language == "python" and not is_session(block.code):
            exec(compile(block.code, page, "exec"), names)
            printed = capsys.readouterr().out
            if following.language == "text":
                assert compared(following.code, printed, doctest.ELLIPSIS), printed


@pytest.mark.parametrize("page", [page for page in PAGES if ">>>" in PAGES[page]])
def test_the_sessions_of_a_page_print_what_it_shows(page, monkeypatch):
    monkeypatch.chdir(ROOT)
    failed, tried = doctest.testfile(str(DOCS / f"{page}.md"), module_relative=False)
    assert tried
    assert not failed


@pytest.fixture(scope="module")
def workplace(tmp_path_factory):
    """The files that commands of the pages name."""
    folder = tmp_path_factory.mktemp("workplace")
    random = np.random.default_rng(0)
    table = pd.DataFrame(random.normal(size=(300, 3)), columns=list("abc")).assign(id=range(300))
    (folder / "incoming").mkdir()
    for name in ("train", "new", "incoming/one"):
        table.to_parquet(folder / f"{name}.parquet")
        table.to_csv(folder / f"{name}.csv", index=False)
    (folder / "examples").symlink_to(ROOT / "examples")
    return folder


def test_the_commands_of_the_pages_run(workplace, monkeypatch):
    monkeypatch.chdir(workplace)
    assert len(COMMANDS) > 10
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), flags=re.M)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for line in dict.fromkeys(COMMANDS):
        program, *arguments = shlex.split(line, comments=True)
        match program:
            case "ctad":
                done = run(*arguments)
                assert done.code == 0, (line, done.err)
            case "python":
                subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
            case "make":
                assert set(arguments) <= set(targets), line
            case "pip":
                [named] = re.findall(r"^\.\[(.*)\]$", arguments[-1])
                assert arguments[0] == "install"
                assert set(named.split(",")) <= set(project["optional-dependencies"]), line
            case _:
                assert program == ".venv/bin/pytest", line
                file, _, test = arguments[0].partition("::")
                assert f"\ndef {test}(" in (ROOT / file).read_text(), line


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    for target, heading in re.findall(r"\]\(([\w./-]+\.(?:md|png))?(#[\w-]+)?\)", PAGES[page]):
        if target:
            assert (DOCS / target).is_file(), target
        if heading:
            text = PAGES[Path(target).stem if target else page]
            headings = re.findall(r"^#+ (.*)$", text, flags=re.M)
            anchors = {re.sub(r"[^\w -]", "", h.lower()).replace(" ", "-") for h in headings}
            assert heading[1:] in anchors, heading
