"""Tables that are written and read again, also by other libraries."""

import csv
import io

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctad.io import CsvDialect, ReadOptions, TableError, open_table
from ctad.io._writer import create_table

from .files import dialect_of, of_all_types, one, read, write

TYPED = ["parquet", "pq", "feather", "arrow", "ipc", "arrows"]
FRAME = pd.DataFrame({"n": [1, 2, 3], "x": [0.1, np.nan, 1e300], "text": ["ä", None, "a,b"]})


@pytest.mark.parametrize("suffix", TYPED)
def test_types_and_metadata_are_kept(tmp_path, suffix):
    table = of_all_types()
    write(tmp_path / f"a.{suffix}", table)
    result = read(tmp_path / f"a.{suffix}")
    assert result.equals(table)
    assert result.schema.metadata[b"written by"] == b"us"


@pytest.mark.parametrize("suffix", TYPED)
@pytest.mark.parametrize("batch_rows", [1, 2, 7, 1000])
def test_batches_have_the_size_of_the_options(tmp_path, suffix, batch_rows):
    table = pa.concat_tables([of_all_types()] * 5)
    write(tmp_path / f"a.{suffix}", *[table.slice(i, 4) for i in range(0, 15, 4)])
    with open_table(one(tmp_path / f"a.{suffix}"), ReadOptions(batch_rows)) as reader:
        batches = list(reader)
    assert [len(b) for b in batches[:-1]] == [batch_rows] * (len(batches) - 1)
    assert 0 < len(batches[-1]) <= batch_rows
    assert pa.concat_tables(batches).to_pylist() == table.to_pylist()


def test_wide_tables_have_shorter_batches(tmp_path, monkeypatch):
    monkeypatch.setattr("ctad.io._table_reader.BATCH_CELLS", 4200)
    write(tmp_path / "a.parquet", pa.table({f"x{i}": range(50) for i in range(100)}))
    with open_table(one(tmp_path / "a.parquet")) as reader:
        assert [len(batch) for batch in reader] == [42, 8]


@pytest.mark.parametrize("suffix", [*TYPED, "csv", "tsv", "txt", "csv.gz"])
def test_no_rows(tmp_path, suffix):
    schema = pa.schema({"a": pa.string(), "b": pa.string()})
    with create_table(tmp_path / f"a.{suffix}") as writer:
        writer.open(schema)
    with open_table(one(tmp_path / f"a.{suffix}")) as reader:
        assert reader.schema.names == ["a", "b"]
        assert list(reader) == []


def test_an_arrow_file_can_have_dictionaries_that_differ_between_batches(tmp_path):
    tables = [
        pa.table({"c": pa.array(values).dictionary_encode(), "n": range(len(values))})
        for values in (["a", "b"], ["z", None, "a"], ["b"])
    ]
    write(tmp_path / "a.arrow", *tables)
    result = read(tmp_path / "a.arrow")
    assert result.schema == tables[0].schema
    assert result["c"].to_pylist() == ["a", "b", "z", None, "a", "b"]


def test_files_by_pandas(tmp_path):
    FRAME.to_parquet(tmp_path / "a.parquet", index=False)
    FRAME.to_feather(tmp_path / "a.feather")
    FRAME.to_csv(tmp_path / "a.csv", index=False)
    FRAME.to_csv(tmp_path / "a.csv.gz", index=False, sep=";", decimal=",", encoding="utf-16")
    assert read(tmp_path / "a.parquet").to_pandas().equals(FRAME)
    assert read(tmp_path / "a.feather").to_pandas().equals(FRAME)
    assert read(tmp_path / "a.csv").to_pylist()[0] == {"n": "1", "x": "0.1", "text": "ä"}
    assert read(tmp_path / "a.csv.gz").to_pylist()[0] == {"n": "1", "x": "0,1", "text": "ä"}


def test_files_by_polars(tmp_path):
    frame = pl.DataFrame(
        {"n": [1, 2], "text": ["ä", None], "c": pl.Series(["u", "v"], dtype=pl.Categorical)}
    )
    frame.write_parquet(tmp_path / "a.parquet")
    frame.write_ipc(tmp_path / "a.arrow")
    frame.write_ipc_stream(tmp_path / "a.arrows")
    frame.write_csv(tmp_path / "a.csv")
    for suffix in ("parquet", "arrow", "arrows"):
        result = read(tmp_path / f"a.{suffix}")
        assert pl.from_arrow(result).equals(frame)
        for target in ("parquet", "arrow", "csv"):  # the text type of polars can be written
            write(tmp_path / f"b.{target}", result)
            assert read(tmp_path / f"b.{target}")["text"].to_pylist()[0] == "ä"
    assert read(tmp_path / "a.csv").to_pylist()[1] == {"n": "2", "text": "", "c": "v"}


def test_files_for_others(tmp_path):
    table = pa.Table.from_pandas(FRAME.set_index("n"))
    for suffix, reader in {
        "parquet": pd.read_parquet,
        "feather": lambda path: pa.feather.read_table(path).to_pandas(),
    }.items():
        write(tmp_path / f"a.{suffix}", table)
        assert reader(tmp_path / f"a.{suffix}").equals(FRAME.set_index("n"))
    write(tmp_path / "a.csv", pa.Table.from_pandas(FRAME))
    assert pd.read_csv(tmp_path / "a.csv").equals(FRAME)
    assert pl.read_csv(tmp_path / "a.csv")["x"].to_list() == [0.1, None, 1e300]


def test_a_file_that_is_one_row_group(tmp_path):
    table = pa.table({"x": np.arange(300_000), "t": ["text"] * 300_000})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=len(table))
    with open_table(one(tmp_path / "a.parquet"), ReadOptions(100_000)) as reader:
        assert [len(batch) for batch in reader] == [100_000] * 3
    assert read(tmp_path / "a.parquet", batch_rows=1000).equals(table)


@given(st.lists(st.floats(allow_nan=False), min_size=1))
def test_floats_in_csv_keep_every_bit(tmp_path_factory, values):
    path = tmp_path_factory.getbasetemp() / "floats.csv"
    write(path, pa.table({"id": ["a"] * len(values), "x": values}))
    result = np.array([float(text) for text in read(path)["x"].to_pylist()])
    assert result.tobytes() == np.array(values).tobytes()


# Any text that CSV and UTF-8 can represent, often with line ends, quotes and delimiters.
TEXT = st.text(
    st.one_of(
        st.sampled_from(list("\",;\t|'\r\n .-ä€")),
        st.characters(exclude_categories=["Cs"], exclude_characters="\0\ufeff"),
    ),
    max_size=6,
)


@st.composite
def text_tables(draw):
    n_columns = draw(st.integers(1, 4))
    names = draw(st.lists(TEXT, min_size=n_columns, max_size=n_columns, unique=True))
    rows = draw(
        st.lists(st.lists(TEXT, min_size=n_columns, max_size=n_columns), min_size=0, max_size=5)
    )
    return names, rows


@settings(deadline=None)
@given(text_tables(), st.sampled_from([",", ";", "\t", "|"]))
def test_csv_is_the_same_as_by_the_csv_module(tmp_path_factory, names_and_rows, delimiter):
    names, rows = names_and_rows
    path = tmp_path_factory.getbasetemp() / "text.csv"
    columns = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    table = pa.table(columns, pa.schema([(name, pa.string()) for name in names]))
    with create_table(path, CsvDialect(delimiter=delimiter)) as writer:
        writer.open(table.schema)
        writer.write(table)
    text = path.read_bytes().decode()
    assert list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)) == [names, *rows]

    out = io.StringIO(newline="")
    csv.writer(out, delimiter=delimiter).writerows([names, *rows])
    path.write_bytes(out.getvalue().encode())
    assert read(path, delimiter=delimiter).to_pydict() == columns


def test_text_is_repeated_character_for_character(tmp_path):
    text = 'id,x,y\n007,1.10,NA\n"a,b", 1e5 ,""""\n,nan,-0\n'
    (tmp_path / "a.csv").write_text(text)
    write(tmp_path / "b.csv", read(tmp_path / "a.csv"))
    assert (tmp_path / "b.csv").read_text() == text


def test_the_dialect_is_kept(tmp_path):
    (tmp_path / "a.csv").write_text("größe;x\n1,5;a\n", encoding="utf-16")
    table = read(tmp_path / "a.csv").append_column("score", pa.array([0.25]))
    write(tmp_path / "b.csv", table, dialect=dialect_of(tmp_path / "a.csv"))
    assert (tmp_path / "b.csv").read_text(encoding="utf-8") == "größe;x;score\n1,5;a;0,25\n"
    write(tmp_path / "b.tsv", table, dialect=dialect_of(tmp_path / "a.csv"))
    assert (tmp_path / "b.tsv").read_text(encoding="utf-8") == "größe\tx\tscore\n1,5\ta\t0,25\n"


def test_values_of_other_types_in_csv(tmp_path):
    table = of_all_types().drop_columns(["list", "struct", "bytes"])
    write(tmp_path / "a.csv", table)
    assert read(tmp_path / "a.csv").to_pylist()[:2] == [
        {
            "category": "a",
            "decimal": "1.10",
            "zoned": "2024-03-31 01:00:00.000000000+0100",
            "day": "2024-02-29",
            "small": "1",
            "single": "0.1",
            "text": "ä",
            "nothing": "",
        },
        dict.fromkeys(table.column_names, ""),
    ]


@pytest.mark.parametrize("column", ["list", "struct"])
def test_nested_columns_cannot_be_written_to_csv(tmp_path, column):
    with pytest.raises(TableError, match=rf"a\.csv.*{column!r}.*Parquet"):
        write(tmp_path / "a.csv", of_all_types().select([column]))
    assert list(tmp_path.iterdir()) == []


def test_bytes_that_are_not_text_cannot_be_written_to_csv(tmp_path):
    with pytest.raises(TableError, match=r"a\.csv cannot be written"):
        write(tmp_path / "a.csv", of_all_types().select(["bytes"]))


def test_packed_files_are_the_same_every_time(tmp_path):
    table = pa.table({"x": range(1000)})
    write(tmp_path / "a.csv.gz", table)
    write(tmp_path / "b.csv.gz", table)
    assert (tmp_path / "a.csv.gz").read_bytes() == (tmp_path / "b.csv.gz").read_bytes()


@pytest.mark.parametrize("suffix", [*TYPED, "csv", "csv.gz"])
def test_an_error_leaves_the_old_file_alone(tmp_path, suffix):
    target = tmp_path / f"a.{suffix}"
    target.write_text("old")
    with pytest.raises(RuntimeError), create_table(target) as writer:  # noqa: PT012
        writer.write(pa.table({"x": [1]}))
        raise RuntimeError
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_without_columns_nothing_is_written(tmp_path):
    with create_table(tmp_path / "a.csv"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_standard_output(capfdbinary):
    write("-", pa.table({"x": [1, 2]}), pa.table({"x": [3]}))
    assert capfdbinary.readouterr().out == b"x\n1\n2\n3\n"
