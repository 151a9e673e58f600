import numpy as np
import pytest
from studies.paper.study import RESULTS, Study

from ctad.evaluation import Results, Source


@pytest.fixture(scope="session")
def data(tmp_path_factory):
    """Three small data sets that are not the paper's."""
    folder = tmp_path_factory.mktemp("data")
    random = np.random.default_rng(0)
    for name in ("first", "second", "third"):
        X = np.vstack([random.normal(size=(60, 3)), random.normal(2, 2, size=(12, 3))])
        np.savez(folder / f"{name}.npz", X=X, y=np.arange(72) >= 60)
    return folder


@pytest.fixture(scope="session")
def small_study():
    return Study(("first", "second", "third"), ("ECOD", "KNN"), (), seeds=(0, 1))


@pytest.fixture(scope="session")
def small_results(data, small_study, tmp_path_factory, jobs_here):
    with jobs_here():
        return small_study.run(tmp_path_factory.mktemp("results"), Source(data))


@pytest.fixture(scope="session")
def stored():
    """The results in this repository."""
    return Results(RESULTS)
