import numpy as np
import pytest

from ctad.evaluation import Source, run
from ctad.paper import Study

NAME = "<script>alert(1)</script> & co"


@pytest.fixture(scope="session")
def data(tmp_path_factory):
    """Three data sets, one of which has a name that HTML must not take for itself."""
    folder = tmp_path_factory.mktemp("data")
    random = np.random.default_rng(0)
    for name in ("first", "second", "third"):
        X = np.vstack([random.normal(size=(60, 3)), random.normal(2, 2, size=(12, 3))])
        np.savez(folder / f"{name}.npz", X=X, y=np.arange(72) >= 60)
    return folder


@pytest.fixture(scope="session")
def results(data, tmp_path_factory, jobs_here):
    """A small study: two detectors calibrated, one only compared."""
    study = Study(("first", "second", "third"), ("KNN", "IForest"), ("ECOD",), seeds=(0, 1))
    with jobs_here():
        return run(study.plan(), tmp_path_factory.mktemp("results"), Source(data))
