"""`CalibratedDetector` around detectors of several libraries and forms, on arrays and tables."""

import numpy as np
import pandas as pd
import pyarrow as pa
from pyod.models.ecod import ECOD
from pyod.models.knn import KNN
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import IsolationForest
from sklearn.frozen import FrozenEstimator
from sklearn.neighbors import LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from ctad import CTAD, CalibratedDetector
from ctad.calibration import CentroidDistance, MahalanobisDistance, TransportOnly
from ctad.tables import TableEncoder

from . import X_NEW, X_TRAIN, Example

TABLE = pd.DataFrame(X_TRAIN, columns=list("abc")).assign(
    kind=["x", "y", "z"] * 20,
    open=[True, False, None, True] * 15,
    day=pd.Timestamp("2026-01-01") + pd.to_timedelta(np.arange(60) * 7, unit="h"),
)
NEW_TABLE = TABLE[::7].assign(kind="new", a=X_NEW[:9, 0])
NUMBERS, NEW_NUMBERS = TABLE[["a", "b", "c"]], NEW_TABLE[["a", "b", "c"]]
FOREST = IsolationForest(n_estimators=3, random_state=0)
SCALED = make_pipeline(StandardScaler(), FOREST)
LABELS = np.arange(len(X_TRAIN)) % 10 == 0
BY_NAME = make_pipeline(
    make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), ["kind"]),
        (StandardScaler(), ["b", "a"]),
    ),
    FOREST,
)


SMALL = CentroidDistance(3)


def example(name, detector, rows=X_TRAIN, new=X_NEW, y=None, calibrator=SMALL, **parameters):
    """A detector, or a function that makes it if it is fitted before."""

    def make():
        wrapped = detector() if callable(detector) else detector
        model = CalibratedDetector(wrapped, calibrator, random_state=0, **parameters)
        return model.fit(rows, y)

    return Example("ctad.CalibratedDetector", make, new, name)


EXAMPLES = [
    example("", FOREST, calibrator=None),
    example("holdout", FOREST, holdout=0.3, contamination=0.2, calibrator=CTAD(3, 5)),
    example("labels", KNN(n_neighbors=3), y=LABELS, holdout=0.2, calibrator=TransportOnly(2, 2)),
    example("kept scores", LocalOutlierFactor(5, novelty=True), calibrator=MahalanobisDistance()),
    example("of PyOD on a table", KNN(n_neighbors=3), TABLE, NEW_TABLE),
    example("batch-dependent", ECOD, holdout=0.2),
    example("one column", FOREST, X_TRAIN[:, :1], X_NEW[:, :1], calibrator=CTAD(2, 3)),
    example("single precision", FOREST, X_TRAIN.astype(np.float32), X_NEW.astype(np.float32)),
    example("polarity", FOREST, polarity="lower"),
    example("pipeline", SCALED, holdout=0.25),
    example("frozen", lambda: FrozenEstimator(KNN(n_neighbors=3).fit(X_TRAIN))),
    example(
        "fitted before", lambda: clone(make_pipeline(StandardScaler(), FOREST)).fit(X_TRAIN[:40])
    ),
    example("table", FOREST, TABLE, NEW_TABLE, calibrator=CTAD(4, 7, feature_scaling="standard")),
    example(
        "table, held out",
        KNN(n_neighbors=3),
        TABLE,
        NEW_TABLE,
        encoder=TableEncoder(ignore=["day"], min_frequency=0.1),
        holdout=0.25,
    ),
    example("columns by name", BY_NAME, TABLE, NEW_TABLE, holdout=0.25),
    example(
        "Arrow",
        FOREST,
        pa.Table.from_pandas(TABLE, preserve_index=False),
        pa.Table.from_pandas(NEW_TABLE, preserve_index=False),
    ),
    example("fitted on a table", lambda: clone(FOREST).fit(NUMBERS[["c", "a"]]), TABLE, NEW_TABLE),
    example("fitted on an array", lambda: clone(FOREST).fit(X_TRAIN), NUMBERS, NEW_NUMBERS),
]
