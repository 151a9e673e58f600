"""PyOD's ROD: it rotates rows around the geometric median in every three of the columns."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from .._description import Description, Values, set_attributes
from .._kinds import Floats, Integers, NotDescribedError, Object, Optional, Unsaved, require
from ._common import CALL, PYOD, PYOD_CONTAMINATION
from ._transformers_common import is_default

if TYPE_CHECKING:
    from .._reader import Scope

# Angles up to pi/2 are scaled to the first range, and the others to the second.
RANGES = ((0.001, 0.955), (math.pi / 2 + 0.001, 2.186))
MAX_ROD_COLUMNS = 100  # there are two scalers for every three of them
SCALER = ("data_min_", "data_max_", "data_range_", "scale_", "min_")


def _take_apart(detector: Any) -> Values:
    if detector.data_scaler_ is None:
        # ROD adds columns of zeros to rows of one or two columns, and does not keep how many.
        if detector.gm_[2] == 0:
            raise NotDescribedError("trained on fewer than three columns")
        medians = [detector.gm_], [detector.median_]
        scalers = [detector.angles_scaler1_], [detector.angles_scaler2_]
    else:
        medians = detector.gm_, detector.median_
        scalers = detector.angles_scaler1_, detector.angles_scaler2_
    return {
        "geometric_medians": np.array(medians[0], dtype=np.float64),
        "cost_medians": np.array(medians[1], dtype=np.float64),
        "angle_counts": np.array([[each.n_samples_seen_ for each in half] for half in scalers]),
        "angle_scales": np.array(
            [[[getattr(each, name)[0] for name in SCALER] for each in half] for half in scalers]
        ),
    }


def _put_together(detector: Any, values: dict[str, Any]) -> None:
    medians = values.pop("geometric_medians").tolist(), values.pop("cost_medians").tolist()
    scales, counts = values.pop("angle_scales"), values.pop("angle_counts").tolist()
    scalers = [
        [_scaler(RANGES[half], *each) for each in zip(scales[half], counts[half], strict=True)]
        for half in (0, 1)
    ]
    set_attributes(detector, values)
    if values["data_scaler_"] is None:
        detector.gm_, detector.median_ = (each[0] for each in medians)
        detector.angles_scaler1_, detector.angles_scaler2_ = (half[0] for half in scalers)
    else:
        detector.gm_, detector.median_ = medians
        detector.angles_scaler1_, detector.angles_scaler2_ = scalers


def _scaler(feature_range: tuple[float, float], numbers: Any, n_angles: int) -> Any:
    from sklearn.preprocessing import MinMaxScaler

    scaler = MinMaxScaler(feature_range=feature_range)
    fitted = {name: numbers[place : place + 1] for place, name in enumerate(SCALER)}
    set_attributes(scaler, {**fitted, "n_samples_seen_": n_angles, "n_features_in_": 1})
    return scaler


def _n_columns(values: Values, scope: Scope) -> int:
    scaler = values["data_scaler_"]
    return 3 if scaler is None else scope.n_in(scaler) or 0


def _check(values: Values, scope: Scope) -> None:
    n_columns, scaler = _n_columns(values, scope), values["data_scaler_"]
    require(
        scaler is None or (is_default(scaler) and n_columns > 3),
        "data_scaler_: not as ROD makes it",
    )
    require(n_columns <= MAX_ROD_COLUMNS, f"more than {MAX_ROD_COLUMNS} columns")
    require(
        scope.lengths["subspaces"] == math.comb(n_columns, 3),
        "geometric_medians: not one for every three columns",
    )


DESCRIPTIONS = (
    Description(
        type="pyod.models.rod.ROD",
        role="detector",
        parameters={
            "contamination": PYOD_CONTAMINATION,
            "parallel_execution": Unsaved(False),  # a file cannot ask for processes
        },
        fitted={
            **PYOD,
            "data_scaler_": Optional(Object(types=("sklearn.preprocessing.RobustScaler",))),
            "geometric_medians": Floats("subspaces", 3),
            "cost_medians": Floats("subspaces"),
            "angle_counts": Integers(2, "subspaces", low=2),
            "angle_scales": Floats(2, "subspaces", len(SCALER), low=-1, high=4),
        },
        rebuilt=("gm_", "median_", "angles_scaler1_", "angles_scaler2_"),
        take_apart=_take_apart,
        put_together=_put_together,
        check=_check,
        n_in=_n_columns,
        work=lambda values, scope: CALL * scope.lengths["subspaces"],
    ),
)
