"""CSV files as users have them: any dialect, any encoding, and errors about broken ones."""

import codecs
import gzip
import io
import resource
import sys
from contextlib import closing

import pandas as pd
import pyarrow as pa
import pytest

from ctad.io import (
    CsvDialect,
    ReadOptions,
    TableError,
    find_tables,
    open_table,
    with_inferred_types,
)
from ctad.io._csv_stream import CsvStream

from .files import dialect_of, one, read, write


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
def test_the_dialect_is_detected(path, content):
    delimiter, quote, decimal, row = DIALECTS[content]
    path.write_bytes(content.encode())
    assert dialect_of(path) == CsvDialect("utf-8", delimiter, quote, decimal)
    assert list(read(path).to_pylist()[0].values()) == row


def test_a_delimiter_can_be_given(path):
    path.write_text("a:b\n1,5:2\n")
    assert read(path, delimiter=":").to_pylist() == [{"a": "1,5", "b": "2"}]
    assert dialect_of(path, delimiter=":").decimal == ","


def test_the_dialect_of_a_long_file(path):
    rows = "".join(f"{i};text, with comma;1,{i}\n" for i in range(30_000))
    path.write_text(f"a;b;c\n{rows}")
    assert dialect_of(path) == CsvDialect("utf-8", ";", '"', ",")
    assert len(read(path)) == 30_000


ENCODINGS = ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"]


@pytest.mark.filterwarnings("ignore:.* is read as Windows-1252")
@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("packed", [False, True])
def test_the_encoding_is_detected(path, encoding, packed):
    content = "Straße;Größe\nKöln;œuvre\n".encode(encoding)
    path.write_bytes(gzip.compress(content) if packed else content)
    assert read(path).to_pylist() == [{"Straße": "Köln", "Größe": "œuvre"}]


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_the_text_begins_with_the_header_and_ends_with_a_line_end(path, encoding):
    content = "ä;b\n" + "ö;1\n" * 300_000
    path.write_bytes(("\n\r\n" + content.removesuffix("\n")).encode(encoding))
    with closing(CsvStream(one(path), ReadOptions())) as text:
        assert b"".join(text).decode() == content


def test_an_encoding_can_be_given(path):
    path.write_text("imię,miasto\nŁukasz,Łódź\n", encoding="cp1250")
    assert read(path, encoding="cp1250").to_pylist() == [{"imię": "Łukasz", "miasto": "Łódź"}]


def test_a_letter_far_into_the_file_decides_the_encoding(path):
    path.write_bytes(b"a,b\n" + b"x,1\n" * 1_000_000 + "ß,2\n".encode("cp1252"))
    with pytest.warns(UserWarning, match="neither UTF-8 nor UTF-16, so it is read as Windows-1252"):
        assert read(path)["a"][-1].as_py() == "ß"
    assert read(path, encoding="cp1252")["a"][-1].as_py() == "ß"
    path.write_bytes(b"a,b\n" + b"x,1\n" * 1_000_000 + "ß,2\n".encode())
    assert read(path)["a"][-1].as_py() == "ß"


def test_letters_across_the_borders_of_reads(path):
    for shift in range(3):
        path.write_bytes(("a,b\n" + "x" * shift + "€" * 1_000_000 + ",1\n").encode())
        assert read(path)["a"].to_pylist() == ["x" * shift + "€" * 1_000_000]


@pytest.mark.parametrize(
    ("content", "encoding", "message"),
    [
        (b"a,b\n\xe4,1\n", "utf-8", "contains bytes that are not utf-8: state its encoding"),
        (b"a,b\n\x81,1\n", None, "cannot be read as CSV.*charmap"),
        (codecs.BOM_UTF16_LE + b"a\0,\0b\0\n\0\0\xd8,\0", None, "cannot be read as CSV.*utf-16"),
        (b'"\0"aaa"a\n\0a\0a\0\na\naa\n', None, "not a CSV file of text: its first line has NUL"),
        (b"\0" * 5_000, None, "not a CSV file of text: its first line has NUL"),
        (b"\"a\n\0'\0a\"''\n", None, "is not a CSV file of text, or has a row"),
        (b"1" * 200_000, None, "its first line cannot be read as column names: field larger"),
        (b"", None, "is empty: a CSV file begins with a line of column names"),
        (b"\n\r\n\n", None, "is empty"),
        (b"a,b,a\n1,2,3\n", None, "two columns are called 'a'"),
        (b"a,b\n1,2\n\n1,2,3\n", None, "line 4: this row has 3 fields, but the header has 2"),
        (b'a,b\n1,"2\n3"\n1\n', None, "line 4: this row has 1 fields, but the header has 2"),
        (b'a,b\n1,2\n1,"2,3\n4,5\n', None, "quote.*is opened and never closed.*'1,\"2,3"),
        (b'a,b\n1,"' + b"2,3\n" * 5_000_000, None, "a row of more than 16 MB, which is too long"),
        (b'a,b\n1,"' + b"2" * 200_000 + b'",3\n', None, "Expected 2 columns, got 3"),
    ],
)
def test_errors_say_what_is_wrong(path, content, encoding, message):
    path.write_bytes(content)
    with pytest.raises(TableError, match=message) as raised:
        read(path, encoding=encoding)
    assert str(path) in str(raised.value)


def as_it_is(content):
    return content


# what: (beginning, what is repeated after it)
ENDLESS = {
    "one line": (b"", b"1"),
    "one line of fields": (b"", b"1,"),
    "one line after rows": (b"a,b\n1,2\n", b"3"),
    "one quote": (b'a,b\n1,"', b"2\n"),
    "NULs": (b"", b"\0"),
    "NULs after rows": (b"a,b\n1,2\n", b"\0"),
}


@pytest.mark.parametrize("what", ENDLESS)
@pytest.mark.parametrize("is_piped", [False, True])
def test_an_endless_row_is_an_error_before_it_fills_the_memory(path, monkeypatch, what, is_piped):
    """The gzip file has 2 MB, its content 500 MB."""
    begin, repeated = ENDLESS[what]
    content = gzip.compress(begin) + 50 * gzip.compress(repeated * (10_000_000 // len(repeated)), 1)
    path.write_bytes(content)
    if is_piped:
        monkeypatch.setattr(sys, "stdin", Input(content))
        path = "-"
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(TableError, match="a row of more than 16 MB, which is too long"):
        read(path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < before + 200_000  # kilobytes


def test_an_endless_row_that_is_not_compressed(path):
    path.write_bytes(b"a,b\n1,2\n" + b"3" * 20_000_000)
    with pytest.raises(TableError, match="a row of more than 16 MB, which is too long"):
        read(path)


ONE_COLUMN = {
    "x\n1\n\n2\n\n3\n": ["1", "", "2", "", "3"],
    "x\n1\n\n2\n\n3": ["1", "", "2", "", "3"],
    "x\r\n1\r\n\r\n2\r\n\r\n": ["1", "", "2", ""],
    "x\r1\r\r2\r": ["1", "", "2"],
    "\n\r\n\nx\n\n1\n": ["", "1"],
    "x\n\n\n": ["", ""],
    "x\n": [],
    'x\n1\n""\n\n"2\n"\n': ["1", "", "", "2\n"],
    "'x'\n'1'\n\n'2,3'\n": ["1", "", "2,3"],
    "x y\n \n\n1\n": [" ", "", "1"],
}


@pytest.mark.parametrize("content", ONE_COLUMN)
@pytest.mark.parametrize("pack", [as_it_is, gzip.compress])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_blank_line_in_a_single_column_is_a_missing_value(path, content, pack, encoding):
    path.write_bytes(pack(content.encode(encoding)))
    table = read(path)
    assert table.num_columns == 1
    assert table.column(0).to_pylist() == ONE_COLUMN[content]


@pytest.mark.parametrize("piece_bytes", [1, 2, 3, 5])
@pytest.mark.parametrize("content", ONE_COLUMN)
def test_a_line_end_may_be_in_two_reads(path, monkeypatch, content, piece_bytes):
    monkeypatch.setattr("ctad.io._csv_stream.PIECE_BYTES", piece_bytes)
    path.write_bytes(content.encode())
    assert read(path, encoding="utf-8").column(0).to_pylist() == ONE_COLUMN[content]


def test_a_blank_line_in_a_single_column_of_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", Input(b"x\n1\n\n2\n\n"))
    assert read("-").to_pylist() == [{"x": "1"}, {"x": ""}, {"x": "2"}, {"x": ""}]


def test_missing_values_of_a_single_column_are_kept_by_writing(path):
    table = pa.table({"x": [1.5, None, 2.5, None]})
    write(path, table)
    assert with_inferred_types(read(path), dialect_of(path)).equals(table)
    pd.DataFrame({"x": [1.5, None]}).to_csv(path, index=False)
    assert read(path).to_pylist() == [{"x": "1.5"}, {"x": ""}]


def test_a_header_may_be_longer_than_the_sample_for_the_dialect(path):
    names = [f"a rather long name, number {i}" for i in range(50_000)]
    path.write_text(";".join(names) + "\n" + ";".join(["1,5"] * 50_000) + "\n")
    table = read(path)
    assert table.column_names == names
    assert dialect_of(path).decimal == ","
    assert table.slice(0, 1).to_pylist() == [dict.fromkeys(names, "1,5")]


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


def test_closed_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(TableError, match="standard input is closed"):
        read("-")


def test_an_error_of_the_pipe_is_not_lost(monkeypatch):
    class Broken(io.RawIOBase):
        def read(self, size):
            raise OSError("Input/output error")

    broken = Input(b"")
    broken.buffer = Broken()
    monkeypatch.setattr(sys, "stdin", broken)
    with pytest.raises(TableError, match="standard input cannot be read as CSV: Input/output"):
        read("-")
