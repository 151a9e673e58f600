"""Named settings of `CTAD`."""

from typing import Any

PRESETS: dict[str, dict[str, Any]] = {
    # Algorithm 1 of the paper to the letter.
    "paper": {
        "n_centroids": 5,
        "n_references": 20,
        "target": "uniform",
        "signal": "total",
        "weight": 1.0,
        "n_draws": 1,
        "score_scaling": "none",
        "feature_scaling": None,
        "columns": "all",
        "cost": "distance",
        "rows_per_centroid": None,
    },
    # Many centroids without a limit on their mass; how far a row is from the nearest one, as a
    # multiple of what is usual there; seen in four ways, for no scaling and no choice of columns is
    # right for every table; on a common scale with the score. Why: docs/recommended.md.
    "recommended": {
        "n_centroids": "many",
        "n_references": 20,
        "target": "free",
        "signal": "own",
        "weight": 2.0,
        "n_draws": 4,
        "score_scaling": "robust",
        "feature_scaling": (None, "minmax"),
        "columns": "random",
        "cost": "relative",
        "rows_per_centroid": 64,
    },
}
