"""A model and tables to score with it."""

from functools import cache

import numpy as np
import pyarrow as pa
from sklearn.ensemble import IsolationForest

from ctad import CalibratedDetector

COLORS = ("red", "green", "blue")


def mixed(n_rows, seed=1):
    """Numbers, text, dates and missing values."""
    random = np.random.default_rng(seed)
    length = np.round(random.normal(size=n_rows), 3)
    days = random.integers(19_000, 20_000, n_rows)
    return pa.table(
        {
            "id": [f"{i:06d}" for i in range(n_rows)],
            "length": length,
            "color": pa.array(random.choice(COLORS, n_rows)),
            "day": pa.array(days, pa.int32()).cast(pa.date32()),
            "count": pa.array(random.integers(0, 9, n_rows), mask=random.random(n_rows) < 0.1),
        }
    )


@cache
def model():
    return CalibratedDetector(IsolationForest(n_estimators=10), random_state=0).fit(
        mixed(500, seed=0).drop_columns("id")
    )
