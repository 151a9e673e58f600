"""All calibrations that were tried for `RelaxedCTAD`, also those that failed.

None uses a label or another test row.
"""

from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import QuantileTransformer, StandardScaler

from ctad import CTAD, RelaxedCTAD
from ctad.calibration import MahalanobisDistance
from ctad.evaluation import Calibration, add_by_training

from .additions import (
    add_by_agreement,
    add_maximum,
    add_ranks,
    add_robustly,
    add_squared,
    add_tails,
    term_alone,
)
from .terms import (
    AfterTransform,
    CappedPrice,
    InSample,
    MeanTerm,
    MoreCentroids,
    NearestRow,
    RandomRows,
)

RECOMMENDED = "recommended"
BASELINE = "nearest training row"

# They cost more per row than ten passes with K=5, or more with every training row.
TOO_SLOW = (
    BASELINE,
    "uniform own, 20 draws",
    "free, K=5, 20 draws",
    "K up to 400",
    "K up to 10, 30 and 200",
    "8 draws",
)

# The term is chosen. Its weight, and how it is added, were fixed before.
NOT_CHOSEN = "how score and term are added"


def candidates() -> dict[str, list[Calibration]]:
    """All calibrations by subject: RelaxedCTAD with one change, unless the name says otherwise."""
    recommended = RelaxedCTAD()

    def relaxed(name, calibrator, weight=recommended.weight, add=add_robustly):
        return Calibration(name, calibrator, weight, add)

    def changed(name, **changes):
        return relaxed(name, RelaxedCTAD(**changes))

    def with_weight_1(name, calibrator, add=add_robustly):
        return Calibration(name, calibrator, 1.0, add)

    return {
        "baseline": [
            with_weight_1(BASELINE, NearestRow(), add_by_training),
        ],
        "as in the paper, but scaled by training rows": [
            with_weight_1("uniform total, K=5, M=20", CTAD()),
            with_weight_1("uniform own, K=5, M=20", CTAD(signal="own")),
            with_weight_1("uniform own, 20 draws", CTAD(signal="own", n_draws=20)),
            with_weight_1("free, K=5, 20 draws", CTAD(target="free", signal="own", n_draws=20)),
            with_weight_1("Mahalanobis distance", MahalanobisDistance()),
        ],
        "mass on the centroids, K=50, plain distance": [
            with_weight_1(
                "uniform total, M=99, 6 draws",
                CTAD(n_centroids=50, n_references=99, n_draws=6),
            ),
            with_weight_1(
                "sizes own, M=199, 6 draws",
                CTAD(n_centroids=50, n_references=199, target="sizes", signal="own", n_draws=6),
            ),
            with_weight_1("price capped at 1", CappedPrice(1.0)),
            with_weight_1("price capped at 0.25", CappedPrice(0.25)),
            with_weight_1("free", CappedPrice(0.0)),
            with_weight_1("random rows as centroids", RandomRows(50, 6)),
        ],
        "scaling of columns": [
            relaxed(RECOMMENDED, recommended),
            changed("unscaled", feature_scaling=None),
            changed("standardised", feature_scaling="standard"),
            changed("min-max", feature_scaling="minmax"),
            changed("robust", feature_scaling="robust"),
            changed(
                "unscaled, standardised and min-max, 3 draws",
                feature_scaling=(None, "standard", "minmax"),
                n_draws=3,
            ),
            relaxed(
                "ranks",
                AfterTransform(
                    QuantileTransformer(n_quantiles=200, subsample=None),
                    RelaxedCTAD(feature_scaling=None),
                ),
            ),
            relaxed(
                "whitened",
                AfterTransform(
                    make_pipeline(StandardScaler(), PCA(0.99, whiten=True)),
                    RelaxedCTAD(feature_scaling=None),
                ),
            ),
        ],
        "cost": [
            # Plain distances in two scalings cannot be averaged: compare this one with "unscaled".
            changed("unscaled, plain distance", feature_scaling=None, cost="distance"),
        ],
        "centroids and draws": [
            changed("K up to 30", n_centroids=30),
            changed("K up to 100", n_centroids=100),
            changed("K up to 400", n_centroids=400),
            relaxed("K up to two thirds of the rows", MoreCentroids()),
            relaxed(
                "K up to 10, 30 and 200",
                MeanTerm([RelaxedCTAD(n_centroids=k) for k in (10, 30, 200)]),
            ),
            changed("2 draws", n_draws=2),
            changed("8 draws", n_draws=8),
        ],
        "columns": [
            changed("all columns", columns="all"),
        ],
        NOT_CHOSEN: [
            relaxed("weight 1", recommended, 1.0),
            relaxed("weight 1.5", recommended, 1.5),
            relaxed("weight 3", recommended, 3.0),
            relaxed("term alone", recommended, add=term_alone),
            relaxed("in-sample terms, weight 2", InSample(recommended)),
            with_weight_1("in-sample terms, weight 1", InSample(recommended)),
            with_weight_1("weight 1 to 3 by agreement", recommended, add_by_agreement),
            with_weight_1("squared term, weight 1", recommended, add_squared),
            relaxed("mean and standard deviation", recommended, add=add_by_training),
            relaxed("tail probabilities", recommended, add=add_tails),
            relaxed("ranks among training rows", recommended, add=add_ranks),
            with_weight_1("maximum of score and term", recommended, add_maximum),
        ],
    }
