"""Files written by older versions stay readable: one of each is kept beside this test.

`python -m tests.modelfile.test_kept_file` writes the file of the version at hand and prints its
scores. A kept file is never written anew; a new format version adds another one.
"""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ctad import CTAD, CalibratedDetector
from ctad.detector import gather
from ctad.detector._saving import load, save
from ctad.modelfile import read_manifest

FOLDER = Path(__file__).parent


def table(n):
    """Numbers with a gap, text and dates, the same everywhere and forever."""
    i = np.arange(n)
    return pd.DataFrame(
        {
            "length": np.sin(i) + i % 3,
            "width": np.where(i % 7 == 3, np.nan, np.cos(2 * i)),
            "colour": np.array(["red", "green", "blue"])[i % 3],
            "day": pd.Timestamp("2026-01-01") + pd.to_timedelta(i * 7, unit="h"),
        }
    )


# name: format version, calibrated scores of the first rows
FILES = {
    "written-by-0.1.ctad": (
        1,
        [
            *(0.6494905705368952, 0.6625137557777074, 1.538301361685213),
            *(0.12783361946696037, -0.9014956003865912, 0.42435458848337193),
        ],
    ),
    "of-format-2.ctad": (
        2,
        [
            *(0.9190880706283494, 0.25767928811661395, 0.9618933388309128),
            *(0.9313941842883802, -0.820541065069177, 0.02629119455343125),
        ],
    ),
}


@pytest.mark.filterwarnings("ignore:.* was written with")
@pytest.mark.parametrize("name", FILES)
def test_a_file_of_an_older_version_gives_the_same_scores(name):
    format_version, scores = FILES[name]
    loaded = load(FOLDER / name)
    np.testing.assert_allclose(loaded.anomaly_score(table(6)), scores, rtol=1e-12, atol=1e-12)
    manifest = read_manifest(FOLDER / name)
    assert manifest["format_version"] == format_version
    assert [column["name"] for column in manifest["columns"]] == list(table(1))


@pytest.mark.filterwarnings("ignore:.* was written with")
@pytest.mark.parametrize("name", FILES)
def test_a_file_of_an_older_version_can_be_saved_explained_and_reported_on(name, tmp_path):
    """It has no training rows to compare with: what needs them says so, the rest goes on."""
    load(FOLDER / name).save(tmp_path / "again.ctad")
    loaded = load(tmp_path / "again.ctad")
    assert loaded.explain(table(6)).reasons(0)[0].usual == "unknown"
    with pytest.raises(ValueError, match="train the model anew"):
        loaded.monitor(table(6))
    report = gather(loaded, table(6))
    assert report.fit is None
    assert any("no training rows to compare with" in notice for notice in report.notices)
    assert "no training rows to compare with" in loaded.report(table(6)).html


@pytest.mark.filterwarnings("ignore:.* was written with")
def test_what_a_file_of_format_1_does_not_name_is_as_it_was_then():
    """These options came later: trained anew, the model is what it was."""
    calibrator = load(FOLDER / "written-by-0.1.ctad").calibrator
    assert (calibrator.columns, calibrator.cost) == ("all", "distance")
    assert calibrator.rows_per_centroid is None


if __name__ == "__main__":
    detector = CalibratedDetector(
        make_pipeline(StandardScaler(), PCA(4)),
        CTAD(
            n_centroids=3,
            n_references=8,
            target="sizes",
            score_scaling="robust",
            n_draws=2,
            feature_scaling=(None, "standard"),
            columns="random",
            cost="relative",
        ),
        random_state=0,
    ).fit(table(60))
    save(detector, FOLDER / "of-format-2.ctad")
    print(detector.anomaly_score(table(6)).tolist())
