"""Results that are damaged, or that somebody made to do harm."""

import json
import os
import random
from dataclasses import astuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ctad import evaluation
from ctad.errors import InputError
from ctad.evaluation import RANDOM_SPLIT, Benchmark, Cell, Contestant, Outcome, Results
from ctad.evaluation import detector_scores as scores_of
from ctad.evaluation._parquet_footer import is_compressed
from ctad.evaluation.report import Table, build_report

from ..mutations import mutated
from .detectors import Distance

CELLS = [
    (
        Cell(dataset, detector, calibration, "random split", seed),
        Outcome("01234567", 0.5, 0.75, 0.5, 0.5, 0.75, 0.5, 0.1, 0.2, 0.3),
    )
    for dataset in ("wine", "a, b")
    for detector in ("KNN", "IForest")
    for calibration in ("none", "recommended")
    for seed in (0, 1)
] + [(Cell("wine", "PCA", "none", "random split", 0), Outcome("01234567", error="ValueError: no"))]


@pytest.fixture
def results(tmp_path):
    results = Results(tmp_path / "results")
    with results.cells.writing() as add:
        add(CELLS)
    return results


@pytest.fixture
def compacted(results):
    results.compact()
    return results


@pytest.fixture
def table(compacted):
    return pq.read_table(compacted.cells.parquet_path)


def rewrite(results, table, **options):
    pq.write_table(table, results.cells.parquet_path, **{"compression": "none", **options})


def changed(table, name, values):
    """The table with other values in a column, repeated as often as needed."""
    values = [*values, *table[name].to_pylist()][: len(table)]
    place = table.column_names.index(name)
    return table.set_column(place, name, pa.array(values, table.schema.field(name).type))


# what is wrong: (column, first values, message)
BAD_VALUES = {
    "a share above one": ("auc_pr", [1.5], "row 1: auc_pr is not between 0 and 1"),
    "a negative share": ("base_auc_roc", [0.5, -0.1], "row 2: base_auc_roc is not between"),
    "NaN": ("precision_at_n", [float("nan")], "precision_at_n is not between 0 and 1"),
    "infinite time": ("fit_seconds", [float("inf")], "fit_seconds is not between"),
    "a negative seed": ("seed", [-1], "seed is not between"),
    "a seed beyond 32 bits": ("seed", [2**32], "seed is not between"),
    "no seed": ("seed", [None], "seed is missing"),
    "no name": ("dataset", [None], "dataset is missing"),
    "a terminal's escape codes": ("detector", ["\x1b[2J"], "detector has control characters"),
    "a line break": ("error", ["a\nb"], "error has control characters"),
    "a long text": ("error", ["x" * 10_001], "error has more than 10,000 characters"),
}


@pytest.mark.parametrize("what", BAD_VALUES)
def test_values_that_cannot_be(compacted, table, what):
    column, values, message = BAD_VALUES[what]
    rewrite(compacted, changed(table, column, values))
    for read in (compacted.cells.rows, compacted.cells.frame):
        with pytest.raises(InputError, match=rf"cells\.parquet is damaged \(.*{message}.*delete"):
            read()


@pytest.mark.parametrize(
    ("column", "text", "message"),
    [
        ("auc_pr", "1.5", "auc_pr is not between 0 and 1"),
        ("auc_pr", "nan", "auc_pr is not between 0 and 1"),
        ("auc_pr", "high", "auc_pr is 'high', not a number"),
        ("term_seconds", "1e999", "term_seconds is not between"),
        ("seed", "-1", "seed is not between"),
        ("seed", "9" * 30, "seed is '9+', not an integer"),
        ("seed", "", "seed is '', not an integer"),
        ("detector", "\x1b[2J", "detector has control characters"),
        ("detector", '"two\nlines"', "detector has control characters"),
        ("error", "x" * 10_001, "error has more than 10,000 characters"),
        ("error", "no,no", "it has 17 values, not 16"),
    ],
)
def test_values_that_cannot_be_in_a_csv(results, column, text, message):
    path = results.cells.csv_path
    header, *lines = path.read_text().split("\n")
    values = lines[1].split(",")
    values[header.split(",").index(column)] = text
    path.write_text("\n".join([header, lines[0], ",".join(values), *lines[2:]]))
    with pytest.raises(InputError, match=rf"cells\.csv, line 3, is damaged \({message}.*delete"):
        results.cells.rows()


@pytest.mark.parametrize("is_compacted", [False, True])
def test_more_rows_than_memory_is_planned_for(results, is_compacted, monkeypatch):
    monkeypatch.setattr("ctad.evaluation._result_files.MAX_ROWS", len(CELLS))
    if is_compacted:
        results.compact()
    assert len(results.cells.rows()) == len(CELLS)
    monkeypatch.setattr("ctad.evaluation._result_files.MAX_ROWS", len(CELLS) - 1)
    with pytest.raises(InputError, match=r"is damaged \(more than 16 results\): delete it"):
        results.cells.rows()


@pytest.mark.parametrize("content", [b"\xff\xfe\n", b'"' + b"x" * 200_000 + b"\n"])
def test_a_csv_that_is_not_text(results, content):
    with results.cells.csv_path.open("ab") as file:
        file.write(content)
    with pytest.raises(InputError, match=r"cells\.csv is damaged \(.*\): delete it"):
        results.cells.rows()


OTHER_LAYOUTS = {
    "compressed": (lambda table: table, {"compression": "zstd"}, "it is compressed"),
    "lists": (
        lambda table: table.set_column(6, "auc_pr", pa.array([[0.5]] * len(table))),
        {},
        "column 'auc_pr' is not of type double",
    ),
    "dates": (
        lambda table: table.set_column(4, "seed", table["seed"].cast(pa.timestamp("us"))),
        {},
        "column 'seed' is not of type int64",
    ),
    "other columns": (lambda table: table.drop_columns("error"), {}, "not a file of such results"),
    "a text in each of many rows": (
        lambda table: changed(table, "error", ["x" * 9000]).take(pa.array(np.zeros(20_000, int))),
        {},
        "more than 134,217,728 bytes of values",
    ),
    "the same row a million times": (
        lambda table: table.take(pa.array(np.zeros(1_100_000, int))),
        {},
        "more than 134,217,728 bytes of values",
    ),
    "texts that repeat the one before": (
        lambda table: changed(table.take(pa.array(np.zeros(99, int))), "error", ["x" * 10**6] * 99),
        {"use_dictionary": False, "column_encoding": {"error": "DELTA_BYTE_ARRAY"}},
        "damaged",
    ),
}


@pytest.mark.parametrize("what", OTHER_LAYOUTS)
def test_files_that_are_not_as_we_write_them(compacted, table, what):
    change, options, message = OTHER_LAYOUTS[what]
    rewrite(compacted, change(table), **options)
    assert compacted.cells.parquet_path.stat().st_size < 2e6
    with pytest.raises(InputError, match=rf"cells\.parquet.*{message}"):
        compacted.cells.rows()


def test_compression_is_found_in_the_footer(compacted, table):
    assert not is_compressed(compacted.cells.parquet_path.read_bytes())
    for codec in ("snappy", "gzip", "zstd", "lz4", "brotli"):
        rewrite(compacted, table, compression={"seed": codec}, row_group_size=5)
        assert is_compressed(compacted.cells.parquet_path.read_bytes())


@pytest.mark.parametrize("is_compacted", [False, True])
def test_random_damage_ends_in_one_error_or_in_valid_results(results, is_compacted):
    if is_compacted:
        results.compact()
    path = results.cells.parquet_path if is_compacted else results.cells.csv_path
    whole = path.read_bytes()
    chance = random.Random(0)
    messages = []
    for _ in range(500):
        path.write_bytes(mutated(whole, chance))
        try:
            rows = results.cells.rows()
        except InputError as error:
            messages.append(str(error))
        else:
            assert all(0 <= cell.seed < 2**32 for cell in rows)
            shares = [value for outcome in rows.values() for value in astuple(outcome)[1:7]]
            assert all(value is None or 0 <= value <= 1 for value in shares)
    assert 100 < len(messages) < 500
    assert all(str(path) in message and message.isprintable() for message in messages)


@pytest.mark.parametrize("name", ["cells.csv", "cells.parquet"])
def test_links_out_of_the_folder_are_refused(results, tmp_path, name):
    results.cells.csv_path.unlink()
    elsewhere = tmp_path / "elsewhere"
    (results.folder / name).symlink_to(elsewhere)

    def write():
        with results.cells.writing() as add:
            add(CELLS)
        results.compact()

    with pytest.raises(InputError, match=rf"{name} leads out of its folder: delete the link"):
        write()
    assert not elsewhere.exists()
    elsewhere.write_text("mine")
    with pytest.raises(InputError, match=rf"{name} leads out of its folder: delete the link"):
        results.cells.rows()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_not_waited_for(results):
    results.cells.csv_path.unlink()
    os.mkfifo(results.cells.csv_path)
    with pytest.raises(InputError, match=r"cells\.csv is not a file: delete it"):
        results.cells.rows()


def test_scores_are_not_kept_through_links(results, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    results.scores.symlink_to(tmp_path / "elsewhere")
    plan = Benchmark(("wine",), ("IsolationForest",), seeds=(0,)).plan()
    with pytest.raises(InputError, match="scores leads out of its folder: delete the link"):
        evaluation.run(plan, results.folder)


def test_names_in_markdown_are_text():
    name = "<img src=x>|[x](javascript:y)`"
    table = Table("gains", "Gains", "", pd.DataFrame({"gain": [0.5]}, index=pd.Index([name])))
    assert table.markdown()[-1] == r"| \<img src=x>\|[x]\(javascript:y)\` | 0.5 |"


@pytest.mark.parametrize("name", ["report.html", "tables"])
def test_a_page_is_not_written_through_links(results, tmp_path, name):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (results.folder / name).symlink_to(elsewhere if name == "tables" else elsewhere / "page")
    with pytest.raises(InputError, match="leads out of its folder: delete the link"):
        build_report(results, results.folder, Benchmark.found_in(results))
    assert not [*elsewhere.iterdir()]


def test_a_page_of_too_many_detectors_is_refused(results):
    many = Benchmark(("wine",), tuple(map(str, range(501))))
    with pytest.raises(InputError, match="1 data sets and 501 detectors, too many for a page"):
        build_report(results, results.folder, many)


@pytest.fixture
def kept(wines, tmp_path):
    """The folder and the file of kept scores, and a function that asks for them."""
    contestant = Contestant("a/../b" + "long" * 100, Distance(), "higher")
    split = RANDOM_SPLIT.split(wines, 0)

    def ask():
        return scores_of(contestant, wines, RANDOM_SPLIT, 0, split, tmp_path / "scores").scores

    ask()
    [file] = (tmp_path / "scores").iterdir()
    return file, ask


def write_entries(file, **arrays):
    with file.open("wb") as opened:
        np.savez(opened, **arrays)


def test_kept_scores_that_are_not_as_we_write_them_are_replaced(kept):
    file, ask = kept
    whole, scores = file.read_bytes(), ask()
    good = {"train": scores.train, "test": scores.test, "seconds": np.ones(2)}
    trace = file.parent.parent / "trace"

    class Attack:
        def __reduce__(self):
            return trace.touch, ()

    for bad in (
        {"train": scores.train.astype(np.float32)},
        {"test": scores.test[:-1]},
        {"test": np.where(np.arange(len(scores.test)) == 3, np.nan, scores.test)},
        {"seconds": np.ones(3)},
        {"train": scores.train[:, None]},
        {"train": scores.train.astype(">f8")},
        {"train": np.array([Attack()] * len(scores.train))},
    ):
        write_entries(file, **{**good, **bad})
        np.testing.assert_array_equal(ask().train, scores.train)
        assert len(file.read_bytes()) == len(whole)  # written again
    with file.open("wb") as opened:
        np.savez_compressed(opened, **good)
    assert ask().test.flags.writeable
    assert not trace.exists()


def test_random_damage_to_kept_scores_is_repaired(kept):
    file, ask = kept
    whole, scores = file.read_bytes(), ask()
    chance = random.Random(0)
    for _ in range(60):
        file.write_bytes(mutated(whole, chance))
        found = ask()
        assert found.test.shape == scores.test.shape
        assert not np.isnan(found.test).any()


def test_kept_scores_are_not_written_through_links(kept, tmp_path):
    file, ask = kept
    file.unlink()
    file.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="leads out of its folder: delete the link"):
        ask()
    assert not (tmp_path / "elsewhere").exists()


def test_names_of_kept_scores_stay_in_the_folder(kept):
    file, _ = kept
    assert file.name.startswith("random split-wines-a_.._blong")
    assert len(file.name) < 250
    assert json.dumps(file.name).isascii()
