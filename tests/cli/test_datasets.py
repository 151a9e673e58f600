"""ctad datasets: list, details and downloads."""

# ruff: noqa: F401, F811 - fixtures

import re
from dataclasses import asdict, replace
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from ctad.cli._datasets import _known_names
from ctad.datasets import KNOWN_DATASETS, load_dataset

from ..datasets.conftest import body, no_data_yet, npz, small, source, wine
from ..datasets.server import error, whole
from .conftest import run

README = (Path(__file__).parents[2] / "README.md").read_text()


def lines_of(done):
    """The words of each line, by its first word."""
    return {line.split()[0]: line.split()[1:] for line in done.out.splitlines() if line.split()}


@pytest.fixture
def folder(tmp_path, wine, body):
    """The registered data set, another one under a registered name, a user's own, a broken file."""
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "wine.npz").write_bytes(body)
    np.savez(folder / "glass.npz", X=small(1)[0], y=small(1)[1])
    (folder / "Mine.csv").write_text("a,b,y\n1.5,2,0\n1.5,2,0\n9.5,9,1\n")
    (folder / "broken.parquet").write_text("no")
    return folder


def test_all_data_sets_of_the_paper_are_listed():
    lines = lines_of(run("datasets"))
    assert lines["name"] == ["rows", "columns", "anomalies", "where"]
    assert set(KNOWN_DATASETS) <= set(lines)
    assert lines["shuttle"] == ["49,097", "9", "3,511", "(7.2", "%)", "to", "be", "downloaded"]
    assert lines["speech"][-7:] == ["to", "be", "downloaded,", "checked", "by", "shape", "only"]
    assert "0 of the paper's 34 are here" in run("datasets").out


def test_names_are_completed():
    assert _known_names("Wi") == ["wilt", "wine"]


def test_data_sets_in_a_folder_are_listed(folder):
    done = run("datasets", "--data-dir", folder)
    assert done.code == 0
    lines = lines_of(done)
    assert lines["wine"] == ["20", "3", "4", "(20.0", "%)", "in", str(folder)]
    assert " ".join(lines["glass"]).endswith(f"in {folder}, differs from the registered one")
    assert " ".join(lines["Mine"]) == f"3 2 1 (33.3 %) in {folder}, your own"
    assert " ".join(lines["broken"]).startswith("cannot be read: ")
    assert "2 of the paper's 34 are here" in done.out


def test_the_folder_can_be_set_in_the_environment(folder, monkeypatch):
    monkeypatch.setenv("CTAD_DATA_DIR", str(folder))
    assert lines_of(run("datasets"))["wine"][-1] == str(folder)


def test_label_column_and_value_can_be_given(folder):
    (folder / "Mine.csv").write_text("a,b,state\n1.5,2,ok\n1.5,2,ok\n9.5,9,bad\n")
    options = ("--data-dir", folder, "--label", "state", "--anomalous", "bad", "--json")
    assert run("datasets", "mine", *options).json["anomalies"] == 1


@pytest.mark.parametrize("name", ["glass", "Glass"])
def test_details_show_the_source(name):
    known = KNOWN_DATASETS["glass"]
    lines = lines_of(run("datasets", name))
    assert lines["source"] == [known.url]
    assert lines["commit"] == [known.commit]
    assert lines["SHA-256"][-1] == known.source_sha256
    assert lines["registered"][-1] == known.values_sha256
    assert " ".join(lines["transformation"]) == known.transformation
    without_hash = lines_of(run("datasets", "amazon"))
    assert without_hash["SHA-256"][-1] == without_hash["registered"][-1] == "unknown"


def test_details_show_the_difference_to_the_registered_data_set(folder):
    done = run("datasets", "glass", "--data-dir", folder)
    assert "it has 20 rows, 3 columns and 4 anomalies, the registered one 214, 9 and 9" in done.out
    assert str(folder / "glass.npz") in done.out


def test_details_of_a_users_own_data_set(folder):
    lines = lines_of(run("datasets", "MINE", "--data-dir", folder))
    assert lines["name"] == ["Mine"]
    assert lines["file"] == [str(folder / "Mine.csv")]
    assert "source" not in lines


def test_json_has_all_details(folder):
    found = run("datasets", "--data-dir", folder, "--json").json
    assert found["failed"] == {}
    by_name = {one["name"]: one for one in found["datasets"]}
    assert set(by_name) == {*KNOWN_DATASETS, "Mine", "broken"}
    assert by_name["wine"]["path"] == str(folder / "wine.npz")
    assert by_name["wine"]["sha256"] == by_name["wine"]["registered"]["values_sha256"]
    assert by_name["wine"]["difference"] is None
    assert by_name["glass"]["difference"] is not None
    assert by_name["Mine"]["registered"] is None
    assert by_name["broken"]["rows"] is None
    assert by_name["yeast"]["path"] is None
    known = KNOWN_DATASETS["yeast"]
    assert by_name["yeast"]["registered"] == {**asdict(known), "url": known.url}


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["wyne"], 2, "Did you mean wine?"),
        (["mien", "--data-dir", "data"], 2, "data has Mine, broken, glass, wine."),
        (["broken", "--data-dir", "data"], 1, "broken.parquet cannot be read as Parquet"),
        (["--data-dir", "no"], 1, "no: there is no such folder"),
        (["--data-dir", "empty"], 1, "empty: no data sets in this folder. .npz, .mat, .csv"),
    ],
)
def test_errors_say_what_is_wrong(folder, tmp_path, monkeypatch, arguments, code, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    done = run("datasets", *arguments)
    assert (done.code, done.out) == (code, "")
    assert message in " ".join(done.err.replace("│", " ").split())


def test_download_one(source, wine, tmp_path):
    with source():
        done = run("datasets", "wine", "--download", "--json")
    assert done.json["where"] == "downloaded"
    assert done.json["path"] == str(tmp_path / "cache" / "wine.npz")
    assert "downloaded" in lines_of(run("datasets"))["wine"]


def test_a_failed_download_is_an_error(source, wine):
    with source(error(404)):
        done = run("datasets", "wine", "--download")
    assert (done.code, done.out) == (1, "")
    assert "the server answered 404" in done.err
    assert "--data-dir or CTAD_DATA_DIR" in done.err


def test_a_failed_download_does_not_stop_the_others(source, folder, wine, monkeypatch):
    wanted = {name: KNOWN_DATASETS[name] for name in ("glass", "vowels", "yeast")}
    registered = {**wanted, "yeast": replace(wine, name="yeast")}
    monkeypatch.setattr("ctad.datasets.KNOWN_DATASETS", registered)
    monkeypatch.setattr("ctad.datasets._registry.KNOWN_DATASETS", registered)
    with source(whole) as server:
        done = run("datasets", "--data-dir", folder, "--download")
    assert done.code == 1
    lines = lines_of(done)
    assert " ".join(lines["vowels"]).endswith("download failed")
    assert lines["yeast"][-1] == "downloaded"
    assert "vowels could not be downloaded from" in done.err
    assert [path.rpartition("/")[2] for path in server.requested] == [
        *["40_vowels.npz"] * 3,
        "45_wine.npz",
    ]
    with source(whole):
        failed = run("datasets", "--download", "--json").json["failed"]
    assert set(failed) == {"glass", "vowels"}


def test_a_terminal_shows_the_progress_of_a_download(source, wine, terminal, monkeypatch):
    large = npz(np.zeros((50_000, 1)), np.arange(50_000) > 9)
    known = replace(wine, source_sha256=sha256(large).hexdigest())
    monkeypatch.setitem(KNOWN_DATASETS, "wine", known)
    with source(error(500), whole, content=large):
        done = run("datasets", "wine", "--download", env=terminal)
    assert done.code == 0
    assert "Downloading wine, attempt 2, kB" in done.err


def test_the_readmes_commands_run(source, wine):
    listed, shown = re.findall(r"`(ctad datasets[^`]*)`", README)
    assert len(lines_of(run(*listed.split()[1:]))) > 34
    assert "source" in lines_of(run(*shown.split()[1:]))
    [code] = re.findall(r"`(load_dataset\(.*?\))`", README)
    with source():
        assert eval(code, {"load_dataset": load_dataset}).name == "wine"
