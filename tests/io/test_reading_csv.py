"""CSV as people have them: any dialect, any encoding, and what is wrong with some."""

import codecs
import gzip
import io
import os
import subprocess
import sys
import threading

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ctad.io import Dialect, Place, TableError, find_tables, open_table
from ctad.io._csv_text import CsvText

from .files import dialect_of, of_all_types, one, read, write


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.csv"


# content: (delimiter, quote, decimal, first row)
DIALECTS = {
    "a,b\n1,2\n": (",", '"', ".", ["1", "2"]),
    "a;b\n1,5;2\n": (";", '"', ",", ["1,5", "2"]),
    "a;b\n1.5;2\n": (";", '"', ".", ["1.5", "2"]),
    "a;b\n1,5;2.5\n": (";", '"', ".", ["1,5", "2.5"]),
    "a;b\n-3,25;01.02.2024\n": (";", '"', ",", ["-3,25", "01.02.2024"]),
    "a\tb\n1,5\tx\n": ("\t", '"', ",", ["1,5", "x"]),
    "a|b\nx y|2\n": ("|", '"', ".", ["x y", "2"]),
    "a\n1\n2\n": (",", '"', ".", ["1"]),
    "a b\n1\n": (",", '"', ".", ["1"]),
    "price, net;price, gross\n1,5;2,5\n": (";", '"', ",", ["1,5", "2,5"]),
    '"a;x","b;y"\n"1;2","3"\n': (",", '"', ".", ["1;2", "3"]),
    'a,b\n"x\n;y;\n;z",2\n': (",", '"', ".", ["x\n;y;\n;z", "2"]),
    "'a','b'\n'1,5','x'\n": (",", "'", ".", ["1,5", "x"]),
    "'a','b'\n'1','x'\n": (",", "'", ".", ["1", "x"]),
    "a,b\nO'Brien,'tis\n": (",", '"', ".", ["O'Brien", "'tis"]),
    "a,b\n'tis,nobody'\n": (",", '"', ".", ["'tis", "nobody'"]),
    'a,b\n5" pipe,x\n': (",", '"', ".", ['5" pipe', "x"]),
    ",a,b\n0,1,2\n": (",", '"', ".", ["0", "1", "2"]),
    "a,b\r\n1,2\r\n": (",", '"', ".", ["1", "2"]),
    "\n\r\n\na,b\n\n1,2\n\n\n": (",", '"', ".", ["1", "2"]),
    "a,b\n1,2": (",", '"', ".", ["1", "2"]),
    "a,b\n1;2,3\n4;5,6\n": (",", '"', ".", ["1;2", "3"]),
    'a,b\n1,"2\n"\n\n': (",", '"', ".", ["1", "2\n"]),
}


@pytest.mark.parametrize("content", DIALECTS)
def test_the_dialect_is_found(path, content):
    delimiter, quote, decimal, row = DIALECTS[content]
    path.write_bytes(content.encode())
    assert dialect_of(path) == Dialect("utf-8", delimiter, quote, decimal)
    assert list(read(path).to_pylist()[0].values()) == row


def test_a_delimiter_can_be_said(path):
    path.write_text("a:b\n1,5:2\n")
    assert read(path, delimiter=":").to_pylist() == [{"a": "1,5", "b": "2"}]
    assert dialect_of(path, delimiter=":").decimal == ","
    for wrong in ("::", "", '"', "\n"):
        with pytest.raises(TableError, match="must be one character"):
            read(path, delimiter=wrong)


def test_the_dialect_of_a_long_file(path):
    rows = "".join(f"{i};text, with comma;1,{i}\n" for i in range(30_000))
    path.write_text(f"a;b;c\n{rows}")
    assert dialect_of(path) == Dialect("utf-8", ";", '"', ",")
    assert len(read(path)) == 30_000


ENCODINGS = ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"]


@pytest.mark.filterwarnings("ignore:.* is read as Windows-1252")
@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("packed", [False, True])
def test_the_encoding_is_found(path, encoding, packed):
    content = "Straße;Größe\nKöln;œuvre\n".encode(encoding)
    path.write_bytes(gzip.compress(content) if packed else content)
    assert read(path).to_pylist() == [{"Straße": "Köln", "Größe": "œuvre"}]


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_pyarrow_sees_the_header_first_and_a_line_end_last(path, encoding):
    content = "ä;b\n" + "ö;1\n" * 400_000
    path.write_bytes(("\n\r\n" + content.removesuffix("\n")).encode(encoding))
    with CsvText(one(path), None, None, path.open("rb")) as text:
        assert text.readall().decode() == content


def test_an_encoding_can_be_said(path):
    path.write_text("imię,miasto\nŁukasz,Łódź\n", encoding="cp1250")
    assert read(path, encoding="cp1250").to_pylist() == [{"imię": "Łukasz", "miasto": "Łódź"}]
    for wrong in ("koi9", "base64"):
        with pytest.raises(TableError, match=f"no encoding '{wrong}'"):
            read(path, encoding=wrong)


def test_a_letter_far_into_the_file_tells_the_encoding(path):
    path.write_bytes(b"a,b\n" + b"x,1\n" * 1_000_000 + "ß,2\n".encode("cp1252"))
    with pytest.warns(UserWarning, match="neither UTF-8 nor UTF-16: it is read as Windows-1252"):
        assert read(path)["a"][-1].as_py() == "ß"
    assert read(path, encoding="cp1252")["a"][-1].as_py() == "ß"
    path.write_bytes(b"a,b\n" + b"x,1\n" * 1_000_000 + "ß,2\n".encode())
    assert read(path)["a"][-1].as_py() == "ß"


def test_letters_across_the_borders_of_pieces(path):
    for shift in range(3):
        path.write_bytes(("a,b\n" + "x" * shift + "€" * 1_000_000 + ",1\n").encode())
        assert read(path)["a"].to_pylist() == ["x" * shift + "€" * 1_000_000]


@pytest.mark.parametrize(
    ("content", "encoding", "message"),
    [
        (b"a,b\n\xe4,1\n", "utf-8", "is not all utf-8: say which encoding"),
        (b"a,b\n\x81,1\n", None, "cannot be read as CSV.*charmap"),
        (codecs.BOM_UTF16_LE + b"a\0,\0b\0\n\0\0\xd8,\0", None, "cannot be read as CSV.*utf-16"),
        (b"", None, "is empty: a CSV file begins with a line of column names"),
        (b"\n\r\n\n", None, "is empty"),
        (b"a,b,a\n1,2,3\n", None, "two columns are called 'a'"),
        (b"a,b\n1,2\n\n1,2,3\n", None, "line 4: the number of fields is 3, that of the header 2"),
        (b'a,b\n1,"2\n3"\n1\n', None, "line 4: the number of fields is 1, that of the header 2"),
        (b'a,b\n1,2\n1,"2,3\n4,5\n', None, "quote.*is opened and never closed.*'2,3"),
        (b'a,b\n1,"' + b"2,3\n" * 5_000_000, None, "a row of more than 4 MB: is a quote"),
        (b'a,b\n1,"' + b"2" * 200_000 + b'",3\n', None, "Expected 2 columns, got 3"),
    ],
)
def test_what_is_wrong_is_said(path, content, encoding, message):
    path.write_bytes(content)
    with pytest.raises(TableError, match=message) as raised:
        read(path, encoding=encoding)
    assert str(path) in str(raised.value)


@pytest.mark.parametrize("suffix", ["parquet", "feather", "arrow", "arrows", "csv.gz"])
def test_damaged_files_are_named(tmp_path, suffix):
    path = tmp_path / f"a.{suffix}"
    write(path, pa.table({"x": [str(i) for i in range(50_000)], "y": ["ab"] * 50_000}))
    content = path.read_bytes()
    for damaged in (content[: len(content) // 2], b"something else", content[:8]):
        if suffix == "csv.gz" and damaged == b"something else":
            continue  # a CSV with one column
        path.write_bytes(damaged)
        with pytest.raises(TableError, match=rf"a\.{suffix} cannot be read as"):
            read(path)


def test_two_columns_of_the_same_name(tmp_path):
    table = pa.table([pa.array([1]), pa.array([2])], names=["a", "a"])
    write(tmp_path / "a.parquet", table)
    with pytest.raises(TableError, match="two columns are called 'a'"):
        read(tmp_path / "a.parquet")


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "arrows", "csv", "csv.gz"])
def test_progress_goes_from_nothing_to_all(tmp_path, suffix):
    path = tmp_path / f"a.{suffix}"
    table = pa.table({"x": [f"{i}" for i in range(100_000)]})
    write(path, *[table.slice(i, 10_000) for i in range(0, 100_000, 10_000)])
    done = []
    with open_table(one(path), 10_000) as reader:
        expected = 100_000 if suffix in ("parquet", "arrow") else path.stat().st_size
        assert reader.total == expected
        assert reader.unit == ("rows" if suffix in ("parquet", "arrow") else "bytes")
        for _ in reader:
            done.append(reader.done)
    assert done == sorted(done)
    assert 0 < done[0] <= done[-1] <= reader.total
    assert reader.done == reader.total


def test_places_are_lines_of_a_csv_and_rows_of_others(path, tmp_path):
    path.write_text('a,b\n\n1,"x\ny"\n\n2,z\n3,z\n')
    file, dialect = one(path), dialect_of(path)
    assert Place(file, dialect, 0).of_row(0) == f"{path}, line 3"
    assert Place(file, dialect, 1).of_row(0) == f"{path}, line 6"
    assert Place(file, dialect, 1).of_row(1) == f"{path}, line 7"
    assert Place(file, dialect, 7).of_row(1) == f"{path}, row 9"  # not there
    write(tmp_path / "a.parquet", of_all_types())
    assert Place(one(tmp_path / "a.parquet"), None, 1).of_row(1).endswith("a.parquet, row 3")
    assert Place(one("-"), dialect, 1).of_row(1) == "standard input, row 3"


class Input:
    def __init__(self, content):
        self.buffer = io.BufferedReader(io.BytesIO(content))


@pytest.mark.parametrize("packed", [False, True])
def test_standard_input(monkeypatch, packed):
    content = "größe;b\n".encode() + b"1,5;2\n" * 500_000
    monkeypatch.setattr(sys, "stdin", Input(gzip.compress(content) if packed else content))
    [file] = find_tables("-")
    with open_table(file) as reader:
        assert (reader.total, reader.unit) == (None, "bytes")
        assert sum(map(len, reader)) == 500_000
        assert reader.dialect.decimal == ","
        assert reader.done > 3_000_000
    assert not sys.stdin.buffer.closed


def test_an_uneven_row_of_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", Input(b"a,b\n1,2\n1,2,3\n"))
    with pytest.raises(TableError, match=r"standard input.*Expected 2 columns, got 3"):
        read("-")


def test_a_pipe_by_name(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    feed = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=[b"a,b\n1,2\n"])
    feed.start()
    assert read(tmp_path / "pipe").to_pylist() == [{"a": "1", "b": "2"}]
    feed.join()


def test_a_reader_can_be_left_early(path):
    path.write_text("a,b\n" + "1,2\n" * 5_000_000)
    with open_table(one(path), 1000) as reader:
        assert len(next(iter(reader))) == 1000


def test_memory_is_that_of_a_batch(tmp_path):
    """One row group of 320 MB; all of it in memory would be more."""
    script = """if True:
        import re, sys
        from pathlib import Path
        from ctad.io import find_tables, open_table
        def peak():
            return int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1])
        [file] = find_tables(sys.argv[1])
        before = peak()
        with open_table(file) as reader:
            rows = sum(map(len, reader))
        print(rows, (peak() - before) // 1024)
    """
    random = np.random.default_rng(0)
    table = pa.table({f"x{i}": random.standard_normal(4_000_000) for i in range(10)})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=len(table), use_dictionary=False)
    command = [sys.executable, "-c", script, str(tmp_path / "a.parquet")]
    result = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    assert int(result[0]) == 4_000_000
    assert int(result[1]) < 250
