"""Rows that the tables of scikit-learn's transformers share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .._kinds import Choice, Kind, MayBeMissing, Record, require, shown
from ._common import COLUMNS

if TYPE_CHECKING:
    from .._reader import Scope
    from .._writer import Writer

# What every fitted transformer has; `set_output` sets the last one.
TRANSFORMER: dict[str, Kind] = {
    **COLUMNS,
    "_sklearn_output_config": MayBeMissing(
        Record({"transform": Choice(("default", "pandas", "polars"))})
    ),
}


@dataclass(frozen=True)
class Dtype(Kind):
    """A dtype by its name: one of a few.

    Attributes
    ----------
    names : tuple of str
    as_type : bool
        Whether it becomes a type such as `np.float64`, as users pass it, or a `np.dtype`.
    """

    names: tuple[str, ...]
    as_type: bool = True

    def __str__(self) -> str:
        return f"one of {', '.join(self.names)}"

    def write(self, value: Any, writer: Writer) -> str:
        try:
            name = np.dtype(value).name
        except TypeError:
            name = shown(value)
        return self._checked(name)

    def read(self, stored: Any, scope: Scope) -> Any:
        dtype = np.dtype(self._checked(stored))
        return dtype.type if self.as_type else dtype

    def _checked(self, name: Any) -> str:
        require(isinstance(name, str) and name in self.names, f"{shown(name)} is not {self}")
        return str(name)


def gives_tables(values: Any) -> bool:
    """Whether a transformer was told to give data frames."""
    config = values.get("_sklearn_output_config") or {}
    return config.get("transform") in ("pandas", "polars")


def is_default(transformer: Any) -> bool:
    """Whether a transformer has the default parameters and gives arrays, as inside detectors."""
    parameters = transformer.get_params(), type(transformer)().get_params()
    return parameters[0] == parameters[1] and not gives_tables(vars(transformer))


def check_inner_scaler(name: str, scaler: Any, wanted: Any, scope: Scope) -> None:
    """Raise unless a detector's scaler is what `wanted().fit` makes of an array with d columns."""
    if scaler is not None or wanted is not None:
        require(type(scaler) is wanted, f"{name}: not the scaler of its parameters")
        require(is_default(scaler), f"{name}: not its parameters")
        require(scope.n_in(scaler) == scope.lengths["d"], f"{name}: not for these columns")
