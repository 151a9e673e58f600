import os

from hypothesis import HealthCheck, settings

INTERPRETED = os.environ.get("NUMBA_DISABLE_JIT") == "1"

settings.register_profile(
    "ctad",
    deadline=None,
    max_examples=15 if INTERPRETED else 150,
    derandomize=bool(os.environ.get("CI")),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("ctad")
