"""Code blocks and commands of the pages run, names in them exist, and links lead somewhere."""

import doctest
import re
import shlex
import tomllib
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import typer

from ctad.cli._app import app

from ..cli.conftest import run
from ..scripts import run_script
from .pages import DOCS, PAGES, ROOT, Block, assert_same_output

# Included scripts run in tests/test_examples.py, the Python of the README in test_readme.py.
NOT_RUN = {"text", "{toctree}", "{include}", "{literalinclude}"}
MAKE_TARGETS = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), flags=re.M))
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
def test_every_block_has_a_known_language(page):
    assert {block.language for block in page.blocks} <= NOT_RUN | {"python", "console"}
    assert page.text.count("```") + page.text.count("~~~") == 2 * len(page.blocks)


WITH_PYTHON = [name for name in PAGES if PAGES[name].blocks_in("python") and name != "README"]


@pytest.mark.slow
@pytest.mark.parametrize("name", WITH_PYTHON)
def test_the_python_of_a_page_runs_from_top_to_bottom(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names, same = {}, doctest.OutputChecker().check_output
    for block, following in pairwise([*PAGES[name].blocks, Block("", "")]):
        if block.language == "python" and not block.is_session:
            exec(compile(block.code, name, "exec"), names)
            printed = capsys.readouterr().out
            if following.language == "text":
                assert same(following.code, printed, doctest.ELLIPSIS), printed


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in PAGES if ">>>" in PAGES[name].text])
def test_the_sessions_of_a_page_print_what_it_shows(name):
    failed, tried = doctest.testfile(str(PAGES[name].path), module_relative=False)
    assert tried
    assert not failed


@pytest.fixture
def workplace(tmp_path, monkeypatch):
    """A folder with the files that commands of the pages name."""
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    table = pd.DataFrame(random.normal(size=(300, 3)), columns=list("abc")).assign(id=range(300))
    (tmp_path / "incoming").mkdir()
    for name in ("train", "new", "incoming/one"):
        table.to_parquet(tmp_path / f"{name}.parquet")
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    (tmp_path / "mine").mkdir()
    labelled = table.drop(columns="id").assign(is_fraud=np.arange(300) < 20)
    labelled.to_csv(tmp_path / "mine" / "payments.csv", index=False)
    (tmp_path / "examples").symlink_to(ROOT / "examples")


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in PAGES if PAGES[name].blocks_in("console")])
def test_the_commands_of_a_page_run(name, workplace, in_this_process):
    for block, following in pairwise([*PAGES[name].blocks, Block("", "")]):
        if block.language == "console":
            printed = [run_command(line) for line in block.lines]
            if following.language == "text":
                assert_same_output(printed[-1], following.code)


def run_command(line):
    """Run or check a line of a console block; return what it prints."""
    program, *arguments = shlex.split(line, comments=True)
    match program:
        case "ctad":
            done = run(*arguments)
            assert done.code == 0, (line, done.err)
            return done.out
        case "python":
            return run_script(*arguments)
        case "make":
            assert set(arguments) <= MAKE_TARGETS, line
        case "pip":
            [extras] = re.findall(r"^\.\[(.*)\]$", arguments[-1])
            assert arguments[0] == "install"
            assert set(extras.split(",")) <= set(EXTRAS), line
        case _:
            assert program == ".venv/bin/pytest", line
            assert (ROOT / arguments[0]).is_file(), line
    return ""


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
def test_commands_in_the_text_exist(page):
    commands = set(typer.main.get_command(app).commands)
    code = re.findall(r"`([^`]+)`", page.text)
    assert {name for text in code for name in re.findall(r"^ctad ([a-z]+)", text)} <= commands
    assert {name for text in code for name in re.findall(r"^make\s([a-z-]+)", text)} <= MAKE_TARGETS


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
def test_links_lead_somewhere(page):
    for target, heading in re.findall(r"\]\(([^)#:]*)(?:#([\w-]+))?\)", page.text):
        linked = (page.path.parent / target).resolve() if target else page.path
        assert linked.is_file(), target
        if heading:
            assert heading in PAGES[linked.stem].anchors, f"{target}#{heading}"


def test_every_page_is_on_the_site():
    listed = re.findall(r"^[\w/-]+$", PAGES["index"].text, flags=re.M)
    pages = {path.stem for path in DOCS.glob("*.md")} - {"index"}
    assert pages | {f"api/{path.stem}" for path in DOCS.glob("api/*.rst")} <= set(listed)
