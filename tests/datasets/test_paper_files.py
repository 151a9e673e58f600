"""The registry compared with the real files in CTAD_DATA_DIR."""

import os

import pytest

from ctad.datasets import KNOWN_DATASETS, find_datasets, read_dataset

FOLDER = os.environ.get("CTAD_DATA_DIR")
FILES = find_datasets(FOLDER) if FOLDER else {}


@pytest.mark.parametrize("name", KNOWN_DATASETS)
def test_the_file_is_the_registered_data_set(name):
    if name not in FILES:
        pytest.skip(f"no {name} in CTAD_DATA_DIR")
    dataset = read_dataset(FILES[name])
    known = KNOWN_DATASETS[name]
    assert dataset.X.shape == (known.samples, known.dims)
    assert dataset.n_anomalies == known.anomalies
    assert known.values_sha256 in (dataset.sha256, None)
    assert known.difference(dataset) is None
