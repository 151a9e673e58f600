"""ctad calibrate: scores of another program."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine

from ctad import CTAD, RelaxedCTAD

from .conftest import run

WINE, KIND = load_wine(return_X_y=True, as_frame=True)
TRAIN = WINE[KIND == 0].reset_index(drop=True)
OTHER_SCORES = WINE["alcohol"].round(1) * 3


@pytest.fixture
def files(ctad):
    """`train.csv` and `new.csv` have scores, `without.csv` has none."""
    TRAIN.assign(score=OTHER_SCORES[KIND == 0].to_numpy()).to_csv("train.csv", index=False)
    TRAIN.to_csv("without.csv", index=False)
    WINE.assign(score=OTHER_SCORES).to_csv("new.csv", index=False)


def test_scores_are_calibrated_as_in_python(ctad, files):
    ctad("calibrate", "train.csv", "new.csv", "-o", "out.csv")
    out = pd.read_csv("out.csv")
    calibrator = RelaxedCTAD(random_state=0).fit(TRAIN, scores=OTHER_SCORES[KIND == 0])
    np.testing.assert_array_equal(out["ctad_base_score"], OTHER_SCORES)
    np.testing.assert_array_equal(out["ctad_delta"], calibrator.delta(WINE))
    np.testing.assert_array_equal(out["ctad_score"], calibrator.calibrate(OTHER_SCORES, WINE))


def test_the_method_of_the_paper_needs_no_training_scores(ctad, files):
    ctad("calibrate", "without.csv", "new.csv", "-o", "out.parquet", "--calibration", "paper")
    out = pd.read_parquet("out.parquet")
    calibrator = CTAD(random_state=0).fit(TRAIN)
    expected = OTHER_SCORES + calibrator.delta(WINE)
    np.testing.assert_array_equal(out["ctad_score"], expected)


def test_lower_scores_can_be_the_anomalous_ones(ctad, files):
    ctad("calibrate", "train.csv", "new.csv", "-o", "out.csv", "--lower")
    out = pd.read_csv("out.csv")
    np.testing.assert_array_equal(out["ctad_base_score"], -OTHER_SCORES)
    calibrator = RelaxedCTAD(random_state=0).fit(TRAIN, scores=-OTHER_SCORES[KIND == 0])
    np.testing.assert_array_equal(out["ctad_score"], calibrator.calibrate(-OTHER_SCORES, WINE))


def test_several_files_are_scored_into_a_folder_and_kept(ctad, files, tmp_path):
    (tmp_path / "new").mkdir()
    for name in "ab":
        WINE.assign(score=OTHER_SCORES).to_csv(f"new/{name}.csv", index=False)
    arguments = ("calibrate", "train.csv", "new", "-o", "out", "--json")
    assert ctad(*arguments).json["files"] == 2
    assert ctad(*arguments).json["kept"] == 2
    assert ctad(*arguments, "--seed", 5).json["kept"] == 0
    assert ctad(*arguments).json["kept"] == 0
    TRAIN.assign(score=7 * OTHER_SCORES[KIND == 0].to_numpy()).to_csv("train.csv", index=False)
    assert ctad(*arguments).json["kept"] == 0  # training scores change the scaling


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("without.csv", "new.csv"),
            "without.csv has no column 'score'",
        ),
        (("train.csv", "without.csv"), "without.csv: the table lacks column 'score'"),
        (("train.csv", "new.csv", "--score-column", "s"), "train.csv has no column 's'"),
    ],
)
def test_errors_name_a_missing_column_of_scores(files, arguments, message):
    done = run("calibrate", *arguments, "-o", "out.csv")
    assert done.code == 1
    assert done.err.startswith(f"Error: {message}")


def test_missing_scores_are_refused(files):
    WINE.assign(score=OTHER_SCORES.where(WINE.index != 5)).to_csv("missing.csv", index=False)
    done = run("calibrate", "train.csv", "missing.csv", "-o", "out.csv")
    assert done.code == 1
    assert (
        "missing.csv: column 'score' has a missing value in row 5, but calibration needs a"
        in done.err
    )


def test_errors_name_scores_that_are_text(files):
    scores = OTHER_SCORES[KIND == 0].astype(str).to_numpy()
    scores[7] = "unknown"
    TRAIN.assign(score=scores).to_csv("texts.csv", index=False)
    done = run("calibrate", "texts.csv", "new.csv", "-o", "out.csv")
    assert done.code == 1
    assert "58 of 59 values are numbers, but not 'unknown'" in done.err


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_infinite_scores_stay_infinite(ctad, files, suffix):
    scores = OTHER_SCORES.to_numpy().copy()
    scores[[5, 100]] = np.inf, -np.inf
    tables = {"train": TRAIN.assign(score=scores[KIND == 0]), "new": WINE.assign(score=scores)}
    for name, table in tables.items():
        if suffix == "csv":
            table.to_csv(f"{name}.csv", index=False)
        else:
            table.to_parquet(f"{name}.parquet")
    done = ctad("calibrate", f"train.{suffix}", f"new.{suffix}", "-o", "out.csv")
    assert "1 of 59 training scores are infinite" in done.err
    out = pd.read_csv("out.csv")["ctad_score"]
    assert out[5] == np.inf
    assert out[100] == -np.inf
    assert np.isfinite(out.drop([5, 100])).all()


def test_training_rows_are_not_overwritten(files):
    before = Path("train.csv").read_bytes()
    done = run("calibrate", "train.csv", "new.csv", "-o", "train.csv")
    assert done.code == 1
    assert "choose another name" in done.err
    assert Path("train.csv").read_bytes() == before


def test_no_gain_is_predicted_for_a_constant_score(ctad, files):
    TRAIN.assign(score=7.0).to_csv("constant.csv", index=False)
    done = ctad("calibrate", "constant.csv", "new.csv", "-o", "out.csv")
    assert "The gain from calibration cannot be estimated: all training rows have the same" in (
        done.err
    )
