"""Results that last."""

from typing import NamedTuple

import pytest

from ctad.evaluation._store import Store


class Key(NamedTuple):
    name: str
    seed: int


class Value(NamedTuple):
    number: float | None
    error: str | None = None


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "deep" / "results.csv", Key, Value)


ROWS = {
    Key("a", 0): Value(0.25),
    Key('comma, "quote"', 1): Value(None, "ValueError: no"),
    Key("ünï", 2): Value(1e-300),
}


def test_what_was_written_is_read(store):
    assert store.rows() == {}
    with store.writing() as add:
        add(list(ROWS.items())[:1])
    with store.writing() as add:
        add(list(ROWS.items())[1:])
    assert store.rows() == ROWS


def test_rows_last_once_written(store):
    with store.writing() as add:
        add(ROWS.items())
        assert store.rows() == ROWS  # not only when the file is closed


def test_errors_of_several_lines_stay_one_row(store):
    with store.writing() as add:
        add([(Key("a", 0), Value(None, "first\nsecond\r\nthird"))])
    assert store.rows() == {Key("a", 0): Value(None, "first second third")}


@pytest.mark.parametrize("cut", range(1, 40, 7))
def test_half_a_row_of_a_killed_process_is_removed(store, cut):
    with store.writing() as add:
        add(ROWS.items())
    whole = store.path.read_bytes()
    store.path.write_bytes(whole[:-cut])
    kept = store.rows()
    assert kept.items() <= ROWS.items()
    assert len(kept) < len(ROWS)
    with store.writing() as add:
        add((key, value) for key, value in ROWS.items() if key not in kept)
    assert store.path.read_bytes() == whole


def test_a_file_of_something_else_is_refused(store):
    store.path.parent.mkdir()
    store.path.write_text("one,two\n1,2\n")
    with pytest.raises(ValueError, match=r"results\.csv is not a file of such results"):
        store.rows()


def test_a_damaged_row_is_named(store):
    with store.writing() as add:
        add(ROWS.items())
    store.path.write_text(store.path.read_text().replace("a,0,0.25,", "a,zero,0.25,"))
    with pytest.raises(ValueError, match=r"results\.csv, line 2, is damaged .* delete the line"):
        store.rows()


def test_blanks_in_names_are_kept(store):
    row = (Key(" two  blanks\tand a tab ", 0), Value(0.5))
    with store.writing() as add:
        add([row])
    assert store.rows() == dict([row])


def test_a_second_writer_is_told_to_wait(store):
    with (
        store.writing(),
        pytest.raises(BlockingIOError, match="another process is adding"),
        store.writing(),
    ):
        pass
