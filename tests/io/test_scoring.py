"""Scoring in memory, from file to file, from folder to folder."""

import io
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.ensemble import IsolationForest

from ctad import CalibratedDetector
from ctad._progress import on_progress
from ctad.errors import InputError
from ctad.io import (
    ReadOptions,
    ScoringSummary,
    TableError,
    find_tables,
    score_file,
    score_folder,
    score_table,
)

from .files import one, read, write
from .models import mixed, model

SCORES = ["ctad_base_score", "ctad_delta", "ctad_score"]
SUFFIXES = ["parquet", "feather", "arrows", "csv", "tsv", "csv.gz"]


def scores(table):
    return {name: np.array(table[name].to_pylist(), dtype=float).tobytes() for name in SCORES}


@pytest.fixture
def folder(tmp_path):
    """Files of all formats, some in a folder inside."""
    for i, suffix in enumerate(SUFFIXES):
        target = tmp_path / "in" / ("deep/er" if i % 2 else ".") / f"part-{i}.{suffix}"
        target.parent.mkdir(parents=True, exist_ok=True)
        write(target, mixed(50, seed=i))
    return tmp_path / "in"


def test_three_columns_are_added():
    table = mixed(100).replace_schema_metadata({"made by": "us"})
    result = score_table(model(), table)
    assert result.select(table.column_names).equals(table, check_metadata=True)
    expected = model().score_parts(table)
    assert result.column_names[-3:] == SCORES
    for name, values in zip(
        SCORES, (expected.base_score, expected.delta, expected.score), strict=True
    ):
        assert result[name].to_pylist() == values.tolist()


def test_existing_scores_are_replaced():
    table = mixed(100)
    once = score_table(model(), table)
    moved = once.select([*SCORES, *table.column_names])
    assert score_table(model(), moved).equals(once)


@pytest.mark.parametrize(
    ("source", "target"),
    [
        *(("parquet", "csv"), ("feather", "parquet"), ("arrows", "arrow")),
        *(("csv", "parquet"), ("csv", "csv"), ("tsv", "arrow"), ("csv.gz", "parquet")),
    ],
)
def test_all_formats_give_the_same_scores(tmp_path, source, target):
    table = mixed(100)
    write(tmp_path / f"a.{source}", table)
    summary = score_file(
        model(), one(tmp_path / f"a.{source}"), tmp_path / f"b.{target}", ReadOptions(7)
    )
    assert summary == ScoringSummary(rows=100, files=1)
    result = read(tmp_path / f"b.{target}")
    if target == "csv":
        result = pa.Table.from_pandas(pd.read_csv(tmp_path / "b.csv", sep=None, engine="python"))
    assert scores(result) == scores(score_table(model(), table))
    assert result.column_names == [*table.column_names, *SCORES]


def test_a_csv_keeps_its_text(tmp_path):
    text = "count;id;length;color;day;note\n1;007;1,50;red;24.12.2024;a\nNA;7;-2;blue;2024-12-24;\n"
    (tmp_path / "a.csv").write_text(text)
    score_file(model(), one(tmp_path / "a.csv"), tmp_path / "b.csv")
    lines = (tmp_path / "b.csv").read_text().splitlines()
    assert lines[0] == "count;id;length;color;day;note;" + ";".join(SCORES)
    assert lines[1].startswith("1;007;1,50;red;24.12.2024;a;0,")
    assert lines[2].startswith("NA;7;-2;blue;2024-12-24;;0,")


def test_a_file_can_be_scored_in_place(tmp_path):
    path = tmp_path / "a.parquet"
    write(path, mixed(1000))
    score_file(model(), one(path), path, ReadOptions(batch_rows=100))
    score_file(model(), one(path), path, ReadOptions(batch_rows=300))
    assert read(path).equals(score_table(model(), mixed(1000)))


def test_no_rows(tmp_path):
    write(tmp_path / "a.parquet", mixed(0))
    assert score_file(model(), one(tmp_path / "a.parquet"), tmp_path / "b.csv").rows == 0
    assert (tmp_path / "b.csv").read_text() == ",".join([*mixed(0).column_names, *SCORES]) + "\n"


def test_from_standard_input_to_standard_output(tmp_path, monkeypatch, capfdbinary):
    write(tmp_path / "a.csv", mixed(20))

    class Input:
        buffer = io.BufferedReader(io.BytesIO((tmp_path / "a.csv").read_bytes()))

    monkeypatch.setattr(sys, "stdin", Input)
    score_file(model(), one("-"), "-")
    (tmp_path / "b.csv").write_bytes(capfdbinary.readouterr().out)
    assert scores(read(tmp_path / "b.csv")) == scores(score_table(model(), mixed(20)))


def test_progress(tmp_path):
    write(tmp_path / "a.parquet", mixed(100))
    seen = []
    with on_progress(seen.append):
        score_file(
            model(), one(tmp_path / "a.parquet"), tmp_path / "b.parquet", ReadOptions(batch_rows=30)
        )
    assert [now.rows for now in seen] == [0, 30, 60, 90, 100]
    assert [now.done for now in seen] == [0, 30, 60, 90, 100]
    assert {now.total for now in seen} == {100}
    assert {now.doing for now in seen} == {f"Scoring {tmp_path / 'a.parquet'}"}


def test_progress_of_a_folder(folder, tmp_path):
    seen = []
    with on_progress(seen.append):
        score(folder, tmp_path / "out")
    assert seen[0].doing == f"Scoring {folder / 'deep/er/part-1.feather'} (1/6)"
    assert seen[-1].doing == f"Scoring {folder / 'part-4.tsv'} (6/6)"


def refused(tmp_path, table, message, suffix="csv", batch_rows=None):
    source, target = tmp_path / f"new.{suffix}", tmp_path / "old.parquet"
    write(source, table)
    target.write_text("old")
    with pytest.raises(TableError, match=message) as raised:
        score_file(model(), one(source), target, ReadOptions(batch_rows=batch_rows))
    assert str(source) in str(raised.value)
    assert target.read_text() == "old"
    assert sorted(tmp_path.iterdir()) == [source, target]


def test_a_value_of_another_type_names_the_line(tmp_path):
    values = ["1.5"] * 40 + ["wide"] + ["2"] * 59
    table = mixed(100).set_column(1, "length", [values])
    refused(tmp_path, table, "line 42: column 'length' has 'wide', expected a number", "csv", 30)


def test_a_missing_column_is_named(tmp_path):
    refused(tmp_path, mixed(10).drop_columns("length"), "'length'")


def test_text_in_a_typed_file_is_not_a_number(tmp_path):
    table = mixed(10).set_column(1, "length", [["1.5"] * 10])
    refused(tmp_path, table, "'length'", "parquet")


def test_a_model_of_an_array_cannot_score_tables(tmp_path):
    trained = CalibratedDetector(IsolationForest(n_estimators=5), random_state=0)
    trained.fit(np.random.default_rng(0).normal(size=(50, 2)))
    write(tmp_path / "a.csv", mixed(10))
    with pytest.raises(InputError, match="trained on an array"):
        score_file(trained, one(tmp_path / "a.csv"), tmp_path / "b.csv")


def test_errors_about_later_rows_name_the_file_and_the_row(tmp_path, monkeypatch):
    """Only errors about the input: others are bugs and stay as they are."""
    scored = type(model()).score_parts
    write(tmp_path / "a.csv", mixed(30))
    for error, raised, message in [
        (InputError("too bad"), TableError, r"a\.csv, from row 21 on: too bad"),
        (ValueError("a bug"), ValueError, "^a bug$"),
        (TypeError("a bug"), TypeError, "^a bug$"),
    ]:

        def fail_later(self, table, error=error):
            if "000020" in table["id"].to_pylist():
                raise error
            return scored(self, table)

        with monkeypatch.context() as patch:
            patch.setattr(type(model()), "score_parts", fail_later)
            with pytest.raises(raised, match=message):
                score_file(model(), one(tmp_path / "a.csv"), tmp_path / "b.csv", ReadOptions(10))


def test_a_disk_error_while_writing_is_not_lost(tmp_path, monkeypatch):
    def full(self, table):
        raise OSError("No space left on device")

    write(tmp_path / "a.csv", mixed(100))
    monkeypatch.setattr("ctad.io._writer.TableWriter.write", full)
    for batch_rows in (10, 100):
        with pytest.raises(OSError, match="No space"):
            score_file(
                model(), one(tmp_path / "a.csv"), tmp_path / "b.csv", ReadOptions(batch_rows)
            )
    assert not (tmp_path / "b.csv").exists()


def score(folder, target, sha="1", **options):
    options = ReadOptions(**options)
    return score_folder(model(), find_tables(folder), target, options, model_sha256=sha)


def test_a_folder_is_mirrored(folder, tmp_path):
    out = tmp_path / "a" / "out"
    assert score(folder, out) == ScoringSummary(rows=300, files=6, kept=0)
    found = find_tables(out)
    assert [(f.name, f.format) for f in found] == [(f.name, f.format) for f in find_tables(folder)]
    for i, file in enumerate(sorted(found, key=lambda file: file.path.name)):
        assert scores(read(file.path)) == scores(score_table(model(), mixed(50, seed=i)))


def test_finished_files_are_kept(folder, tmp_path):
    out = tmp_path / "out"
    score(folder, out)
    before = {file.path: file.path.stat().st_mtime_ns for file in find_tables(out)}
    assert score(folder, out) == ScoringSummary(rows=0, files=0, kept=6)
    assert before == {file.path: file.path.stat().st_mtime_ns for file in find_tables(out)}


def test_what_changed_is_scored_again(folder, tmp_path):
    out = tmp_path / "out"
    score(folder, out)
    write(folder / "part-0.parquet", mixed(60, seed=9))
    (out / "part-2.arrows").unlink()
    (out / "part-4.tsv").write_text("something else")
    write(folder / "new.csv", mixed(5))
    assert score(folder, out) == ScoringSummary(rows=60 + 50 + 50 + 5, files=4, kept=3)
    assert score(folder, out).kept == 7
    assert score(folder, out, sha="2").kept == 0
    assert score(folder, out, sha="2", encoding="ascii").kept == 0


@pytest.mark.parametrize("link", ["part-0.parquet", "deep"])
def test_a_folder_is_not_left_through_links(folder, tmp_path, link):
    out, elsewhere = tmp_path / "out", tmp_path / "elsewhere"
    elsewhere.mkdir()
    out.mkdir()
    (out / link).symlink_to(elsewhere if link == "deep" else elsewhere / "a")
    with pytest.raises(InputError, match=rf"{link}.* leads out of its folder: delete the link"):
        score(folder, out)
    assert not [*elsewhere.iterdir()]


def test_a_failing_file_is_named_and_the_finished_ones_stay(folder, tmp_path):
    broken = folder / "part-2.arrows"
    content = broken.read_bytes()
    broken.write_bytes(content[:500])
    with pytest.raises(TableError, match=r"part-2\.arrows cannot be read"):
        score(folder, tmp_path / "out")
    assert len(find_tables(tmp_path / "out")) == 4
    broken.write_bytes(content)
    assert score(folder, tmp_path / "out") == ScoringSummary(rows=100, files=2, kept=4)


@pytest.mark.parametrize(
    ("out", "pattern"), [("in", "."), ("in/out", "**/*"), (".", "**/*"), (".", ".")]
)
def test_the_output_folder_must_not_be_nested_with_the_input_folder(folder, tmp_path, out, pattern):
    with pytest.raises(TableError, match="must not be the input folder, nor be inside it"):
        score_folder(model(), find_tables(folder / pattern), tmp_path / out, model_sha256="1")
    assert not (folder / "out").exists()


def test_a_pattern_that_cannot_match_the_output(folder, monkeypatch):
    monkeypatch.chdir(folder)
    sources = find_tables("part-*")
    assert score_folder(model(), sources, "scored", model_sha256="1").files == 3
    with pytest.raises(TableError, match="output folder"):
        score_folder(model(), sources, ".", model_sha256="1")
