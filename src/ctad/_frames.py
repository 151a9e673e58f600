"""Data frames of pandas, polars and Arrow ("tables"), handled alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from sklearn.utils import _safe_indexing

from ._quoting import listed, quoted
from .errors import InputError, MissingPackageError


def is_table(X: Any) -> bool:
    """Whether `X` is a table with named, typed columns: pandas, polars or Arrow."""
    return not isinstance(X, np.ndarray) and bool(nw.dependencies.is_into_dataframe(X))


def library_of(X: Any) -> str:
    """The library of a table: "pandas", "polars" or "pyarrow"."""
    return str(nw.from_native(X, eager_only=True).implementation)


def to_library(library: str, X: Any, columns: Sequence[str] | None = None) -> Any:
    """Convert a table to another library; `columns` selects columns."""
    table = nw.from_native(X, eager_only=True)
    if columns is not None:
        check_has_columns(table.columns, columns)
        table = table.select(*columns)
    if str(table.implementation) == library:
        return table.to_native()
    return {"pandas": table.to_pandas, "polars": table.to_polars, "pyarrow": table.to_arrow}[
        library
    ]()


def new_table(data: dict[str, Any], library: str | None = None) -> Any:
    """A table of this library, or of the first that is installed: pandas, polars or Arrow."""
    libraries: Any = (library,) if library else ("pandas", "polars", "pyarrow")
    for name in libraries:
        try:
            return nw.from_dict(data, backend=name).to_native()
        except ImportError:
            continue
    raise MissingPackageError("data frames need a library: pip install pandas")


def take_rows(X: Any, indices: Any) -> Any:
    """The rows of a table or array at these indices, in this order."""
    if is_table(X):
        return nw.from_native(X, eager_only=True)[indices].to_native()
    return _safe_indexing(X, indices)


def column_names(X: Any) -> list[Any]:
    """The names of the columns of a table, as they are."""
    return list(getattr(X, "column_names", X.columns))  # Arrow's, others'


def columns_by_name(X: Any) -> dict[str, nw.Series[Any]]:
    """The columns of a table; raises if two have the same name."""
    if not is_table(X):
        raise InputError(f"a pandas, polars or Arrow table is needed, not {type(X).__name__}")
    names = [str(name) for name in column_names(X)]
    check_unique_names(names)
    table = nw.from_native(X, eager_only=True)
    return dict(zip(names, table.iter_columns(), strict=True))


def check_unique_names(names: list[Any]) -> None:
    """Raise if two columns have the same name."""
    if len(set(names)) < len(names):
        [(twice, _)] = Counter(names).most_common(1)
        raise InputError(f"two columns are called {quoted(str(twice))}: give each its own name")


def check_has_columns(columns: Iterable[str], needed: Iterable[str]) -> None:
    """Raise if a table with these columns does not have all that are needed."""
    existing = dict.fromkeys(str(name) for name in columns)
    missing = [name for name in needed if name not in existing]
    if missing:
        raise InputError(
            f"the table lacks {'columns' if len(missing) > 1 else 'column'} "
            f"{listed(map(quoted, missing))}; it has {listed(map(quoted, existing))}"
        )
