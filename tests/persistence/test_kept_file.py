"""A model file beside this test, so that a change of the format is noticed.

`python -m tests.persistence.test_kept_file` writes it and prints its scores. After the first
release the file stays as it is, and a new format version adds another one.
"""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ctad import CalibratedDetector, RelaxedCTAD
from ctad.persistence import load, read_manifest

FOLDER = Path(__file__).parent


def table(n):
    """Numbers with missing values, text and dates, without any randomness."""
    i = np.arange(n)
    return pd.DataFrame(
        {
            "length": np.sin(i) + i % 3,
            "width": np.where(i % 7 == 3, np.nan, np.cos(2 * i)),
            "colour": np.array(["red", "green", "blue"])[i % 3],
            "day": pd.Timestamp("2026-01-01") + pd.to_timedelta(i * 7, unit="h"),
        }
    )


FILE = FOLDER / "format-1.ctad"
SCORES = [
    2.9695054647221877,
    -0.7111722720876396,
    -0.9395548310314192,
    3.965383019709527,
    -1.635516893832903,
    -1.2568387204608822,
]


def new_model():
    return CalibratedDetector(
        make_pipeline(StandardScaler(), PCA(4)), RelaxedCTAD(n_draws=2), random_state=0
    ).fit(table(60))


@pytest.mark.filterwarnings("ignore:.* was written with")
def test_a_kept_file_gives_the_same_scores():
    loaded = load(FILE)
    np.testing.assert_allclose(loaded.anomaly_score(table(6)), SCORES, rtol=1e-12, atol=1e-12)
    manifest = read_manifest(FILE)
    assert manifest["format_version"] == 1
    encoder = manifest["model"]["fitted"]["encoder_"]
    assert [column["name"] for column in encoder["fitted"]["columns"]] == list(table(1))


if __name__ == "__main__":
    new_model().save(FILE)
    print(load(FILE).anomaly_score(table(6)).tolist())
