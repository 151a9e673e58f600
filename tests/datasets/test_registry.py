"""The data sets of the paper by name."""

import re
import subprocess
import sys

import pytest

from ctad.datasets import KNOWN_DATASETS, Dataset, known_dataset

from .conftest import small

WITHOUT_HASH = {"amazon", "speech"}


def test_all_34_data_sets_are_registered():
    assert len(KNOWN_DATASETS) == 34
    assert list(KNOWN_DATASETS) == sorted(KNOWN_DATASETS)
    for name, known in KNOWN_DATASETS.items():
        assert known.name == name == name.lower()
        assert 0 < known.anomalies < known.samples
        assert known.dims > 1
        assert re.fullmatch(r"[0-9a-f]{40}", known.commit)
        assert re.fullmatch(r"[\w.-]+/[\w.-]+", known.repository)
        assert known.suffix in (".npz", ".mat")
        assert known.transformation.startswith("values as in source")
        for sha256 in (known.source_sha256, known.values_sha256):
            assert sha256 is None if name in WITHOUT_HASH else re.fullmatch(r"[0-9a-f]{64}", sha256)


def test_hashes_and_sources_are_unique():
    hashed = [known for name, known in KNOWN_DATASETS.items() if name not in WITHOUT_HASH]
    for field in ("source_sha256", "values_sha256", "url"):
        assert len({getattr(known, field) for known in hashed}) == 32


def test_the_address_of_a_file():
    assert known_dataset("GLASS").url == (
        "https://raw.githubusercontent.com/yzhao062/pyod/"
        "34f7996effac700a5166d882d5e94c6e6078fae3/notebooks/data/glass.mat"
    )


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("wyne", r"no data set 'wyne'. Did you mean wine\?"),
        ("satimage", "Did you mean satimage-2"),
        ("qqq", "Its data sets are abalone, amazon, .*, yeast"),
    ],
)
def test_an_unknown_name_is_refused_with_a_hint(name, message):
    with pytest.raises(ValueError, match=message):
        known_dataset(name)


def test_a_difference_is_described_in_words(wine):
    X, y = small()
    assert wine.difference(Dataset("wine", X, y)) is None
    X[3, 1] += 1e-9
    assert "the SHA-256 of its values is" in wine.difference(Dataset("wine", X, y))
    assert wine.difference(Dataset("wine", X[1:], y[1:])) == (
        "it has 19 rows, 3 columns and 4 anomalies, the registered one 20, 3 and 4"
    )


def test_importing_ctad_imports_no_data_sets():
    code = "import sys, ctad; print({*sys.modules} & {'ctad.datasets', 'pyarrow', 'pooch'})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
