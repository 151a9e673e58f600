"""Encoders of scikit-learn for categories: their codes are computed again from the categories."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._description import Description, Values, set_attributes
from .._kinds import (
    ANY_LENGTH,
    Choice,
    Flag,
    Integer,
    Integers,
    Kind,
    ListOf,
    MayBeMissing,
    Number,
    OneOf,
    Optional,
    require,
)
from ._cells import Categories, CellList, as_objects, is_nan
from ._common import each_column
from ._transformers_common import TRANSFORMER, Dtype

if TYPE_CHECKING:
    from .._reader import Scope

LARGEST_CODE = 2**31 - 1
CODE = Number(-LARGEST_CODE, LARGEST_CODE, nan=True)

ENCODER: dict[str, Kind] = {
    "categories": OneOf((Choice(("auto",)), ListOf(CellList()))),
    "min_frequency": Optional(OneOf((Integer(1), Number(0, 1)))),
    "max_categories": Optional(Integer(1)),
}
FITTED: dict[str, Kind] = {
    **TRANSFORMER,
    "categories_": ListOf(Categories(), "d"),
    "_infrequent_indices": MayBeMissing(
        ListOf(Optional(Integers(ANY_LENGTH, low=0)), "d"),
    ),
}


def _groups_rare_values(values: Values) -> bool:
    return values["max_categories"] is not None or values["min_frequency"] is not None


def _rare(values: Values) -> list[Any]:
    """The indices of rare categories of each column, or None."""
    none: list[Any] = [None] * len(values["categories_"])
    found: list[Any] = values.get("_infrequent_indices", none)
    return found


def _mapping(n_categories: int, rare: Any) -> Any:
    """Codes of categories: rare ones share the last code."""
    if rare is None:
        return None
    mapping = np.empty(n_categories, dtype=np.int64)
    is_rare = np.zeros(n_categories, dtype=bool)
    is_rare[rare] = True
    n_frequent = n_categories - len(rare)
    mapping[is_rare], mapping[~is_rare] = n_frequent, np.arange(n_frequent)
    return mapping


def _check_rare(values: Values, n_categories: list[int]) -> None:
    require(
        _groups_rare_values(values) == ("_infrequent_indices" in values),
        "_infrequent_indices: not as min_frequency and max_categories say",
    )
    for rare, n in zip(_rare(values), n_categories, strict=True):
        require(
            rare is None or ((rare[1:] > rare[:-1]).all() and rare[-1] < n),
            "_infrequent_indices: not indices of categories in order",
        )


def _set_rare(encoder: Any, values: Values, n_categories: list[int]) -> None:
    set_attributes(encoder, values)
    encoder._infrequent_enabled = "_infrequent_indices" in values
    if encoder._infrequent_enabled:
        encoder._default_to_infrequent_mappings = [
            _mapping(n, rare) for n, rare in zip(n_categories, _rare(values), strict=True)
        ]


def _sizes(values: Values) -> list[int]:
    return [len(categories) for categories in values["categories_"]]


# One-hot: a feature per category ------------------------------------------------------------------


def _take_apart_one_hot(encoder: Any) -> Values:
    dropped = encoder.drop_idx_
    return {"drop_idx_": None if dropped is None else dropped.tolist()}


def _check_one_hot(values: Values, scope: Scope) -> None:
    sizes, dropped = _sizes(values), values["drop_idx_"]
    _check_rare(values, sizes)
    require((values["drop"] is None) == (dropped is None), "drop_idx_: not as drop says")
    for index, n in zip(dropped or (), sizes, strict=dropped is not None):
        require(index is None or index < n, "drop_idx_: no category of this index")


def _widths(values: Values) -> list[int]:
    """The number of features of each column."""
    dropped = values["drop_idx_"] or [None] * len(values["categories_"])
    return [
        n - (0 if rare is None else len(rare) - 1) - (index is not None)
        for n, rare, index in zip(_sizes(values), _rare(values), dropped, strict=True)
    ]


def _put_together_one_hot(encoder: Any, values: dict[str, Any]) -> None:
    widths, sizes, dropped = _widths(values), _sizes(values), values.pop("drop_idx_")
    _set_rare(encoder, values, sizes)
    encoder._n_features_outs = widths
    encoder.drop_idx_ = encoder._drop_idx_after_grouping = None
    if dropped is not None:
        codes = [
            index if index is None or rare is None else int(_mapping(n, rare)[index])
            for index, n, rare in zip(dropped, sizes, _rare(values), strict=True)
        ]
        encoder.drop_idx_ = as_objects(dropped)
        encoder._drop_idx_after_grouping = as_objects(codes)


# Ordinal: a number per category -------------------------------------------------------------------


def _missing_indices(values: Values) -> dict[int, int]:
    """Columns whose last category is NaN, and its index."""
    return {
        column: len(categories) - 1
        for column, categories in enumerate(values["categories_"])
        if is_nan(categories[-1])
    }


def _sizes_without_missing(values: Values) -> list[int]:
    missing = _missing_indices(values)
    return [n - (column in missing) for column, n in enumerate(_sizes(values))]


def _check_ordinal(values: Values, scope: Scope) -> None:
    _check_rare(values, _sizes_without_missing(values))
    unknown, missing = values["unknown_value"], values["encoded_missing_value"]
    uses_unknown = values["handle_unknown"] == "use_encoded_value"
    require(not uses_unknown or unknown is not None, "unknown_value: missing")
    if np.dtype(values["dtype"]).kind == "i":
        require(not is_nan(unknown), "unknown_value: NaN is not an integer")
        require(
            not (is_nan(missing) and _missing_indices(values)),
            "encoded_missing_value: NaN is not an integer",
        )


def _put_together_ordinal(encoder: Any, values: dict[str, Any]) -> None:
    _set_rare(encoder, values, _sizes_without_missing(values))
    encoder._missing_indices = _missing_indices(values)


REBUILT = ("_infrequent_enabled", "_default_to_infrequent_mappings")

DESCRIPTIONS = (
    Description(
        type="sklearn.preprocessing.OneHotEncoder",
        role="transformer",
        parameters={
            **ENCODER,
            "drop": OneOf((Choice((None, "first", "if_binary")), CellList("d"))),
            "sparse_output": Flag(),
            "dtype": Dtype(
                ("float64", "float32", "int64", "int32", "int16", "int8", "uint8", "bool")
            ),
            "handle_unknown": Choice(("error", "ignore", "infrequent_if_exist", "warn")),
            "feature_name_combiner": Choice(("concat",)),
        },
        fitted={**FITTED, "drop_idx_": Optional(ListOf(Optional(Integer(0)), "d"))},
        rebuilt=(*REBUILT, "drop_idx_", "_drop_idx_after_grouping", "_n_features_outs"),
        take_apart=_take_apart_one_hot,
        put_together=_put_together_one_hot,
        check=_check_one_hot,
        n_in="d",
        n_out=lambda values, scope: sum(_widths(values)),
        work=each_column,
    ),
    Description(
        type="sklearn.preprocessing.OrdinalEncoder",
        role="transformer",
        parameters={
            **ENCODER,
            "dtype": Dtype(("float64", "float32", "int64", "int32")),
            "handle_unknown": Choice(("error", "use_encoded_value")),
            "unknown_value": Optional(CODE),
            "encoded_missing_value": CODE,
        },
        fitted=FITTED,
        rebuilt=(*REBUILT, "_missing_indices"),
        put_together=_put_together_ordinal,
        check=_check_ordinal,
        n_in="d",
        n_out="d",
        work=each_column,
    ),
)
