"""Batches of table files in every format: progress, locations of rows, memory, errors."""

import os
import threading
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ctad._progress import on_progress
from ctad.io import Batch, ReadOptions, TableError, find_tables, open_table, read_tables

from .files import dialect_of, of_all_types, one, read, write


@pytest.mark.parametrize("suffix", ["parquet", "feather", "arrow", "arrows", "csv.gz"])
def test_errors_name_a_damaged_file(tmp_path, suffix):
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


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"batch_rows": 0}, "batch_rows must be an integer from 1 to 2147483647"),
        ({"batch_rows": 2**31}, "batch_rows must be an integer from 1 to 2147483647"),
        ({"batch_rows": 10**5000}, "batch_rows must be an integer from 1 to 2147483647"),
        ({"batch_rows": 2.5}, "batch_rows must be an integer from 1 to 2147483647"),
        ({"delimiter": "::"}, "the delimiter must be one ASCII character"),
        ({"delimiter": ""}, "the delimiter must be one ASCII character"),
        ({"delimiter": '"'}, "the delimiter must be one ASCII character"),
        ({"delimiter": "\n"}, "the delimiter must be one ASCII character"),
        ({"delimiter": "é"}, "the delimiter must be one ASCII character"),
        ({"delimiter": "\0"}, "the delimiter must be one ASCII character"),
        ({"encoding": "koi9"}, "there is no encoding 'koi9'"),
        ({"encoding": "base64"}, "there is no encoding 'base64'"),
    ],
)
def test_options_that_cannot_be_used(options, message):
    with pytest.raises(TableError, match=message):
        ReadOptions(**options)


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "arrows", "csv", "csv.gz"])
def test_reading_goes_from_0_to_the_total(tmp_path, suffix):
    path = tmp_path / f"a.{suffix}"
    table = pa.table({"x": [f"{i}" for i in range(100_000)]})
    write(path, *[table.slice(i, 10_000) for i in range(0, 100_000, 10_000)])
    done = []
    with open_table(one(path), ReadOptions(10_000)) as reader:
        expected = 100_000 if suffix in ("parquet", "arrow") else path.stat().st_size
        assert reader.total == expected
        assert reader.unit == ("rows" if suffix in ("parquet", "arrow") else "bytes")
        for _ in reader:
            done.append(reader.done)
    assert done == sorted(done)
    assert 0 < done[0] <= done[-1] <= reader.total
    assert reader.done == reader.total


def test_progress_counts_the_rows_that_the_caller_is_done_with(tmp_path):
    for name in "ab":
        write(tmp_path / f"{name}.parquet", pa.table({"x": range(70)}))
    seen = []
    with on_progress(seen.append):
        for batch in read_tables(find_tables(tmp_path), ReadOptions(30), doing="Using"):
            seen.append(batch.first_row)
    assert seen[0].doing == f"Using {tmp_path / 'a.parquet'} (1/2)"
    assert seen[-1].doing == f"Using {tmp_path / 'b.parquet'} (2/2)"
    rows = [now if isinstance(now, int) else (now.done, now.total, now.rows) for now in seen]
    of_one_file = [(0, 70, 0), 0, (30, 70, 30), 30, (60, 70, 60), 60, (70, 70, 70)]
    assert rows == 2 * of_one_file


def test_progress_of_a_csv_is_in_bytes(tmp_path):
    (tmp_path / "a.csv").write_text("x\n" + "1\n" * 100)
    seen = []
    with on_progress(seen.append):
        assert len(list(read_tables([one(tmp_path / "a.csv")]))) == 1
    assert [(now.done, now.total, now.rows) for now in seen] == [(0, 202, 0), (202, 202, 100)]


def test_a_row_is_located_by_its_line_in_a_csv_and_by_its_number_elsewhere(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('a,b\n\n1,"x\ny"\n\n2,z\n3,z\n')
    file, dialect = one(path), dialect_of(path)
    assert Batch(None, file, dialect, 0).row_name(0) == f"{path}, line 3"
    assert Batch(None, file, dialect, 1).row_name(0) == f"{path}, line 6"
    assert Batch(None, file, dialect, 1).row_name(1) == f"{path}, line 7"
    assert Batch(None, file, dialect, 7).row_name(1) == f"{path}, row 9"  # beyond the end
    write(tmp_path / "a.parquet", of_all_types())
    assert Batch(None, one(tmp_path / "a.parquet"), None, 1).row_name(1).endswith("parquet, row 3")
    assert Batch(None, one("-"), dialect, 1).row_name(1) == "standard input, row 3"
    path.write_text("\na\n\n1\n\n2\n")  # in a single column, blank lines are rows
    assert [Batch(None, file, dialect, 0).row_name(row) for row in (0, 3)] == [
        f"{path}, line 3",
        f"{path}, line 6",
    ]


def test_the_error_names_the_line_of_a_value_of_another_type(tmp_path):
    path = tmp_path / "new.csv"
    path.write_text('a,x\n"two\nlines",1\n\nb,2\nc,three\nd,four\n')
    first, second = read_tables([one(path)], ReadOptions(batch_rows=2))
    types = pa.schema({"x": pa.int64()})
    assert first.with_types(types)["x"].to_pylist() == [1, 2]
    with pytest.raises(TableError, match=r"new\.csv, line 6: column 'x' has 'three'"):
        second.with_types(types)


def test_memory_is_that_of_a_batch(tmp_path):
    """The file is one row group of 80 MB, of which a batch has 10 MB."""
    random = np.random.default_rng(0)
    table = pa.table({f"x{i}": random.standard_normal(1_000_000) for i in range(10)})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=len(table), use_dictionary=False)
    del table
    before = pa.total_allocated_bytes()
    with open_table(one(tmp_path / "a.parquet")) as reader:
        in_use = [pa.total_allocated_bytes() - before for _ in reader]
    assert len(in_use) == 8
    assert max(in_use) < 60e6


@pytest.fixture
def silent_pipe(tmp_path):
    """A pipe whose writer has written a header and some rows, and then keeps it open."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    release = threading.Event()

    def feed():
        with path.open("wb", buffering=0) as pipe:
            pipe.write(b"a,b\n" + b"1,2\n" * (3 << 20))  # more than is read ahead of the parser
            release.wait(30)

    writer = threading.Thread(target=feed)
    writer.start()
    yield SimpleNamespace(path=path, release=release)
    release.set()
    writer.join()


@pytest.mark.parametrize("n_batches", [1, 200])
def test_a_silent_pipe_can_be_left(silent_pipe, n_batches):
    with open_table(one(silent_pipe.path), ReadOptions(batch_rows=10_000)) as reader:
        for batch, _ in zip(reader.batches(), range(n_batches), strict=False):
            assert batch.rows.num_rows == 10_000
    waiting = [t.name for t in threading.enumerate() if not t.daemon and t.name != "MainThread"]
    assert not [name for name in waiting if name.startswith("ThreadPool")]


def test_a_pipe_by_name(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    feed = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=[b"a,b\n1,2\n"])
    feed.start()
    assert read(tmp_path / "pipe").to_pylist() == [{"a": "1", "b": "2"}]
    feed.join()


def test_a_reader_can_be_left_early(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n" + "1,2\n" * 3_000_000)
    for read_batches in (iter, lambda reader: reader.batches()):
        with open_table(one(tmp_path / "a.csv"), ReadOptions(1000)) as reader:
            next(read_batches(reader))
