"""Numbers and lists of the README and of the page on settings are those of the library."""

import doctest
import re
import subprocess
from ast import literal_eval

import pytest

from ctad import CTAD, RelaxedCTAD
from ctad.detectors import KNOWN_DETECTORS

from .pages import EXAMPLE, PAGES, README, ROOT, check_example_output

_, DECISIONS = (block.code for block in README.blocks_in("python"))
[DECISIONS_OUTPUT] = (block.code for block in README.blocks_in("text"))
CHOOSING = PAGES["choosing"].text


def test_the_code_runs_and_prints_what_is_shown(tmp_path, monkeypatch, capsys):
    assert len([line for line in EXAMPLE.splitlines() if line]) <= 10
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(EXAMPLE, names)
    check_example_output(capsys.readouterr().out)
    train = {row.tobytes() for row in names["X_train"]}
    assert not train & {row.tobytes() for row in names["X_new"]}

    exec(DECISIONS, names)
    printed = capsys.readouterr().out
    assert doctest.OutputChecker().check_output(DECISIONS_OUTPUT, printed, doctest.ELLIPSIS)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    n_alerts = printed.split(" of ")[0]
    assert re.search(rf">{n_alerts}</p>\s*<p class=\"what\">to act on<", page)


def test_the_readme_is_short_and_names_the_two_commands():
    assert len(README.text.splitlines()) <= 140
    commands = [line for block in README.blocks_in("console") for line in block.lines]
    assert {"make demo", "make test"} <= {line.split("#")[0].strip() for line in commands}


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a clone")
def test_linked_files_are_in_the_repository():
    linked = set(re.findall(r"\]\(([^)#:]+)", README.text))
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    assert linked <= set(tracked.stdout.splitlines())


def test_all_detectors_are_listed_by_family():
    for family in {known.family for known in KNOWN_DETECTORS.values()}:
        [listed] = re.findall(rf"^\| {family} \| (.*) \|$", CHOOSING, flags=re.M)
        names = re.findall(r"\w+", re.sub(r"\(.*?\)", "", listed))
        assert set(names) == {k.name for k in KNOWN_DETECTORS.values() if k.family == family}


def test_the_table_of_settings_has_the_defaults():
    settings = CHOOSING.split("## A calibration")[1].split("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \|.*\| ([^|]+) \| ([^|]+) \|$", settings, flags=re.M)
    relaxed, paper = RelaxedCTAD().get_params(), CTAD().get_params()
    assert {name for name, *_ in rows} == (relaxed.keys() | paper) - {"n_jobs", "random_state"}
    for name, *cells in rows:
        for parameters, cell in zip((relaxed, paper), cells, strict=True):
            shown = re.match(r"`(.+)`", cell)
            assert (shown is None) == (name not in parameters), name
            if shown is not None:
                assert literal_eval(shown[1]) == parameters[name], name
