"""ctad fit and ctad score on real tables with text and missing values, in every format."""

import gzip
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from ctad import CalibratedDetector, RelaxedCTAD, load
from ctad.cli._options import TRAINING
from ctad.detectors import make

from ..data import normal
from .conftest import REAL_TABLES, SMALL_FOREST, run

SCORES = ["ctad_base_score", "ctad_delta", "ctad_score", "ctad_p_value"]


def write(frame, path):
    match path.rpartition(".")[2]:
        case "csv":
            frame.to_csv(path, index=False)
        case "gz":
            with gzip.open(path, "wt") as file:
                frame.to_csv(file, index=False, sep=";", decimal=",")
        case "parquet":
            frame.to_parquet(path)
        case "feather":
            pa.feather.write_feather(frame, path)


def read(path):
    match path.rpartition(".")[2]:
        case "csv":
            return pd.read_csv(path)
        case "gz":
            return pd.read_csv(path, sep=";", decimal=",")
        case "parquet":
            return pd.read_parquet(path)
        case "feather":
            return pa.feather.read_feather(path)


@pytest.mark.parametrize(
    ("name", "suffix"),
    [
        *(("cars", "csv"), ("cars", "feather"), ("airports", "parquet")),
        *(("riots", "csv.gz"), ("riots", "csv"), ("riots", "feather")),
    ],
)
def test_fit_and_score_a_real_table(name, suffix, ctad):
    real_table = REAL_TABLES[name]()
    frame = real_table.frame
    write(frame, f"table.{suffix}")
    fitted = ctad("fit", f"table.{suffix}", "-o", "m.ctad", *SMALL_FOREST, "--json").json
    assert fitted["columns"] == real_table.kinds
    assert set(fitted["not_used"]) == real_table.not_used
    held_out = round(0.2 * len(frame))
    scores = SCORES if held_out >= 19 else SCORES[:3]  # 63 rows are too few
    assert fitted["rows_held_out"] == (held_out if held_out >= 19 else 0)
    assert fitted["rows"] + fitted["rows_held_out"] == len(frame)

    assert ctad("score", "m.ctad", f"table.{suffix}", "-o", f"scored.{suffix}", "--json").json[
        "rows"
    ] == len(frame)
    scored = read(f"scored.{suffix}")
    assert list(scored.columns) == [*frame.columns, *scores]
    pd.testing.assert_frame_equal(
        scored[list(frame.columns)], read(f"table.{suffix}"), check_dtype=True
    )
    # The same as in Python, to the last bit.
    parts = load("m.ctad").score_parts(frame)
    for column in scores:
        np.testing.assert_array_equal(scored[column], getattr(parts, column.removeprefix("ctad_")))


def test_models_of_python_and_of_the_command_are_the_same(ctad):
    cars = REAL_TABLES["cars"]().frame
    with pytest.warns(UserWarning, match="not used: 'Name'"):
        detector = CalibratedDetector(make("knn"), holdout=0.2, random_state=0).fit(cars)
    detector.save("python.ctad")
    write(cars, "cars.csv")
    ctad("score", "python.ctad", "cars.csv", "-o", "scored.csv")
    np.testing.assert_array_equal(read("scored.csv")["ctad_score"], detector.anomaly_score(cars))

    ctad("fit", "cars.csv", "-o", "command.ctad", "--detector", "knn")
    again = load("command.ctad")
    np.testing.assert_array_equal(again.anomaly_score(cars), detector.anomaly_score(cars))


def test_too_few_rows_to_hold_some_out(ctad):
    cars = REAL_TABLES["cars"]().frame.head(94)
    write(cars, "cars.csv")
    fitted = ctad("fit", "cars.csv", "-o", "m.ctad", *SMALL_FOREST)
    assert "94 rows are too few to hold some out for p-values: the model is trained on all" in (
        fitted.err
    )
    ctad("score", "m.ctad", "cars.csv", "-o", "scored.csv")
    assert "ctad_p_value" not in read("scored.csv")
    ctad("fit", "cars.csv", "-o", "m.ctad", "--holdout", 0.5, *SMALL_FOREST)
    ctad("score", "m.ctad", "cars.csv", "-o", "scored.csv")
    assert read("scored.csv")["ctad_p_value"].between(1 / 48, 1).all()


def test_the_text_of_a_csv_does_not_change(ctad):
    header = "id;when;zip;price;note\n"
    rows = [f"{i};{i % 28 + 1:02}.03.2024;007{i % 3};{i % 7},{i % 10}0;" for i in range(50)]
    rows[3] += '"with ""quotes"""'
    text = header + "\n".join(rows) + "\n"
    Path("table.csv").write_text(text)
    columns = ctad("fit", "table.csv", "-o", "m.ctad", *SMALL_FOREST, "--json").json["columns"]
    assert columns == {"when": "date", "zip": "category", "price": "number"}
    ctad("score", "m.ctad", "table.csv", "-o", "scored.csv")
    scored = Path("scored.csv").read_text().splitlines()
    assert scored[0] == header.strip() + ";ctad_base_score;ctad_delta;ctad_score"
    for line, row in zip(scored[1:], rows, strict=True):
        assert line.startswith(row + ";")


def test_a_folder_is_trained_on_and_scored_file_by_file(ctad, tmp_path):
    cars = REAL_TABLES["cars"]().frame
    (tmp_path / "cars" / "b").mkdir(parents=True)
    write(cars.iloc[:200], "cars/a.parquet")
    write(cars.iloc[200:], "cars/b/c.parquet")
    write(cars, "cars.parquet")
    ctad("fit", "cars", "-o", "folder.ctad", *SMALL_FOREST)
    ctad("fit", "cars/**/*.parquet", "-o", "glob.ctad", *SMALL_FOREST)
    ctad("fit", "cars.parquet", "-o", "file.ctad", *SMALL_FOREST)
    models = [load(f"{name}.ctad") for name in ("folder", "glob", "file")]
    scores = [model.anomaly_score(cars) for model in models]
    np.testing.assert_array_equal(scores[0], scores[2])
    np.testing.assert_array_equal(scores[1], scores[2])

    first = ctad("score", "file.ctad", "cars", "-o", "scored", "--json").json
    assert (first["files"], first["kept"]) == (2, 0)
    parts = [read("scored/a.parquet"), read("scored/b/c.parquet")]
    np.testing.assert_array_equal(pd.concat(parts)["ctad_score"], scores[2])
    (tmp_path / "scored" / "a.parquet").unlink()
    again = ctad("score", "file.ctad", "cars", "-o", "scored", "--json").json
    assert (again["files"], again["kept"]) == (1, 1)
    into_existing = ctad("score", "file.ctad", "cars.parquet", "-o", "scored", "--json").json
    assert into_existing["files"] == 1
    assert (tmp_path / "scored" / "cars.parquet").is_file()


@pytest.mark.parametrize("detector", ["isolationforest", "knn", "lof"])
def test_scores_do_not_depend_on_the_batches(ctad, detector):
    write(REAL_TABLES["cars"]().frame, "cars.parquet")
    options = SMALL_FOREST if detector == "isolationforest" else ()
    ctad("fit", "cars.parquet", "-o", "m.ctad", "--detector", detector, *options)
    for rows in (70, 100, 100_000):
        ctad("score", "m.ctad", "cars.parquet", "-o", f"{rows}.csv", "--batch-rows", rows)
    assert Path("70.csv").read_bytes() == Path("100.csv").read_bytes()
    assert Path("70.csv").read_bytes() == Path("100000.csv").read_bytes()


def test_standard_input_and_output(ctad):
    write(REAL_TABLES["cars"]().frame, "cars.csv")
    rows = Path("cars.csv").read_bytes()
    fitted = ctad("fit", "-", "-o", "m.ctad", *SMALL_FOREST, stdin=rows)
    assert "trained on 325 of 406 rows, 81 held out for p-values: m.ctad" in fitted.out
    ctad("score", "m.ctad", "cars.csv", "-o", "scored.csv")
    done = ctad("score", "m.ctad", "-", "-o", "-", stdin=gzip.compress(rows))
    assert done.out == Path("scored.csv").read_text()
    assert done.err == "Scored 406 rows: standard output\n"


def test_only_csv_can_be_piped_in(cars):
    table = REAL_TABLES["cars"]().frame.to_parquet()
    done = run("score", cars / "m.ctad", "-", "-o", "-", stdin=table)
    assert done.code == 1
    assert "standard input is Parquet or Arrow, but only CSV can be piped in" in done.err


def test_csv_to_parquet_has_the_types_of_the_model(ctad):
    cars = REAL_TABLES["cars"]().frame
    write(cars, "cars.csv")
    ctad("fit", "cars.csv", "-o", "m.ctad", *SMALL_FOREST)
    ctad("score", "m.ctad", "cars.csv", "-o", "scored.parquet")
    scored = read("scored.parquet")
    assert scored["Weight_in_lbs"].tolist() == cars["Weight_in_lbs"].tolist()
    assert scored["Year"].tolist() == cars["Year"].tolist()
    assert scored["Name"].tolist() == cars["Name"].tolist()


def test_delimiter_and_encoding_can_be_given(ctad):
    cars = REAL_TABLES["cars"]().frame.assign(empty="NA")
    cars.to_csv("cars.txt", index=False, sep="\t", encoding="cp1250")
    options = ("--delimiter", "tab", "--encoding", "cp1250", *SMALL_FOREST)
    fitted = ctad("fit", "cars.txt", "-o", "m.ctad", *options, "--json").json
    assert fitted["not_used"]["empty"] == "empty"
    assert len(fitted["columns"]) == 8


def test_training_does_not_use_the_columns_of_scores(ctad):
    write(REAL_TABLES["cars"]().frame, "cars.csv")
    ctad("fit", "cars.csv", "-o", "m.ctad", *SMALL_FOREST)
    ctad("score", "m.ctad", "cars.csv", "-o", "scored.csv")
    done = ctad("fit", "scored.csv", "-o", "again.ctad", *SMALL_FOREST)
    assert "not used: ctad_base_score, ctad_delta, ctad_score, ctad_p_value, which" in done.err
    ctad("score", "again.ctad", "scored.csv", "-o", "scored-again.csv")
    assert Path("scored-again.csv").read_bytes() == Path("scored.csv").read_bytes()


def test_a_note_says_that_no_row_has_a_label(ctad):
    write(REAL_TABLES["cars"]().frame, "cars.csv")
    words = ("--label", "Origin", "--anomalous")
    assert "no row has the label 'usa'" in ctad("fit", "cars.csv", "-o", "m", *words, "usa").err
    done = ctad("fit", "cars.csv", "-o", "m", *words, "USA", "--holdout", 0)
    assert "trained on 152 of 406 rows (254 labelled anomalous): m" in done.out
    far = pa.array([2**31 - 1, 0] * 30, pa.int32()).view(pa.date32())  # beyond Python's dates
    pq.write_table(pa.table({"a": normal(60), "b": normal(60), "day": far}), "far.parquet")
    done = ctad("fit", "far.parquet", "-o", "m", "--label", "day", "--anomalous", "never")
    assert "no row has the label 'never' in column 'day': '1970-01-01'" in done.err


@pytest.mark.parametrize("write_table", ["write_ipc", "write_ipc_stream", "write_parquet"])
def test_files_by_polars(ctad, write_table):
    cars = pl.from_pandas(REAL_TABLES["cars"]().frame)
    name = {"write_ipc": "c.feather", "write_ipc_stream": "c.arrows"}.get(write_table, "c.parquet")
    getattr(cars, write_table)(name)
    assert (
        ctad("fit", name, "-o", "m.ctad", *SMALL_FOREST, "--json").json["columns"]["Origin"]
        == "category"
    )
    ctad("score", "m.ctad", name, "-o", "scored.csv")
    np.testing.assert_array_equal(
        read("scored.csv")["ctad_score"], load("m.ctad").anomaly_score(cars)
    )


def test_numbers_and_times_in_several_notations(ctad):
    rows = [
        f"{i % 7},{i % 10};{i % 9}.5;{i % 24:02}:30;1.{i % 9 + 1}.2024;{i}{i:021}"
        for i in range(60)
    ]
    Path("t.csv").write_text("comma;point;clock;day;key\n" + "\n".join(rows) + "\n")
    fitted = ctad("fit", "t.csv", "-o", "m.ctad", *SMALL_FOREST, "--json").json
    assert fitted["columns"] == {
        **{"comma": "number", "point": "number"},
        **{"clock": "time of day", "day": "date"},
    }
    assert fitted["not_used"] == {"key": "text that hardly repeats"}
    ctad("score", "m.ctad", "t.csv", "-o", "scored.csv")


def test_files_of_a_folder_may_have_compatible_types(ctad, tmp_path):
    (tmp_path / "cars").mkdir()
    cars = REAL_TABLES["cars"]().frame
    cars[:200].assign(Year=cars["Year"][:200].dt.date).to_parquet("cars/a.parquet")
    cars[200:].astype({"Origin": "category"}).to_parquet("cars/b.parquet")
    assert (
        ctad("fit", "cars", "-o", "m.ctad", *SMALL_FOREST, "--json").json["columns"]["Year"]
        == "date"
    )
    cars[:9].assign(Year="long ago").to_parquet("cars/c.parquet")
    done = run("fit", "cars", "-o", "n.ctad")
    assert done.code == 1
    assert "c.parquet does not match the files before it: column 'Year' is" in done.err


def test_a_note_about_the_fallback_encoding(ctad):
    cars = REAL_TABLES["cars"]().frame.replace({"Origin": {"USA": "Übersee"}})
    cars.to_csv("cars.csv", index=False, encoding="cp1252")
    done = ctad("fit", "cars.csv", "-o", "m.ctad", *SMALL_FOREST)
    assert "Note: cars.csv is neither UTF-8 nor UTF-16, so it is read as Windows-1252" in done.err
    features = {feature.name for feature in load("m.ctad").encoder_.features_}
    assert "Origin=Übersee" in features


def test_a_sample_of_many_rows_does_not_depend_on_the_batches(ctad):
    airports = REAL_TABLES["airports"]().frame
    write(airports, "airports.parquet")
    options = ("--sample-rows", 500, "--seed", 3, *SMALL_FOREST)
    fitted = ctad("fit", "airports.parquet", "-o", "a.ctad", *options, "--json").json
    assert (fitted["rows"], fitted["rows_held_out"]) == (400, 100)
    assert fitted["rows_seen"] == len(airports)
    ctad("fit", "airports.parquet", "-o", "b.ctad", *options, "--batch-rows", 7)
    scores = [load(f"{name}.ctad").anomaly_score(airports) for name in "ab"]
    np.testing.assert_array_equal(*scores)
    ctad(
        "fit", "airports.parquet", "-o", "c.ctad", "--sample-rows", 500, "--seed", 4, *SMALL_FOREST
    )
    assert (load("c.ctad").anomaly_score(airports) != scores[0]).any()


def test_rows_labelled_anomalous_are_left_out_of_training(ctad):
    cars = REAL_TABLES["cars"]().frame
    write(cars.assign(odd=cars["Cylinders"] == 8), "cars.csv")
    fitted = ctad("fit", "cars.csv", "-o", "m.ctad", "--label", "odd", *SMALL_FOREST, "--json").json
    assert fitted["rows_left_out_as_anomalous"] == (cars["Cylinders"] == 8).sum()
    assert fitted["rows"] + fitted["rows_held_out"] == (cars["Cylinders"] != 8).sum()
    assert "odd" not in fitted["columns"]
    normal = cars[cars["Cylinders"] != 8].reset_index(drop=True)
    write(normal, "normal.csv")
    ctad("fit", "normal.csv", "-o", "n.ctad", *SMALL_FOREST)
    np.testing.assert_array_equal(
        load("m.ctad").anomaly_score(cars), load("n.ctad").anomaly_score(cars)
    )
    words = ("--label", "Origin", "--anomalous", "USA", "--holdout", 0)
    by_name = ctad("fit", "cars.csv", "-o", "o.ctad", *words)
    assert f"trained on {(cars['Origin'] != 'USA').sum()} of 406 rows" in by_name.out


def test_columns_can_be_ignored_and_kept(ctad):
    cars = REAL_TABLES["cars"]().frame.assign(key=np.arange(406))
    write(cars, "cars.csv")
    options = ("--ignore", "Year, Origin", "--ignore", "Cylinders", "--keep", "key")
    fitted = ctad("fit", "cars.csv", "-o", "m.ctad", *options, "--json").json
    assert set(fitted["columns"]) == {
        *("Miles_per_Gallon", "Displacement", "Horsepower", "Weight_in_lbs", "Acceleration"),
        "key",
    }


def test_options_of_the_detector(ctad):
    write(REAL_TABLES["cars"]().frame, "cars.csv")
    options = ("--detector-options", "n_estimators=7,max_features=0.5", "--calibration", "paper")
    ctad("fit", "cars.csv", "-o", "m.ctad", *options)
    model = load("m.ctad")
    assert model.detector_.n_estimators == 7
    assert model.detector_.max_features == 0.5
    assert model.calibrator_.n_centroids == 5


@pytest.mark.parametrize("training", ["mixed", "normal"])
def test_whether_the_training_rows_are_known_to_be_normal(ctad, training):
    write(REAL_TABLES["cars"]().frame, "cars.csv")
    options = ("--training", training, *SMALL_FOREST)
    assert ctad("fit", "cars.csv", "-o", "m.ctad", *options, "--json").json["training"] == training
    assert load("m.ctad").calibrator_.training == training
    printed = ctad("fit", "cars.csv", "-o", "m.ctad", *options).out
    assert f"calibrated (recommended, training={training}), trained on 325" in printed


def test_the_calibration_of_the_paper_has_one_kind_of_training(ctad):
    write(REAL_TABLES["cars"]().frame, "cars.csv")
    words = ("fit", "cars.csv", "-o", "m.ctad", "--calibration", "paper", *SMALL_FOREST)
    assert ctad(*words, "--json").json["training"] is None
    done = run(*words, "--training", "normal")
    assert done.code == 2
    assert "--calibration paper does not distinguish mixed and normal" in _in_one_line(done.err)
    done = run("fit", "cars.csv", "-o", "m.ctad", "--training", "clean")
    assert done.code == 2
    assert "'clean' is not one of mixed, normal." in _in_one_line(done.err)


def test_the_kinds_of_training_are_those_of_the_method():
    with pytest.raises(ValueError, match=f"training must be one of {str(TRAINING)[1:-1]}"):
        RelaxedCTAD(training="clean").check_parameters()


def _in_one_line(text):
    """The text of a box, whose lines are broken."""
    return " ".join(text.replace("│", " ").split())


def test_blank_lines_of_a_single_column_are_scored(ctad):
    Path("one.csv").write_text("x\n1.5\n\n2.5\n\n3.5\n")
    ctad("fit", "one.csv", "-o", "m.ctad", *SMALL_FOREST)
    assert ctad("score", "m.ctad", "one.csv", "-o", "scored.csv", "--json").json["rows"] == 5
    scored = pd.read_csv("scored.csv")
    assert scored["x"].isna().tolist() == [False, True, False, True, False]
    assert scored["ctad_score"].notna().all()


def test_many_columns_are_listed_in_part(ctad):
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 250))).add_prefix("x")
    frame.to_parquet("wide.parquet")
    fitted = ctad("fit", "wide.parquet", "-o", "m.ctad", *SMALL_FOREST)
    inspected = ctad("inspect", "m.ctad")
    for done in (fitted, inspected):
        assert "x199 " in done.out
        assert "x200 " not in done.out
        assert "and 50 more columns; --json lists all." in done.out
    done = ctad("fit", "wide.parquet", "-o", "m.ctad", *SMALL_FOREST, "--json")
    assert len(done.json["columns"]) == 250


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_very_many_columns(tmp_path, suffix):
    """The time must not grow with the square of their number."""
    columns = [f"column {i}" for i in range(10_000)]
    values = np.random.default_rng(0).normal(size=(3, len(columns)))
    write(pd.DataFrame(values, columns=columns), str(tmp_path / f"wide.{suffix}"))
    for command in (
        ["fit", f"wide.{suffix}", "-o", "m.ctad"],
        ["score", "m.ctad", f"wide.{suffix}", "-o", f"scored.{suffix}", "--json"],
    ):
        done = subprocess.run(
            [sys.executable, "-m", "ctad", *command],
            **{"cwd": tmp_path, "capture_output": True, "text": True, "timeout": 300},
        )
        assert done.returncode == 0, done.stderr[-2000:]
    assert json.loads(done.stdout)["rows"] == 3
