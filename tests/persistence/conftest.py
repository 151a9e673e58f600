import pytest
from pyod.models import hbos, qmcd
from pyod.utils import stat_models


@pytest.fixture(scope="package", autouse=True)
def pyod_without_compilation():
    """PyOD compiles these functions in each process, which takes seconds. Not compiled, they give
    the same results."""
    with pytest.MonkeyPatch.context() as patch:
        for module, name in (
            (hbos, "_calculate_outlier_scores"),
            (qmcd, "_wrap_around_discrepancy"),
            (stat_models, "_pairwise_distances_no_broadcast_helper"),
        ):
            patch.setattr(module, name, getattr(module, name).py_func)
        yield
