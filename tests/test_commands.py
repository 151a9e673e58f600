"""The commands and the code a stranger sees first, run as they would run them."""

import os
import re
import shutil
import subprocess
import sys
import venv
from ast import literal_eval
from pathlib import Path

import pytest

from ctad import CTAD, RelaxedCTAD
from ctad.detectors import KNOWN_DETECTORS

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
EXAMPLE, DECIDING, BY_NAME = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
DECIDED, EVALUATED = re.findall(r"```text\n(.*?)```", README, flags=re.DOTALL)


def run(*command, cwd=ROOT):
    return subprocess.run(
        [str(part) for part in command], cwd=cwd, check=True, capture_output=True, text=True
    ).stdout


def check_example_output(output):
    """The detector gets better, by the numbers in the comments."""
    printed = [float(number) for number in re.findall(r"(?:before|after) ([\d.]+)", output)]
    in_comments = [float(number) for number in re.findall(r"\)  # ([\d.]+)$", EXAMPLE, re.M)]
    assert printed == pytest.approx(in_comments, abs=0.005)
    before, after = printed
    assert before < after


def test_the_readmes_example_runs_and_the_detector_gets_better():
    assert len([line for line in EXAMPLE.splitlines() if line]) <= 10
    check_example_output(run(sys.executable, "-W", "error", "-c", EXAMPLE))


def test_the_readmes_example_does_not_score_its_training_rows():
    names = {}
    exec(EXAMPLE, names)
    train = {row.tobytes() for row in names["X_train"]}
    assert not train & {row.tobytes() for row in names["X_new"]}


def test_the_readmes_way_from_fit_to_explained_alerts(tmp_path):
    assert len([line for line in DECIDING.splitlines() if line]) <= 12
    output = run(sys.executable, "-W", "error", "-c", DECIDING, cwd=tmp_path)
    assert output.startswith(DECIDED.removesuffix("  ...\n"))
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert re.search(r">38</p>\s*<p class=\"what\">to act on<", page)


def test_the_readmes_detector_by_name_runs_after_the_example():
    names = {}
    exec(EXAMPLE + BY_NAME, names)
    assert names["detector"].anomaly_score(names["X_new"]).shape == names["anomalous"].shape


def test_the_readme_lists_all_detectors_by_family():
    families = {known.family for known in KNOWN_DETECTORS.values()}
    for family in families:
        [listed] = re.findall(rf"^\| {family} \| (.*) \|$", README, flags=re.M)
        names = re.findall(r"\w+", re.sub(r"\(.*?\)", "", listed))
        assert set(names) == {k.name for k in KNOWN_DETECTORS.values() if k.family == family}


def test_what_the_readme_links_to_is_in_the_repository():
    linked = set(re.findall(r"\]\(([^)#:]+)\)", README))
    assert {"docs/demo.png", "docs/report.png", "CONTRIBUTING.md", "CHANGELOG.md"} <= linked
    if (ROOT / ".git").exists():
        assert linked <= set(run("git", "ls-files").splitlines())
    assert all((ROOT / name).is_file() for name in linked)


def test_the_readme_lists_the_defaults_as_they_are():
    settings = README.split("## Settings")[1].split("##")[0]
    rows = re.findall(r"^\| `(\w+)` \|.*\| ([^|]+) \| ([^|]+) \|$", settings, flags=re.M)
    relaxed, paper = RelaxedCTAD().get_params(), CTAD().get_params()
    assert {name for name, *_ in rows} == (relaxed.keys() | paper) - {"n_jobs", "random_state"}
    for name, *shown in rows:
        for parameters, text in zip((relaxed, paper), shown, strict=True):
            value = re.match(r"`(.+)`|([\d.]+)$", text)
            assert (value is None) == (name not in parameters), name
            if value is not None:
                assert literal_eval(value[1] or value[2]) == parameters[name], name


def test_the_wheel_runs_the_readmes_example_and_the_command_in_an_empty_environment(tmp_path):
    source = tmp_path / "source"
    shutil.copytree(
        ROOT, source, ignore=shutil.ignore_patterns(".*", "__pycache__", "docs", "tests")
    )
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "-o", tmp_path, cwd=source)
    [wheel] = tmp_path.glob("ctad-*.whl")
    listed = run(sys.executable, "-m", "zipfile", "-l", wheel)
    assert "ctad/py.typed" in listed

    venv.create(tmp_path / "empty", with_pip=True)
    python = tmp_path / "empty" / "bin" / "python"
    install = python, "-m", "pip", "install", "-q", "-c", ROOT / "constraints.txt"
    run(*install, wheel)
    check_example_output(run(python, "-W", "error", "-c", EXAMPLE, cwd=tmp_path))
    installed = run(python, "-m", "pip", "list", "--format=freeze")
    assert not {"pandas", "pyod", "torch", "pot"} & set(re.findall(r"^([\w-]+)=", installed, re.M))

    with pytest.raises(subprocess.CalledProcessError) as refused:
        run(python.with_name("ctad"), "--help")
    assert "pip install 'ctad[cli]' brings it" in refused.value.stderr
    run(*install, f"{wheel}[cli]")
    run(python, ROOT / "examples" / "orders.py", cwd=tmp_path)
    ctad = python.with_name("ctad")
    run(ctad, "fit", "train.csv", "-o", "m.ctad", cwd=tmp_path)
    assert "1,000 rows" in run(ctad, "score", "m.ctad", "new.csv", "-o", "s.parquet", cwd=tmp_path)
    listed = run(ctad, "detectors")
    assert "PyOD: pip install 'ctad[pyod]'" in listed


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    picture = tmp_path_factory.mktemp("demo") / "demo.png"
    page = picture.with_name("report.html")
    demo = ROOT / "examples" / "demo.py"
    return picture, run(sys.executable, demo, "-o", picture, "--report", page)


def test_the_demo_says_where_the_picture_is(demo):
    picture, output = demo
    assert str(picture) in output
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.stat().st_size > 20_000


def test_the_demo_ends_with_a_report_and_how_to_open_it(demo):
    picture, output = demo
    page = picture.with_name("report.html")
    assert output.strip().endswith(f"Open it in a browser: {page.as_uri()}")
    assert "Against the labels" in page.read_text(encoding="utf-8")


def test_the_readme_shows_what_the_demo_prints(demo):
    _, output = demo
    printed = re.findall(r"(\w+) \(\w+\) +([\d.]+) → ([\d.]+) +([\d.]+) → ([\d.]+)", output)
    shown = re.findall(r"^\| (\w+) \([\w-]+\) \|(.*)\|$", README, flags=re.M)
    assert len(printed) == len(shown) == 5
    for (name, *numbers), (name_shown, cells) in zip(printed, shown, strict=True):
        assert name == name_shown
        assert [float(n) for n in numbers] == pytest.approx(
            [float(n) for n in re.findall(r"[\d.]+", cells)], abs=0.002
        )


BENCHMARKS = {
    "transport": ("K=5, M=20, D=21", "K=50, M=99", "explaining rows", "MB beyond in- and output"),
    "networks": ("outside of tensor operations", "MCM", "DRL"),
    "report": ("Report of 10,000 rows", "page, MB", "opens, seconds", "The last chart"),
    "streams": ("IForest: peak memory", "IForest: rate, % of that from memory", "File: 0.01 GB"),
}


@pytest.mark.parametrize("name", BENCHMARKS)
def test_the_benchmarks_print_their_tables(name):
    output = run(sys.executable, ROOT / "benchmarks" / f"{name}.py", "--quick")
    for line in BENCHMARKS[name]:
        assert line in output


def test_the_readmes_walk_through_runs_line_by_line(tmp_path):
    [walk] = re.findall(r"```console\n(python examples/orders.*?)```", README, flags=re.DOTALL)
    lines = walk.splitlines()
    assert len(lines) == 6
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    printed = {
        line: subprocess.run(
            line, shell=True, check=True, capture_output=True, text=True, cwd=tmp_path,
            env={**os.environ, "PATH": path},
        ).stdout
        for line in lines
    }  # fmt: skip
    assert (tmp_path / "scored.csv").read_text().count("\n") == 1001
    [evaluation] = [text for line, text in printed.items() if "evaluate" in line]
    shown = EVALUATED
    assert re.sub(r"[\d.]+", "", evaluation).split() == re.sub(r"[\d.]+", "", shown).split()
    numbers = [[float(n) for n in re.findall(r"\d+\.\d+", text)] for text in (evaluation, shown)]
    assert numbers[0] == pytest.approx(numbers[1], abs=0.02)


def test_the_readmes_study_of_ones_own_data_sets_runs(tmp_path):
    [study] = re.findall(r"```console\n(python examples/studies.*?)```", README, flags=re.DOTALL)
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for line in study.splitlines():
        printed = run("sh", "-c", f"PATH='{path}' {line}", cwd=tmp_path)
    assert "what calibration adds, honest protocol" in printed
    assert (tmp_path / "mine-results" / "report.html").exists()


def test_the_page_of_our_results_is_built_from_a_clone(tmp_path):
    shutil.copytree(ROOT / "results", tmp_path / "results", ignore=lambda *_: ["scores"])
    printed = run(Path(sys.executable).parent / "ctad", "paper", "--from", "results", cwd=tmp_path)
    assert "what calibration adds, published protocol" in printed
    assert (tmp_path / "results" / "report.html").exists()


def test_the_readmes_commands_are_the_makefiles():
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), flags=re.M))
    used = set(re.findall(r"make (\w+)(?=\s|`)", README.split("## The method")[0]))
    assert {"demo", "test", "bench", "paper"} <= used & targets
