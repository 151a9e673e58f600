"""Keyed results in files."""

from dataclasses import dataclass
from functools import partial

import pytest

from ctad.errors import InputError
from ctad.evaluation import Store


@dataclass(frozen=True)
class Key:
    name: str
    seed: int


@dataclass(frozen=True)
class Value:
    number: float | None
    error: str | None = None


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "deep", "results", Key, Value)


ROWS = {
    Key("b", 0): Value(0.25),
    Key('comma, "quote"', 1): Value(None, "ValueError: no"),
    Key("ünï", 2): Value(1e-300),
}


def add(store, rows):
    with store.writing() as write:
        write(rows.items())


def test_rows_are_read_as_they_were_written(store):
    assert store.rows() == {}
    assert not store.exists()
    add(store, dict([*ROWS.items()][:1]))
    add(store, dict([*ROWS.items()][1:]))
    assert store.exists()
    assert store.rows() == ROWS


def test_rows_are_on_disk_once_written(store):
    with store.writing() as write:
        write(ROWS.items())
        assert store.rows() == ROWS  # before the file is closed


def test_a_frame_has_a_column_per_field(store):
    add(store, ROWS)
    frame = store.frame()
    assert list(frame) == ["name", "seed", "number", "error"]
    assert frame["number"].isna().tolist() == [False, True, False]
    assert frame["error"].notna().tolist() == [False, True, False]


def test_compacting_moves_all_rows_into_a_parquet_file(store):
    add(store, ROWS)
    store.compact()
    assert not store.csv_path.exists()
    assert store.exists()
    assert store.rows() == ROWS
    store.compact()  # nothing to do
    assert store.rows() == ROWS


def test_new_rows_replace_older_ones_in_the_parquet_file(store):
    add(store, ROWS)
    store.compact()
    add(store, {Key("b", 0): Value(0.5), Key("a", 7): Value(1.0)})
    expected = {**ROWS, Key("b", 0): Value(0.5), Key("a", 7): Value(1.0)}
    assert store.rows() == expected
    store.compact()
    assert store.rows() == expected
    assert not store.csv_path.exists()


def test_equal_results_give_equal_files(store, tmp_path):
    other = Store(tmp_path / "other", "results", Key, Value)
    add(store, ROWS)
    for row in reversed(ROWS.items()):
        add(other, dict([row]))
        other.compact()
    store.compact()
    assert store.parquet_path.read_bytes() == other.parquet_path.read_bytes()


def test_writing_nothing_leaves_no_file(store):
    with store.writing():
        pass
    assert not store.csv_path.exists()
    add(store, ROWS)
    before = store.csv_path.read_bytes()
    with store.writing():
        pass
    assert store.csv_path.read_bytes() == before


def test_errors_of_several_lines_stay_one_row(store):
    add(store, {Key("a", 0): Value(None, "first\nsecond\r\nthird")})
    assert store.rows() == {Key("a", 0): Value(None, "first second third")}


@pytest.mark.parametrize("cut", range(1, 40, 7))
def test_half_a_row_of_a_killed_process_is_removed(store, cut):
    add(store, ROWS)
    whole = store.csv_path.read_bytes()
    store.csv_path.write_bytes(whole[:-cut])
    kept = store.rows()
    assert kept.items() <= ROWS.items()
    assert len(kept) < len(ROWS)
    add(store, {key: value for key, value in ROWS.items() if key not in kept})
    assert store.csv_path.read_bytes() == whole


def test_a_file_of_something_else_is_refused(store, tmp_path):
    store.csv_path.parent.mkdir()
    store.csv_path.write_text("one,two\n1,2\n")
    with pytest.raises(ValueError, match=r"results\.csv is not a file of such results"):
        store.rows()
    store.csv_path.unlink()
    add(store, ROWS)
    store.compact()
    with pytest.raises(ValueError, match=r"results\.parquet is not a file of such results"):
        Store(store.csv_path.parent, "results", Key, Key).rows()


def test_a_damaged_row_is_named(store):
    add(store, ROWS)
    store.csv_path.write_text(store.csv_path.read_text().replace("b,0,0.25,", "b,zero,0.25,"))
    with pytest.raises(ValueError, match=r"results\.csv, line 2, is damaged .* delete the line"):
        store.rows()


def test_blanks_in_names_are_kept(store):
    rows = {Key(" two  blanks\tand a tab ", 0): Value(0.5)}
    add(store, rows)
    assert store.rows() == rows


def test_control_characters_become_blanks_and_long_texts_are_cut(store):
    add(store, {Key("a", 0): Value(None, "\x1b[31mred\x00 \ud800" + "x" * 20_000)})
    [value] = store.rows().values()
    assert value.error == " [31mred  ?" + "x" * (10_000 - 11)


def test_a_file_of_something_else_is_left_as_it_is(store):
    store.csv_path.parent.mkdir()
    for content in (b"one,two\n1,2\n3,4", b"no line break"):
        store.csv_path.write_bytes(content)
        for write in (partial(add, store, ROWS), store.compact):
            with pytest.raises(InputError, match=r"results\.csv is not a file of such results"):
                write()
        assert store.csv_path.read_bytes() == content
    store.csv_path.write_bytes(b"name,se")  # half a header, of a killed process
    add(store, ROWS)
    assert store.rows() == ROWS


def test_a_file_in_place_of_the_folder(tmp_path):
    (tmp_path / "results").write_text("a file")
    store = Store(tmp_path / "results", "results", Key, Value)
    with pytest.raises(InputError, match="results is not a folder: choose another one"):
        add(store, ROWS)


def test_only_one_process_writes_at_a_time(store):
    with store.writing():
        for also in (store.writing, store._locked):
            with pytest.raises(BlockingIOError, match="another process is adding"), also():
                pass
