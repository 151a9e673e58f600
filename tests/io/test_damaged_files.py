"""Damaged Parquet, Arrow and Feather files end in an error about the file, or in scores."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest

from ctad.io import TableError, open_table

from .files import one, read, write

N_FILES = 500
ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_damaged_files_never_crash(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "tests.io.damaged", "0", str(N_FILES), str(tmp_path)],
        **{"cwd": ROOT, "capture_output": True, "text": True, "timeout": 600},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    results = json.loads(done.stdout)
    assert set(results) <= {"scores", "encoded", "not encoded", "error"}
    assert results["scores"] > 50
    assert results["error"] > 50


def test_a_type_of_pandas_that_says_nonsense(tmp_path):
    days = pd.period_range("2026-01-01", periods=2, freq="D")
    pd.DataFrame({"day": days}).to_parquet(tmp_path / "a.parquet")  # registers the type
    says = {"ARROW:extension:name": "pandas.period", "ARROW:extension:metadata": "{"}
    schema = pa.schema([pa.field("day", pa.int64(), metadata=says)])
    write_arrow(tmp_path / "a.arrow", pa.table({"day": [1]}).cast(schema))
    with pytest.raises(TableError, match=r"a\.arrow cannot be read as Arrow"):
        open_table(one(tmp_path / "a.arrow"))


def write_arrow(path, table):
    """Write an Arrow file or stream that is not compressed."""
    new = pa.ipc.new_stream if path.suffix == ".arrows" else pa.ipc.new_file
    with pa.OSFile(str(path), "wb") as file, new(file, table.schema) as writer:
        writer.write_table(table)


def replaced(path, old, new):
    """Replace some bytes of a file, which occur once."""
    content = path.read_bytes()
    assert content.count(old) == 1
    path.write_bytes(content.replace(old, new))


def offsets(*numbers):
    return np.array(numbers, np.int32).tobytes()


@pytest.mark.parametrize("suffix", ["arrows", "arrow"])
@pytest.mark.parametrize(
    ("column", "old", "new"),
    [
        (["abc", "de", "f"], offsets(0, 3, 5, 6), offsets(0, 3, 1 << 30, 6)),
        ([[1, 2, 3], [4, 5], [6]], offsets(0, 3, 5, 6), offsets(0, 3, -5, 6)),
        (["abc", "de", "f"], b"abcdef", b"abc\xffef"),
        (pa.array(list("xyzxy")).dictionary_encode(), offsets(0, 1, 2, 0, 1), offsets(0, 1, 9)),
        (pa.array([1, 2, 3], pa.time32("s")), offsets(1, 2, 3), offsets(1, 2, 86_400)),
    ],
    ids=["text offsets", "list offsets", "not UTF-8", "dictionary indices", "time of day"],
)
def test_values_are_checked_before_they_are_used(tmp_path, suffix, column, old, new):
    path = tmp_path / f"a.{suffix}"
    write_arrow(path, pa.table({"a": column}))
    replaced(path, old, new + old[len(new) :])
    with pytest.raises(TableError, match=rf"{path} cannot be read as (an )?Arrow"):
        read(path)


def test_text_of_parquet_files_is_checked(tmp_path):
    path = tmp_path / "a.parquet"
    table = pa.table({"a": ["some text", "more"]})
    pq.write_table(table, path, use_dictionary=False, compression="none", write_statistics=False)
    replaced(path, b"some text", b"some\xfftext")
    with pytest.raises(TableError, match="cannot be read as Parquet: In column 0: Invalid: "):
        read(path)


def test_missing_values_where_the_file_says_there_are_none(tmp_path):
    schema = pa.schema([pa.field("a", pa.int64(), nullable=False)])
    write_arrow(tmp_path / "a.arrow", pa.Table.from_arrays([pa.array([1, None])], schema=schema))
    with pytest.raises(TableError, match="column 'a' has missing values, but its type allows none"):
        read(tmp_path / "a.arrow")


@pytest.mark.parametrize(
    "column",
    [
        pa.UnionArray.from_sparse(pa.array([0, 0], pa.int8()), [pa.array([1, 2])]),
        pa.RunEndEncodedArray.from_arrays([1, 2], ["a", "b"]),
        pa.array([["a"], ["b"]], pa.list_(pa.string_view())),
        pa.array([{"a": b"b"}] * 2, pa.struct([("a", pa.binary_view())])),
        pa.array([100, 200], pa.decimal128(9, -2)),
        pa.array([(1, 2, 3)] * 2, pa.month_day_nano_interval()),
        pa.DictionaryArray.from_arrays(pa.array([0, 0]), pa.array([[1]])),
    ],
    ids=lambda column: str(column.type),
)
def test_types_without_functions_in_pyarrow_are_refused_by_name(tmp_path, column):
    table = pa.table({"n": [1, 2], "odd": column})
    write_arrow(tmp_path / "a.arrow", table)
    with pytest.raises(TableError, match=r"a\.arrow: column 'odd' is of type .* cannot be read"):
        open_table(one(tmp_path / "a.arrow"))


def test_extension_types_are_kept(tmp_path):
    table = pa.table({"id": pa.array([b"0123456789abcdef"], pa.uuid())})
    write(tmp_path / "a.arrow", table)
    assert read(tmp_path / "a.arrow").equals(table)


@pytest.mark.parametrize(
    "column",
    [pa.array([{"part": "a"}]), pa.array([1], pa.timestamp("s", "part"))],
    ids=["struct", "time zone"],
)
def test_names_in_types_that_are_not_utf8(tmp_path, column):
    path = tmp_path / "a.arrows"
    write_arrow(path, pa.table({"a": column}))
    replaced(path, b"part", b"\xff\xff\xff\xff")
    with pytest.raises(TableError, match=r"a\.arrows cannot be read as an Arrow stream: 'utf-8'"):
        read(path)


def test_messages_do_not_print_the_contents_of_a_file(tmp_path):
    path = tmp_path / "a.arrow"
    name = "\x1b[31m" + "secret" * 1000
    write(path, pa.table([[1], [2]], names=[name, name]))
    with pytest.raises(TableError, match="two columns are called") as raised:
        read(path)
    assert r"'\x1b[31msecretsecret" in str(raised.value)
    assert str(raised.value).count("secret") < 40
