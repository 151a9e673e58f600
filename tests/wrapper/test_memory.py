"""A service that scores row after row needs no more memory with time."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.ensemble import IsolationForest

from ctad import CalibratedDetector

from ..data import clusters

STATUS = Path("/proc/self/statm")
PAGE = 4096 / 1e6  # MB


@pytest.mark.slow
@pytest.mark.skipif(not STATUS.exists(), reason="the memory of a process is read from /proc")
def test_many_calls_with_one_row_keep_no_memory():
    rows = clusters()
    detector = CalibratedDetector(IsolationForest(n_estimators=10), random_state=0).fit(rows)

    def memory_after(n_calls):
        for call in range(n_calls):
            assert np.isfinite(detector.anomaly_score(rows[[call % len(rows)]])).all()
        return int(STATUS.read_text().split()[1]) * PAGE

    before = memory_after(1000)
    assert memory_after(100_000) - before < 5
