"""Table files by path, folder and pattern, and their formats."""

import gzip

import pyarrow as pa
import pytest

from ctad.io import TableError, find_tables
from ctad.io._writer import create_table

from .files import one, write

TABLE = pa.table({"x": ["1", "2"]})


@pytest.fixture
def folder(tmp_path):
    for name in ("b.csv", "a/c.parquet", "a/A.TSV", "d.csv.gz", "e.arrow", "f.arrows"):
        target = tmp_path / name
        target.parent.mkdir(exist_ok=True)
        write(target, TABLE)
    others = ("README.md", "_SUCCESS", ".hidden.csv", "_old/g.csv", ".git/h.csv", "x.json", "y.gz")
    for name in others:
        target = tmp_path / name
        target.parent.mkdir(exist_ok=True)
        target.write_text("x\n1\n")
    return tmp_path


def test_a_folder_is_searched_through(folder):
    found = find_tables(folder)
    assert [(file.name, file.format) for file in found] == [
        ("a/A.TSV", "csv"),
        ("a/c.parquet", "parquet"),
        ("b.csv", "csv"),
        ("d.csv.gz", "csv.gz"),
        ("e.arrow", "arrow"),
        ("f.arrows", "arrows"),
    ]
    assert all(file.path == folder / file.name and file.root == folder for file in found)


def test_a_pattern(folder):
    assert [file.name for file in find_tables(folder / "*.csv*")] == ["b.csv", "d.csv.gz"]
    assert [file.name for file in find_tables(folder / "?" / "*")] == ["a/A.TSV", "a/c.parquet"]
    assert [file.name for file in find_tables(f"{folder}/**/*.parquet")] == ["a/c.parquet"]
    assert find_tables(folder / "*.csv")[0].root is None
    assert find_tables(folder / "**" / "*.csv")[0].root == folder


def test_a_pattern_in_the_current_folder(folder, monkeypatch):
    monkeypatch.chdir(folder)
    assert [file.name for file in find_tables("*.csv")] == ["b.csv"]


def test_a_file_with_a_name_like_a_pattern(tmp_path):
    write(tmp_path / "a[1].csv", TABLE)
    assert one(tmp_path / "a[1].csv").name == "a[1].csv"


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "arrows", "csv.gz"])
def test_the_first_bytes_override_the_suffix(tmp_path, suffix):
    write(tmp_path / f"a.{suffix}", TABLE)
    other = (tmp_path / f"a.{suffix}").rename(tmp_path / "data.dat")
    assert one(other).format == suffix


def test_without_known_bytes_and_suffix_it_is_csv(tmp_path):
    (tmp_path / "data.log").write_text("x\n1\n")
    assert one(tmp_path / "data.log").format == "csv"


def test_standard_input():
    file = one("-")
    assert (file.name, file.format, str(file)) == ("-", "csv", "standard input")


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("nowhere.csv", "no such file"),
        ("*.xyz", "no file matches"),
        (
            "**.csv",
            r"\*\* must stand alone.*data/\*\*/\*\.csv|no file",
        ),  # Python 3.13 takes it for *
        ("empty", r"no tables in this folder.*\.csv, .*\.parquet"),
    ],
)
def test_nothing_found(tmp_path, where, message):
    (tmp_path / "empty").mkdir()
    with pytest.raises(TableError, match=message) as raised:
        find_tables(tmp_path / where)
    assert where in str(raised.value)


def test_an_unknown_suffix_cannot_be_written(tmp_path):
    with pytest.raises(TableError, match=r"scored\.xlsx.*\.csv, .*\.parquet"):
        create_table(tmp_path / "scored.xlsx")


def test_compressed_files_that_are_not_tables_are_skipped(tmp_path):
    (tmp_path / "backup.tar.gz").write_bytes(gzip.compress(b"x"))
    with pytest.raises(TableError, match="no tables"):
        find_tables(tmp_path)
