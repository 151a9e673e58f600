"""`TableEncoder`: the columns, and the transformers of scikit-learn inside."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from ...tables import Column, ColumnKind, TableEncoder, most_features
from .._description import Description, Values, set_attributes
from .._kinds import (
    Booleans,
    Choice,
    Kind,
    ListOf,
    Names,
    Number,
    Object,
    Optional,
    Record,
    Text,
    TupleOf,
    require,
)
from ._transformers_common import TRANSFORMER, gives_tables

if TYPE_CHECKING:
    from .._reader import Scope

USABLE = tuple(str(kind) for kind in ColumnKind if kind not in (ColumnKind.EMPTY, ColumnKind.OTHER))
NOT_ORDERED = (ColumnKind.BOOLEAN, ColumnKind.CATEGORY)
IMPUTER = Optional(Object(types=("sklearn.impute.SimpleImputer",)))

FITTED: dict[str, Kind] = {
    **TRANSFORMER,
    "feature_names_in_": Names("d"),
    "columns": ListOf(
        Record({"name": Text(), "kind": Choice(USABLE), "dtype": Text()}), "used columns"
    ),
    "dropped": ListOf(TupleOf((Text(), Text()))),
    "number_imputer_": IMPUTER,
    "number_scaler_": Optional(Object(types=("sklearn.preprocessing.StandardScaler",))),
    "boolean_imputer_": IMPUTER,
    "category_encoder_": Optional(Object(types=("sklearn.preprocessing.OneHotEncoder",))),
    "date_imputer_": IMPUTER,
    "varies_": Booleans("features"),
}


def _take_apart(encoder: TableEncoder) -> Values:
    return {
        "columns": [{**asdict(column), "kind": str(column.kind)} for column in encoder.columns_],
        "dropped": list(encoder.dropped_.items()),
    }


def _put_together(encoder: TableEncoder, values: dict[str, Any]) -> None:
    encoder.columns_ = [
        Column(column["name"], ColumnKind(column["kind"]), column["dtype"])
        for column in values.pop("columns")
    ]
    encoder.dropped_ = dict(values.pop("dropped"))
    set_attributes(encoder, values)
    varying = {feature.source for feature in encoder.features_}
    require(len(varying) == len(encoder.columns_), "varies_: a column without a feature")


def _check(values: Values, scope: Scope) -> None:
    used = [column["name"] for column in values["columns"]]
    names = [*used, *(name for name, _ in values["dropped"])]
    require(used, "columns: none")
    is_step = "transformer" in scope.place.roles
    require(is_step or not gives_tables(values), "it gives tables, not arrays")
    require(len(set(names)) == len(names), "columns: the same name twice")
    require(sorted(names) == sorted(values["feature_names_in_"].tolist()), "columns: other names")

    kinds = [ColumnKind(column["kind"]) for column in values["columns"]]
    n_booleans = kinds.count(ColumnKind.BOOLEAN)
    n_ordered = sum(kind not in NOT_ORDERED for kind in kinds)
    n_positions = sum(2 * len(kind.cycles) for kind in kinds)  # sine and cosine
    n_features = (
        _check_imputer(values, "number_imputer_", "median", n_ordered, scope)
        + _check_imputer(values, "boolean_imputer_", "most_frequent", n_booleans, scope)
        + _check_categories(values, kinds.count(ColumnKind.CATEGORY), scope)
        + _check_imputer(values, "date_imputer_", "mean", n_positions, scope)
    )
    _check_scaler(values, n_ordered, scope)
    varies = values["varies_"]
    require(len(varies) == n_features and varies.any(), "varies_: not that of these features")
    # Each value of a category occurs in some training rows, but not in all.
    n_last = n_positions
    n_values = scope.n_out(values["category_encoder_"]) or 0
    of_values = varies[n_features - n_last - n_values : n_features - n_last]
    require(of_values.all(), "varies_: a category that does not vary")
    most = most_features(scope.lengths["d"])
    require(n_features <= most, f"{n_features:,} features, more than {most:,}")


def _check_imputer(values: Values, name: str, strategy: str, n_columns: int, scope: Scope) -> int:
    """Check an imputer; the number of features it gives."""
    imputer = values[name]
    require((imputer is None) == (n_columns == 0), f"{name}: not as the columns say")
    if imputer is None:
        return 0
    missing, statistics = imputer.missing_values, imputer.statistics_
    has_flags = strategy != "mean"
    require(
        scope.n_in(imputer) == n_columns
        and (imputer.strategy, imputer.add_indicator) == (strategy, has_flags)
        and isinstance(missing, float)
        and np.isnan(missing)
        and not imputer.keep_empty_features
        and imputer._fit_dtype == np.float64
        and statistics.dtype == np.float64
        and np.isfinite(statistics).all()
        and _works_on_arrays(imputer)
        and (not has_flags or _works_on_arrays(imputer.indicator_)),
        f"{name}: not that of these columns",
    )
    return scope.n_out(imputer) or 0


def _check_scaler(values: Values, n_columns: int, scope: Scope) -> None:
    scaler = values["number_scaler_"]
    if scaler is not None:
        require(
            scope.n_in(scaler) == n_columns
            and scaler.with_mean
            and scaler.with_std
            and np.isfinite(scaler.mean_).all()
            and np.isfinite(scaler.scale_).all()
            and _works_on_arrays(scaler),
            "number_scaler_: not that of these columns",
        )


def _check_categories(values: Values, n_columns: int, scope: Scope) -> int:
    """Check the encoder of categories; the number of features it gives."""
    encoder = values["category_encoder_"]
    require((encoder is None) == (n_columns == 0), "category_encoder_: not as the columns say")
    if encoder is None:
        return 0
    categories = [value for each in encoder.categories_ for value in each.tolist()]
    require(
        scope.n_in(encoder) == n_columns
        and (encoder.handle_unknown, encoder.drop) == ("infrequent_if_exist", None)
        and not encoder.sparse_output
        and encoder.dtype == np.float64
        and encoder._infrequent_enabled
        and all(isinstance(value, str | None) for value in categories)
        and _works_on_arrays(encoder),
        "category_encoder_: not that of these columns",
    )
    return scope.n_out(encoder) or 0


def _works_on_arrays(part: Any) -> bool:
    return not hasattr(part, "feature_names_in_") and not gives_tables(vars(part))


DESCRIPTIONS = (
    Description(
        type="ctad.tables.TableEncoder",
        role="transformer",
        parameters={
            "ignore": ListOf(Text(), type=tuple),
            "keep": ListOf(Text(), type=tuple),
            "min_frequency": Number(0, 1),
            "scaling": Choice(("auto", "standard", None)),
        },
        fitted=FITTED,
        rebuilt=("columns_", "dropped_", "features_", "_groups"),
        take_apart=_take_apart,
        put_together=_put_together,
        check=_check,
        n_in="d",
        n_out=lambda values, scope: int(values["varies_"].sum()),
    ),
)
