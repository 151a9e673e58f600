"""The calibrators of ctad."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._validation import LARGEST_VALUE
from ...calibration import CTAD, BaseCalibrator, ColumnScaling, Draw, RelaxedCTAD, ScoreScaling
from ...transport import PartialTransport, RowTransport
from .._description import Description, Values
from .._kinds import (
    Choice,
    Floats,
    Integer,
    Integers,
    Kind,
    ListOf,
    Number,
    Object,
    OneOf,
    Optional,
    Record,
    Seed,
    TupleOf,
    require,
)
from ._common import COLUMNS, N_JOBS, POSITIVE

if TYPE_CHECKING:
    from .._reader import Scope

LOCATION = TupleOf((Number(), Number(POSITIVE)))
ABOVE_ZERO, BELOW_ONE = math.nextafter(0, 1), math.nextafter(1, 0)

PARAMETERS: dict[str, Kind] = {
    "weight": Number(0),
    "score_scaling": Choice(("none", "unit", "standard", "robust")),
}
FITTED: dict[str, Kind] = {
    **COLUMNS,
    "n_training_rows_": Integer(2),
    "score_scaling_": Optional(Record({"score": Optional(LOCATION), "delta": LOCATION})),
}


def _take_apart(calibrator: BaseCalibrator) -> Values:
    scaling = calibrator.score_scaling_
    return {"score_scaling_": None if scaling is None else asdict(scaling)}


def _put_together(calibrator: BaseCalibrator, values: dict[str, Any]) -> None:
    calibrator.check_parameters()
    scaling = values.pop("score_scaling_")
    calibrator.__dict__.update(values)
    calibrator.score_scaling_ = None if scaling is None else ScoreScaling(**scaling)


CALIBRATOR: dict[str, Any] = {
    "role": "calibrator",
    # Not kept, because they would double the size of the file.
    "rebuilt": ("training_delta_", "agreement_", "score_scaling_"),
    "take_apart": _take_apart,
    "put_together": _put_together,
    "n_in": "d",
}

# Distances of points in these ranges, divided by a radius, are finite. A mean may be rounded up.
POINTS = {"low": -10 * LARGEST_VALUE, "high": 10 * LARGEST_VALUE}
DIVISORS = {"low": 1e-200, "high": 1e200}
RADIUS = {"low": 1e-150, "high": 1e150}

# CTAD and RelaxedCTAD. The transport is stored as solved, so that loading solves nothing.
TRANSPORT: dict[str, Kind] = {
    "n_centroids": Integer(1),
    "n_references": Integer(1),
    "n_draws": Integer(1),
    "n_jobs": N_JOBS,
    "random_state": Seed(),
}
FEATURE_SCALING = Choice((None, "standard", "robust", "minmax"))
SCALING: dict[str, Kind] = {
    "shift": Floats("d", **POINTS),
    "scale": Floats("d", **DIVISORS),
}
DRAW: dict[str, Kind] = {
    "references": Floats("references", "d", **POINTS),
    "centroids": Floats("centroids", "d", **POINTS),
    "radius": Floats("centroids", **RADIUS),
    "target": OneOf((Choice(("uniform", "free")), Integers("centroids", low=0))),
}
# The target "free", a table of values, or the placement that a search starts from.
NEAREST = Record({"reference_cost": Number()})
TABLE = Record({"values": Floats("states", finite=False)})
PLACEMENT = Record(
    {
        "costs": Floats("references", "with_mass"),
        "placed": Integers("with_mass", "references", low=0),
        "potential": Floats("with_mass", low=0),
    }
)
PARTIAL = Record({"capacity": Floats("centroids", low=0, high=1)})


def _draws(**kinds: Kind) -> ListOf:
    return ListOf(Record({**DRAW, **SCALING, "bound": Choice((None,)), **kinds}, own_lengths=True))


BOUND = {"bound": Number(1e-3, 1e3)}
DRAWS = _draws(transport=OneOf((NEAREST, TABLE, PLACEMENT)))
NEAR_DRAWS = _draws(target=Choice(("free",)), transport=NEAREST, **BOUND)
WIDE_DRAWS = _draws(target=Choice(("partial",)), transport=PARTIAL, **BOUND)


def _stored_draws(draws: Sequence[Draw]) -> list[dict[str, Any]]:
    return [
        {
            **{name: getattr(draw, name) for name in DRAW},
            **{name: getattr(draw.scaling, name) for name in (*SCALING, "bound")},
            "transport": draw.transport.state(),
        }
        for draw in draws
    ]


def _take_apart_draws(calibrator: CTAD | RelaxedCTAD) -> Values:
    return {**_take_apart(calibrator), "draws": _stored_draws(calibrator.draws_)}


def _take_apart_views(calibrator: RelaxedCTAD) -> Values:
    return {**_take_apart_draws(calibrator), "wide_draws": _stored_draws(calibrator.wide_draws_)}


def _check_draws(draws: list[Values], n_draws: int) -> None:
    require(len(draws) == n_draws, "n_draws: not the number of draws")
    for draw in draws:
        scaling = ColumnScaling(draw["shift"], draw["scale"], draw["bound"])
        # Explanations and reports show its points in the units of the rows.
        for name in ("references", "centroids"):
            if scaling.bound is not None:
                require((np.abs(draw[name]) <= scaling.bound).all(), f"draws: {name} out of range")
            points = np.abs(scaling.inverse_transform(draw[name]))
            require((points <= POINTS["high"]).all(), f"draws: {name} out of range")


def _check_views(values: Values, scope: Scope) -> None:
    _check_draws(values["draws"], values["n_draws"])
    is_mixed = values["training"] == "mixed"
    require(bool(values["wide_draws"]) == is_mixed, "training: not that of the draws")
    _check_draws(values["wide_draws"], values["n_draws"] if is_mixed else 0)


def _check_ctad(values: Values, scope: Scope) -> None:
    _check_draws(values["draws"], values["n_draws"])
    targets = {
        draw["target"] if isinstance(draw["target"], str) else "sizes" for draw in values["draws"]
    }
    require(targets == {values["target"]}, "target: not that of the draws")
    require(values["signal"] == values["signal_"], "signal: not that of the fit")


def _put_together_draws(calibrator: CTAD, values: dict[str, Any]) -> None:
    draws, signal = values.pop("draws"), values.pop("signal_")
    _put_together(calibrator, values)
    calibrator.set_draws([_draw(**draw) for draw in draws], signal)


def _put_together_views(calibrator: RelaxedCTAD, values: dict[str, Any]) -> None:
    near, wide = ([_draw(**draw) for draw in values.pop(name)] for name in ("draws", "wide_draws"))
    signal = values.pop("signal_")
    _put_together(calibrator, values)
    calibrator.set_views(near, wide, signal)


def _draw(transport: Values, shift: Any, scale: Any, bound: float | None, **values: Any) -> Draw:
    m, k = len(values["references"]), len(values["centroids"])
    target = values["target"]
    solved: RowTransport | PartialTransport
    if isinstance(target, str) and target == "partial":
        solved = PartialTransport.from_state(1.0 / (m + 1), transport)
    else:
        solved = RowTransport.from_state(m, k, target, transport)
    return Draw(**values, scaling=ColumnScaling(shift, scale, bound), transport=solved)


TRANSPORT_CALIBRATOR: dict[str, Any] = {
    **CALIBRATOR,
    "rebuilt": (
        *CALIBRATOR["rebuilt"],
        *("draws_", "centroids_", "references_", "n_centroids_", "n_references_"),
    ),
    "take_apart": _take_apart_draws,
    "put_together": _put_together_draws,
    "work": lambda values, scope: _work(values["draws_"]),
}


def _work(draws: Sequence[Draw]) -> int:
    return sum(draw.transport.work for draw in draws)


def _check_precision(values: Values, scope: Scope) -> None:
    """Conditions that every positive semi-definite matrix meets, up to rounding."""
    precision = values["precision_"]
    diagonal = np.diagonal(precision)
    rounding = 1e-6 * diagonal.max()
    require((diagonal >= 0).all(), "precision_: a negative diagonal")
    require((np.abs(precision - precision.T) <= rounding).all(), "precision_: not symmetric")
    root = np.sqrt(diagonal)
    require(
        (np.abs(precision) <= root * root[:, np.newaxis] + rounding).all(),
        "precision_: not positive",
    )


def _check_neighbours(values: Values, scope: Scope) -> None:
    search = values["search_"]
    require(scope.n_in(search) == scope.lengths["d"], "search_: other columns")
    require(
        (search.algorithm, search.metric, search.p) == ("kd_tree", "minkowski", 2)
        and not search.metric_params
        and search._fit_X.dtype == np.float64
        and not hasattr(search, "feature_names_in_"),
        "search_: not as NeighbourDistance makes it",
    )
    require(values["n_neighbors_"] <= len(search._fit_X), "n_neighbors_: more than rows")


def _check_transport(values: Values, scope: Scope) -> None:
    require(scope.n_in(values["transport_"]) == scope.lengths["d"], "transport_: other columns")


DESCRIPTIONS = (
    Description(
        type="ctad.CTAD",
        parameters={
            **PARAMETERS,
            **TRANSPORT,
            "target": Choice(("uniform", "sizes", "free")),
            "signal": Choice(("total", "own")),
            "feature_scaling": FEATURE_SCALING,
        },
        fitted={**FITTED, "signal_": Choice(("total", "own")), "draws": DRAWS},
        check=_check_ctad,
        **TRANSPORT_CALIBRATOR,
    ),
    Description(
        type="ctad.RelaxedCTAD",
        parameters={
            **PARAMETERS,
            **TRANSPORT,
            "training": Choice(("mixed", "normal")),
            "mass_share": Number(ABOVE_ZERO, BELOW_ONE),
            "trimmed": Number(0, BELOW_ONE),
            "rows_per_centroid": Optional(Integer(1)),
        },
        fitted={
            **FITTED,
            "signal_": Choice(("own",)),
            "draws": NEAR_DRAWS,
            "wide_draws": WIDE_DRAWS,
        },
        check=_check_views,
        **{
            **TRANSPORT_CALIBRATOR,
            "rebuilt": (*TRANSPORT_CALIBRATOR["rebuilt"], "wide_draws_"),
            "take_apart": _take_apart_views,
            "put_together": _put_together_views,
            "work": lambda values, scope: _work(values["draws_"] + values["wide_draws_"]),
        },
    ),
    Description(
        type="ctad.calibration.CentroidDistance",
        parameters={**PARAMETERS, "n_centroids": Integer(1), "random_state": Seed()},
        fitted={**FITTED, "centroids_": Floats("k", "d", **POINTS)},
        **CALIBRATOR,
    ),
    Description(
        type="ctad.calibration.MahalanobisDistance",
        parameters=PARAMETERS,
        fitted={
            **FITTED,
            "location_": Floats("d", **POINTS),
            "precision_": Floats("d", "d", low=-1e250, high=1e250),
        },
        check=_check_precision,
        **CALIBRATOR,
    ),
    Description(
        type="ctad.calibration.NeighbourDistance",
        parameters={**PARAMETERS, "n_neighbors": OneOf((Integer(1), Number(0, 1)))},
        fitted={
            **FITTED,
            "n_neighbors_": Integer(1),
            "search_": Object(types=("sklearn.neighbors.NearestNeighbors",)),
        },
        check=_check_neighbours,
        **CALIBRATOR,
    ),
    Description(
        type="ctad.calibration.TransportOnly",
        parameters={
            **{name: kind for name, kind in TRANSPORT.items() if name != "n_draws"},
            "target": Choice(("uniform", "sizes", "free")),
            "signal": Choice(("total", "own")),
        },
        fitted={**FITTED, "transport_": Object(types=("ctad.CTAD",))},
        check=_check_transport,
        **CALIBRATOR,
    ),
)
