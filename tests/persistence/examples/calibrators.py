"""Calibrators."""

import numpy as np
import pandas as pd

from ctad import CTAD, RelaxedCTAD
from ctad.calibration import CentroidDistance, MahalanobisDistance, NeighbourDistance, TransportOnly

from . import X_NEW, X_TRAIN, Example

SCORES = X_TRAIN[:, 0]
FRAME = pd.DataFrame(X_TRAIN, columns=["a", "b", "c"])
TIES = np.round(X_TRAIN)
ONE_COLUMN = X_TRAIN[:, :1]
# Far-away rows make the units of a row move others.
MANY_NEW = np.vstack([X_NEW, 3 * X_TRAIN[:20], np.zeros((1, 3))])


def fitted(calibrator, rows=X_TRAIN):
    return lambda: calibrator.fit(rows, scores=SCORES[: len(rows)])


EXAMPLES = [
    Example("ctad.CTAD", fitted(CTAD(random_state=0)), MANY_NEW),
    Example(
        "ctad.CTAD",
        fitted(CTAD(12, 21, n_draws=2, n_jobs=2, feature_scaling="robust", random_state=0)),
        MANY_NEW,
        name="search",
    ),
    Example("ctad.CTAD", fitted(CTAD(12, 3, random_state=0), TIES), MANY_NEW, name="ties"),
    Example(
        "ctad.CTAD",
        fitted(CTAD(7, 6, signal="own", score_scaling="robust", random_state=0), FRAME),
        pd.DataFrame(MANY_NEW, columns=FRAME.columns),
        name="one unit",
    ),
    Example(
        "ctad.CTAD",
        fitted(CTAD(15, 4, target="sizes", feature_scaling="minmax", random_state=0)),
        MANY_NEW,
        name="sizes",
    ),
    Example(
        "ctad.CTAD",
        fitted(CTAD(20, 5, target="free", feature_scaling="standard", random_state=0)),
        MANY_NEW,
        name="free",
    ),
    Example(
        "ctad.CTAD",
        fitted(CTAD(1, 1, random_state=0), ONE_COLUMN),
        X_NEW[:, :1],
        name="one centroid, one column",
    ),
    Example("ctad.RelaxedCTAD", fitted(RelaxedCTAD(random_state=0)), MANY_NEW),
    Example(
        "ctad.RelaxedCTAD",
        fitted(
            RelaxedCTAD(
                5,
                training="normal",
                n_draws=2,
                rows_per_centroid=None,
                n_jobs=-1,
                random_state=0,
            ),
            FRAME,
        ),
        pd.DataFrame(MANY_NEW, columns=FRAME.columns),
        name="normal rows only",
    ),
    Example(
        "ctad.RelaxedCTAD",
        fitted(
            RelaxedCTAD(
                8,
                4,
                n_draws=3,
                mass_share=0.1,
                trimmed=0,
                rows_per_centroid=4,
                random_state=0,
            )
        ),
        MANY_NEW,
        name="several draws",
    ),
    # One centroid has room for all mass, and for more.
    Example(
        "ctad.RelaxedCTAD",
        fitted(RelaxedCTAD(n_references=1, mass_share=0.01, random_state=0), X_TRAIN[:4]),
        MANY_NEW,
        name="few rows",
    ),
    # Some references are far out of the range of the rows that the wide view keeps.
    Example(
        "ctad.RelaxedCTAD",
        fitted(
            RelaxedCTAD(random_state=0),
            np.vstack([X_TRAIN[:50] * [0.0, 1.0, 1e-100], X_TRAIN[50:] * [1e30, 1e9, 1e-92]]),
        ),
        MANY_NEW,
        name="columns that hardly vary",
    ),
    Example(
        "ctad.RelaxedCTAD",
        lambda: RelaxedCTAD(random_state=0).fit(X_TRAIN),
        name="without scores",
    ),
    Example(
        "ctad.RelaxedCTAD",
        fitted(RelaxedCTAD(score_scaling="unit", random_state=0), TIES),
        name="ties",
    ),
    Example(
        "ctad.calibration.CentroidDistance",
        fitted(CentroidDistance(random_state=0, score_scaling="standard")),
    ),
    Example(
        "ctad.calibration.CentroidDistance",
        fitted(CentroidDistance(20, random_state=0)),
        name="many centroids",
    ),
    Example(
        "ctad.calibration.MahalanobisDistance", fitted(MahalanobisDistance(weight=0.5)), MANY_NEW
    ),
    Example(
        "ctad.calibration.MahalanobisDistance",
        fitted(MahalanobisDistance(), np.column_stack([TIES[:, 0] > 0, np.full(60, 5.0)])),
        X_NEW[:, :2],
        name="constant column",
    ),
    Example("ctad.calibration.NeighbourDistance", fitted(NeighbourDistance()), MANY_NEW),
    Example(
        "ctad.calibration.NeighbourDistance",
        fitted(NeighbourDistance(0.1, score_scaling="robust")),
        name="a share",
    ),
    Example("ctad.calibration.TransportOnly", fitted(TransportOnly(random_state=0)), MANY_NEW),
    Example(
        "ctad.calibration.TransportOnly",
        fitted(TransportOnly(8, 12, target="sizes", signal="own", n_jobs=1, random_state=0)),
        name="sizes",
    ),
]
