import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine

from ctad.datasets import read_dataset


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Two small data sets with real rows: rare tumours, and one wine among two others."""
    folder = tmp_path_factory.mktemp("datasets")
    X, benign = load_breast_cancer(return_X_y=True)
    rows = np.concatenate([np.flatnonzero(benign == 1), np.flatnonzero(benign == 0)[:30]])
    np.savez(folder / "tumours.npz", X=X[rows], y=benign[rows] == 0)
    X, kind = load_wine(return_X_y=True)
    rows = np.concatenate([np.flatnonzero(kind > 0), np.flatnonzero(kind == 0)[:10]])
    np.savez(folder / "wines.npz", X=X[rows], y=kind[rows] == 0)
    return folder


@pytest.fixture(scope="session")
def wines(folder):
    return read_dataset(folder / "wines.npz")


@pytest.fixture(scope="session")
def tumours(folder):
    return read_dataset(folder / "tumours.npz")
