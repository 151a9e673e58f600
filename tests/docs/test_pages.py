"""Every code block of the documentation runs, and every link leads somewhere."""

import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ..cli.conftest import run

DOCS = Path(__file__).parents[2] / "docs"
PAGES = {path.stem: path.read_text(encoding="utf-8") for path in sorted(DOCS.glob("*.md"))}


def blocks(page, language):
    return re.findall(rf"```{language}\n(.*?)```", PAGES[page], flags=re.DOTALL)


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "python")])
def test_the_python_of_a_page_runs_from_top_to_bottom(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in blocks(page, "python"):
        if ">>>" not in block:  # these have a test of their own
            exec(compile(block, page, "exec"), names)


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
    return folder


COMMANDS = [
    line
    for page in ("start", "command")
    for block in blocks(page, "console")
    for line in block.splitlines()
    if line.startswith("ctad ")
]


def test_the_commands_of_the_pages_run(workplace, monkeypatch):
    monkeypatch.chdir(workplace)
    assert len(COMMANDS) > 5
    for line in dict.fromkeys(COMMANDS):
        done = run(*shlex.split(line)[1:])
        assert done.code == 0, (line, done.err)


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
