import os
from contextlib import contextmanager

import pytest
from hypothesis import HealthCheck, settings

INTERPRETED = os.environ.get("NUMBA_DISABLE_JIT") == "1"

settings.register_profile(
    "ctad",
    deadline=None,
    max_examples=int(os.environ.get("CTAD_TEST_EXAMPLES", 15 if INTERPRETED else 150)),
    derandomize=bool(os.environ.get("CI")),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("ctad")


@pytest.fixture(scope="session")
def jobs_here():
    """A context in which a benchmark does its jobs here, one after another, for tests of what is
    measured rather than where: it takes seconds to start a process."""

    @contextmanager
    def context():
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(
                "ctad.evaluation._run.in_processes",
                lambda perform, jobs, n_processes: ((job, perform(job)) for job in jobs),
            )
            yield

    return context


@pytest.fixture
def in_this_process(jobs_here):
    with jobs_here():
        yield
