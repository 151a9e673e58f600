"""Data sets by name: from a folder, from the cache, from the internet."""

import numpy as np
import pytest

from ctad.datasets import KNOWN_DATASETS, load_dataset, read_dataset
from ctad.io import TableError

from .conftest import small


@pytest.fixture
def folder(tmp_path, body, wine):
    """A folder with the registered data set and one of the user."""
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "wine.npz").write_bytes(body)
    (folder / "Mine.csv").write_text("a,b,state\n1.5,2,ok\n1.5,2,ok\n9.5,9,bad\n")
    return folder


def test_the_folder_is_searched_before_the_cache(source, folder):
    with source() as server:
        dataset = load_dataset("WINE", folder)
        assert (dataset.name, dataset.X.shape, dataset.n_anomalies) == ("wine", (20, 3), 4)
        assert server.requested == []


def test_the_folder_may_be_set_by_an_environment_variable(folder, monkeypatch):
    monkeypatch.setenv("CTAD_DATA_DIR", str(folder))
    assert load_dataset("wine", download=False).n_anomalies == 4
    monkeypatch.setenv("CTAD_DATA_DIR", "")
    with pytest.raises(FileNotFoundError, match="not downloaded yet"):
        load_dataset("wine", download=False)


def test_data_sets_of_the_user_are_found_by_name(folder):
    dataset = load_dataset("mine", folder, label="state", anomalous="bad")
    assert (dataset.name, dataset.X.shape) == ("Mine", (3, 2))
    with pytest.raises(TableError, match="lacks column 'y'"):
        load_dataset("mine", folder)


def test_a_data_set_that_is_not_in_the_folder_is_downloaded(source, folder):
    (folder / "wine.npz").unlink()
    with source() as server:
        assert load_dataset("wine", folder, label="state").n_anomalies == 4
        assert load_dataset("wine", folder, download=False).n_anomalies == 4
        assert len(server.requested) == 1


@pytest.mark.parametrize("change", [lambda X, y: (X + 1, y), lambda X, y: (X[:, 1:], y)])
def test_a_different_data_set_of_the_same_name_is_used_with_a_warning(folder, change):
    X, y = change(*small())
    np.savez(folder / "wine.npz", X=X, y=y)
    with pytest.warns(UserWarning, match=r"wine in .*wine.npz is not the registered data set: "):
        dataset = load_dataset("wine", folder)
    np.testing.assert_array_equal(dataset.X, X)


def test_an_unknown_name_is_refused_with_the_known_names(folder):
    with pytest.raises(ValueError, match=r"no data set 'mien'.* .*data has Mine, wine\."):
        load_dataset("mien", folder)
    with pytest.raises(ValueError, match=r"no data set 'mien'\. Its data sets are abalone"):
        load_dataset("mien")
    with pytest.raises(NotADirectoryError, match="there is no such folder"):
        load_dataset("wine", folder / "no")


def test_without_download_the_error_says_how_to_download(wine):
    with pytest.raises(FileNotFoundError, match="`ctad datasets wine --download`, or put the file"):
        load_dataset("wine", download=False)


def test_a_data_set_written_to_csv_is_still_the_registered_one(folder):
    dataset = read_dataset(folder / "wine.npz")
    np.savetxt(
        folder / "again.csv",
        np.column_stack([dataset.X, dataset.y]),
        delimiter=",",
        header="a,b,c,y",
        comments="",
        fmt="%.17g",
    )
    assert KNOWN_DATASETS["wine"].difference(read_dataset(folder / "again.csv")) is None
