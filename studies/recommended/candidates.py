"""All calibrations that are compared. None uses a label; only `NEEDS_BATCH` use other test rows."""

from functools import partial

import numpy as np
from sklearn.ensemble import IsolationForest
from sklearn.neighbors import LocalOutlierFactor

from ctad import CTAD, RelaxedCTAD
from ctad.calibration import NeighbourDistance
from ctad.evaluation import Calibration, add_by_training

from .terms import FirstEdition, NearestRow, OfBothViews, RowsThemselves, WithinBatch
from .uadb import boost

RECOMMENDED = "RelaxedCTAD"
NEAR_VIEW = "near view alone"  # training="normal"
FIRST_EDITION = "first edition"
TERM_ALONE = "term alone"
UADB = "UADB"
NEIGHBOURS = ("5 neighbours", "2 % of the rows", "nearest training row")
NEEDS_BATCH = ("EPHAD with LOF", "EPHAD with a forest", UADB)  # they adapt to the new rows
RIVALS = (*NEIGHBOURS, *NEEDS_BATCH)

# They cost more per row than ten passes with K=5, or more with every training row.
TOO_SLOW = (*NEIGHBOURS, FIRST_EDITION, "2 draws", "4 draws", "K up to 1000")

# The term is chosen. Its weight, and how it is added, were fixed before.
NOT_CHOSEN = "weight"

# By median and quartiles of the training rows, as `RelaxedCTAD` does.
add_robustly = partial(add_by_training, scaling="robust")


def term_alone(scores, terms, weight):
    """Without the detector."""
    return weight * terms.test


def boosted(scores, rows, weight):
    """UADB. It has no term and no weight."""
    every_row = np.concatenate([rows.train, rows.test])
    every_score = np.concatenate([scores.train, scores.test])
    return boost(every_row, every_score)[len(rows.train) :]


def candidates() -> dict[str, list[Calibration]]:
    """All calibrations by subject: RelaxedCTAD with one change, unless the name says otherwise."""
    recommended = RelaxedCTAD()

    def relaxed(name, calibrator, weight=recommended.weight, add=add_robustly):
        return Calibration(name, calibrator, weight, add)

    def changed(name, **changes):
        return relaxed(name, RelaxedCTAD(**changes))

    return {
        "rivals": [
            relaxed("5 neighbours", NeighbourDistance(5)),
            relaxed("2 % of the rows", NeighbourDistance(0.02)),
            relaxed("nearest training row", NearestRow()),
            # log p(x) + T(x) / beta, where T is minus the anomaly score and the weight is 1 / beta.
            relaxed("EPHAD with LOF", WithinBatch(LocalOutlierFactor())),
            relaxed("EPHAD with a forest", WithinBatch(IsolationForest(random_state=0))),
            relaxed(UADB, RowsThemselves(), add=boosted),
        ],
        "before": [
            relaxed("as in the paper, but scaled by training rows", CTAD(), weight=1.0),
            relaxed(FIRST_EDITION, FirstEdition()),
        ],
        "views": [
            relaxed(RECOMMENDED, recommended),
            changed(NEAR_VIEW, training="normal"),
            relaxed("wide view alone", OfBothViews("wide")),
            relaxed("sum of the views", OfBothViews("sum")),
        ],
        "wide view": [
            changed("mass share 0.1", mass_share=0.1),
            changed("mass share 0.2", mass_share=0.2),
            changed("mass share 0.5", mass_share=0.5),
            changed("nothing trimmed", trimmed=0.0),
            changed("10 % trimmed", trimmed=0.1),
            changed("30 % trimmed", trimmed=0.3),
        ],
        "centroids and draws": [
            changed("K up to 100", n_centroids=100),
            changed("K up to 200", n_centroids=200),
            changed("K up to 1000", n_centroids=1000),
            changed("2 draws", n_draws=2),
            changed("4 draws", n_draws=4),
        ],
        NOT_CHOSEN: [
            relaxed("weight 1", recommended, 1.0),
            relaxed("weight 3", recommended, 3.0),
            relaxed(TERM_ALONE, recommended, add=term_alone),
        ],
    }
