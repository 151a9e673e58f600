"""Errors while writing name the file that was asked for, for every file that ctad writes."""

import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.neighbors import LocalOutlierFactor

from ctad import CTAD
from ctad._atomic_files import check_replaceable, replacing
from ctad.datasets import Dataset
from ctad.evaluation import RANDOM_SPLIT, Contestant, Store, detector_scores
from ctad.evaluation.report import Chapter, Table, write_page
from ctad.io import TableFile
from ctad.io._journal import Journal
from ctad.io._writer import create_table
from ctad.report import Page

resource = pytest.importorskip("resource", reason="needs limits of POSIX")

ROWS = 20_000
TABLE = pa.table({"x": np.random.default_rng(0).normal(size=ROWS), "id": [*map(str, range(ROWS))]})
MODEL = CTAD(n_references=200, random_state=0).fit(np.random.default_rng(0).normal(size=(400, 20)))
LONG = "x" * 50_000


def write_table(path):
    with create_table(path) as writer:
        for start in range(0, ROWS, ROWS // 4):
            writer.write(TABLE.slice(start, ROWS // 4))


WRITERS = {
    "m.ctad": MODEL.save,
    "page.html": Page(LONG).save,
    **dict.fromkeys(["t.csv", "t.csv.gz", "t.parquet", "t.arrow", "t.arrows"], write_table),
}


@pytest.fixture(params=WRITERS)
def writer(request):
    return request.param, WRITERS[request.param]


@contextmanager
def small_files_only(limit=10_000):
    """No file may grow beyond so many bytes, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@contextmanager
def read_only_folder():
    """A folder in which this process cannot write, even if it belongs to root."""
    folder = Path(tempfile.mkdtemp())
    is_root = os.geteuid() == 0
    folder.chmod(0o555)
    if is_root:
        os.seteuid(65534)
    try:
        yield folder
    finally:
        if is_root:
            os.seteuid(0)
        folder.chmod(0o755)
        shutil.rmtree(folder)


@contextmanager
def raises_naming(path, kind=OSError):
    with pytest.raises(kind) as caught:
        yield
    assert caught.value.filename == str(path)
    assert ".part" not in str(caught.value)


def test_a_full_disk(tmp_path, monkeypatch, writer):
    monkeypatch.chdir(tmp_path)
    name, write = writer
    Path(name).write_text("old")
    with raises_naming(name), small_files_only():
        write(name)
    assert Path(name).read_text() == "old"
    assert [*Path.cwd().iterdir()] == [Path.cwd() / name]


def test_a_read_only_folder(tmp_path, writer):
    name, write = writer
    write(tmp_path / name)  # imports what it needs, which another user may not be able to read
    with read_only_folder() as folder, raises_naming(folder / name, PermissionError):
        write(folder / name)


def test_a_name_that_is_too_long(tmp_path, writer):
    name, write = writer
    with raises_naming(tmp_path / f"{'x' * 300}{name}"):
        write(tmp_path / f"{'x' * 300}{name}")


def test_a_folder_in_place_of_the_file(tmp_path, monkeypatch, writer):
    monkeypatch.chdir(tmp_path)
    name, write = writer
    Path(name).mkdir()
    with pytest.raises(OSError, match=rf"^{name} is not a file that can be replaced"):
        write(name)


def test_a_file_in_place_of_the_folder(tmp_path, monkeypatch, writer):
    monkeypatch.chdir(tmp_path)
    name, write = writer
    Path("no").write_text("a file")
    with pytest.raises(NotADirectoryError, match=rf"^no/{name}: .*no is not a folder"):
        write(f"no/{name}")


def test_no_folder(tmp_path, monkeypatch, writer):
    monkeypatch.chdir(tmp_path)
    name, write = writer
    with pytest.raises(FileNotFoundError, match=rf"^no/{name}: the folder .*no does not exist"):
        write(f"no/{name}")


@pytest.mark.parametrize("name", [name for name in WRITERS if name.startswith("t.")])
def test_the_folder_of_a_table_disappears(tmp_path, name):
    path = tmp_path / "gone" / name
    path.parent.mkdir()

    def write():
        with create_table(path) as writer:
            writer.write(TABLE)
            shutil.rmtree(path.parent)

    with raises_naming(path, FileNotFoundError):
        write()


def test_the_folder_disappears_before_the_part_is_written(tmp_path):
    path = tmp_path / "gone" / "file"
    path.parent.mkdir()
    with raises_naming(path, FileNotFoundError), replacing(path) as part:
        shutil.rmtree(path.parent)
        part.write_text("new")


def test_a_link_is_named_as_the_user_wrote_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("real").mkdir()
    Path("link.html").symlink_to("real/page.html")
    with raises_naming("link.html"), small_files_only():
        Page(LONG).save("link.html")


def test_errors_about_other_files_stay(tmp_path):
    other = tmp_path / "no such file"
    with raises_naming(other), replacing(tmp_path / "a"):
        other.read_text()


def test_errors_of_reading_the_rows_do_not_name_the_output(tmp_path):
    def score():
        with create_table(tmp_path / "a.csv") as table:
            table.write(TABLE)
            raise OSError(5, "Input/output error")

    with pytest.raises(OSError, match="Input") as caught:
        score()
    assert caught.value.filename is None
    assert not [*tmp_path.iterdir()]


def test_an_output_that_cannot_be_written_is_refused_before_the_work(tmp_path):
    with read_only_folder() as folder, raises_naming(folder / "m.ctad", PermissionError):
        check_replaceable(folder / "m.ctad")
    with raises_naming(tmp_path / ("x" * 300)):
        check_replaceable(tmp_path / ("x" * 300))
    check_replaceable(tmp_path / "m.ctad")
    assert not [*tmp_path.iterdir()]


@dataclass(frozen=True)
class Key:
    name: str


@dataclass(frozen=True)
class Value:
    error: str


def test_stored_results(tmp_path):
    store = Store(tmp_path, "results", Key, Value)
    rows = {Key(str(number)): Value("x" * 100) for number in range(1000)}

    def add():
        with store.writing() as write:
            write(rows.items())

    with raises_naming(store.csv_path), small_files_only():
        add()
    assert store.rows() == {}
    add()
    assert store.rows() == rows
    before = store.csv_path.read_bytes()
    with raises_naming(store.parquet_path), small_files_only(1000):
        store.compact()
    assert store.csv_path.read_bytes() == before
    with read_only_folder() as folder:
        other = Store(folder, "results", Key, Value)
        with raises_naming(other.csv_path, PermissionError), other.writing():
            pass


def test_scores_of_a_detector(tmp_path):
    random = np.random.default_rng(0)
    dataset = Dataset("mine", random.normal(size=(2000, 2)), np.arange(2000) < 10)
    split = RANDOM_SPLIT.split(dataset, 0)
    lof = Contestant("lof", LocalOutlierFactor(novelty=True))
    with pytest.raises(OSError, match="lof-") as caught, small_files_only():
        detector_scores(lof, dataset, RANDOM_SPLIT, 0, split, tmp_path)
    assert Path(caught.value.filename).suffix == ".npz"
    assert not [*tmp_path.iterdir()]


def test_the_page_of_a_benchmark(tmp_path):
    data = pd.DataFrame({"gain": np.arange(3000.0)}, index=pd.Index(range(3000), name="set"))
    chapters = [Chapter("gains", "Gains", [Table("gains", "Gain", "", data)])]
    with raises_naming(tmp_path / "tables" / "gains.csv"), small_files_only():
        write_page(tmp_path, "Study", "", chapters)
    with raises_naming(tmp_path / "report.html"), small_files_only(100):
        write_page(tmp_path, "", "", [])


def test_the_journal_of_a_folder(tmp_path):
    source = TableFile(tmp_path / "a.csv", "a.csv", "csv")
    source.path.write_text("x\n1\n")
    journal = Journal(tmp_path, {"model_sha256": "1"})
    with raises_naming(tmp_path / ".ctad-scored.json"), small_files_only(10):
        journal.add(source, journal.entry(source))


def test_standard_output(tmp_path):
    script = """
import pyarrow as pa
from ctad.io._writer import create_table
try:
    with create_table("-") as writer:
        writer.write(pa.table({"x": ["1" * 100_000]}))
except OSError as error:
    assert error.filename == "standard output", error
    raise SystemExit(7)
"""
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([sys.executable, "-c", script], stdout=full, timeout=60)
    assert done.returncode in (7, 120)  # 120: what is left in the buffer cannot be written, too
