"""The columns of a pandas, polars or Arrow table: what kind each is, and its values."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from numbers import Real
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt
from sklearn.utils import _safe_indexing

from .._types import Floats
from .._validation import check_unique_names
from ..errors import InputError, MissingPackageError

Objects = npt.NDArray[np.object_]

NUMBER = "number"
BOOLEAN = "boolean"
CATEGORY = "category"
DATE = "date"
ZONED_DATE = "date with time zone"
TIME = "time of day"
EMPTY = "empty"  # not one value: fits any kind
OTHER = "other"  # lists, structs, bytes: no way to compare them

# Of the texts of a column, the share up to which those that are no numbers are likely slips.
FEW_OTHERS = 0.1


class Column(NamedTuple):
    """What is known of a column: its name, its kind, and its type in its own library.

    Attributes
    ----------
    name, kind : str
    dtype : str
        The type in its own library.
    """

    name: str
    kind: str
    dtype: str


class Values(NamedTuple):
    """A column as read: floats with NaN for gaps, or for categories texts and None.

    Dates are microseconds since 1970, times of day since midnight; durations are numbers,
    in seconds.

    Attributes
    ----------
    column : Column
    values : ndarray
    whole : bool
        Whether the numbers are integers.
    """

    column: Column
    values: Any
    whole: bool


def is_table(X: Any) -> bool:
    """Whether `X` is a table with named, typed columns: pandas, polars or Arrow."""
    return bool(nw.dependencies.is_into_dataframe(X))


def library_of(X: Any) -> str:
    """The library of a table: "pandas", "polars" or "pyarrow"."""
    return str(nw.from_native(X, eager_only=True).implementation)


def in_library(library: str, X: Any, columns: Sequence[str] | None = None) -> Any:
    """A table as another library's, with these columns only."""
    table = nw.from_native(X, eager_only=True)
    if columns is not None:
        require_columns(table.columns, columns)
        table = table.select(*columns)
    if str(table.implementation) == library:
        return table.to_native()
    return {"pandas": table.to_pandas, "polars": table.to_polars, "pyarrow": table.to_arrow}[
        library
    ]()


def rows_at(X: Any, places: Any) -> Any:
    """Some rows of a table or array, in the order of their places."""
    if is_table(X):
        return nw.from_native(X, eager_only=True)[places].to_native()
    return _safe_indexing(X, places)


def new_table(data: dict[str, Any], library: str | None = None) -> Any:
    """A table of these columns: pandas, polars or Arrow, or the first of them that is installed."""
    names: Any = (library,) if library else ("pandas", "polars", "pyarrow")
    for name in names:
        try:
            return nw.from_dict(data, backend=name).to_native()
        except ImportError:
            continue
    raise MissingPackageError("a data frame needs a library for it: pip install pandas")


def plain_numbers(
    X: Any, columns: Sequence[str], *, needed_by: str, infinite: bool = False
) -> Floats:
    """Columns that are numbers without gaps, as they are; `infinite` ones only if allowed.

    If they are something else, the error tells by whom numbers are needed.
    """
    series = table_columns(X)
    require_columns(series, columns)
    values = []
    for name in columns:
        read = read_column(name, series[name])
        if read.column.kind not in (NUMBER, BOOLEAN, EMPTY):
            almost = almost_numbers(read.values) if read.column.kind == CATEGORY else None
            raise InputError(
                f"column {name!r} is of type {read.column.dtype}, but {needed_by} needs numbers"
                + (f": {almost}" if almost else "")
            )
        unfit = np.isnan(read.values) if infinite else ~np.isfinite(read.values)
        if unfit.any():
            row = int(unfit.argmax())
            value = "a gap" if np.isnan(read.values[row]) else f"{read.values[row]:g}"
            raise InputError(
                f"column {name!r} has {value} in row {row}, but {needed_by} needs a number in "
                "every row"
            )
        values.append(read.values)
    return np.column_stack(values)


def almost_numbers(texts: Iterable[str | None]) -> str | None:
    """If nearly all texts are numbers: which one is not, in words."""
    counts = Counter(text for text in texts if text is not None)
    others = Counter({text: n for text, n in counts.items() if not _is_number(text)})
    total, n_others = counts.total(), others.total()
    if not 0 < n_others <= FEW_OTHERS * total:
        return None
    return (
        f"{total - n_others:,} of {total:,} values are numbers, but not "
        f"{others.most_common(1)[0][0]!r}"
    )


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def require_columns(table: Iterable[str], names: Iterable[str]) -> None:
    """Raise if a table with these columns lacks some of the `names`."""
    has = [str(name) for name in table]
    missing = [name for name in names if name not in has]
    if missing:
        raise InputError(
            f"the table lacks {'columns' if len(missing) > 1 else 'column'} "
            f"{', '.join(map(repr, missing))}; it has {', '.join(map(repr, has))}"
        )


def table_columns(X: Any) -> dict[str, Any]:
    """The columns of a table by name."""
    if not is_table(X):
        raise TypeError(f"a pandas, polars or Arrow table is needed, not {type(X).__name__}")
    names = [str(name) for name in getattr(X, "column_names", X.columns)]  # Arrow's, others'
    check_unique_names(names)
    table = nw.from_native(X, eager_only=True)
    return dict(zip(names, table.iter_columns(), strict=True))


def read_column(name: str, series: Any) -> Values:
    """Find out what kind a column is and convert its values."""
    missing = np.asarray(series.is_null().to_numpy(), dtype=bool)
    dtype = str(getattr(series.to_native(), "dtype", None) or series.to_native().type)
    if series.dtype.is_float():  # where NaN is not a gap, as in polars and Arrow
        missing = missing | np.isnan(np.asarray(series.to_numpy(), dtype=np.float64))
    if missing.all():
        return Values(Column(name, EMPTY, dtype), np.full(len(missing), np.nan), False)
    if series.dtype in (nw.Categorical, nw.Enum):
        # Without gaps: with them pandas turns categories that are integers into floats.
        texts = np.full(len(missing), None, dtype=object)
        texts[~missing] = [str(value) for value in series.drop_nulls().to_list()]
        return Values(Column(name, CATEGORY, dtype), texts, False)

    values = series.to_numpy()
    if values.dtype.kind in "OUT":
        kind, values = _read_objects(name, values.astype(object), missing)
    else:
        kind, values = _read_typed(values, missing)
    if kind == DATE and getattr(series.dtype, "time_zone", None):
        kind = ZONED_DATE
    whole = series.dtype.is_integer() or getattr(series.dtype, "scale", None) == 0
    return Values(Column(name, kind, dtype), values, whole)


def _read_typed(values: npt.NDArray[Any], missing: npt.NDArray[np.bool_]) -> tuple[str, Any]:
    match values.dtype.kind:
        case "b":
            return BOOLEAN, values.astype(np.float64)
        case "i" | "u" | "f":
            return NUMBER, values.astype(np.float64)
        case "M":
            return DATE, _floats(values.astype("datetime64[us]").astype(np.int64), missing)
        case "m":
            return NUMBER, _floats(values / np.timedelta64(1, "s"), missing)
        case _:  # complex numbers
            return OTHER, None


def _read_objects(name: str, values: Objects, missing: npt.NDArray[np.bool_]) -> tuple[str, Any]:
    """Python objects in a column: all of one kind, or an error."""
    present = values[~missing]
    types = set(map(type, present))
    for kind, allowed, convert in _OBJECTS:
        if not all(issubclass(found, allowed) for found in types):
            continue
        if kind == CATEGORY:
            texts = values.copy()
            texts[missing] = None
            return kind, texts
        zoned = {getattr(value, "tzinfo", None) is not None for value in present}
        if zoned == {True, False}:
            raise InputError(f"column {name!r} mixes dates with and without time zone")
        numbers = np.full(len(values), np.nan)
        numbers[~missing] = [convert(value) for value in present]
        return ZONED_DATE if kind == DATE and zoned == {True} else kind, numbers
    if len(types) > 1 and any(issubclass(found, _KNOWN_OBJECTS) for found in types):
        listed = " and ".join(sorted(found.__name__ for found in types))
        raise InputError(f"column {name!r} mixes {listed}: convert it to one type, or ignore it")
    return OTHER, None


def _microseconds(value: date) -> float:
    """Since 1970."""
    zone = getattr(value, "tzinfo", None)
    if zone is not None and isinstance(value, datetime):
        value = value.astimezone(UTC).replace(tzinfo=None)
    return float(np.datetime64(value, "us").astype(np.int64))


def _microseconds_since_midnight(value: time) -> float:
    return _microseconds(datetime.combine(date(1970, 1, 1), value.replace(tzinfo=None)))


# Kind, the types of Python objects that may stand together in such a column, and how a value
# becomes a number. (bool is also a Real, so it comes first.)
_OBJECTS: tuple[tuple[str, tuple[type, ...], Any], ...] = (
    (CATEGORY, (str,), None),
    (BOOLEAN, (bool, np.bool_), float),
    (NUMBER, (Real, Decimal), float),
    (DATE, (date,), _microseconds),
    (TIME, (time,), _microseconds_since_midnight),
    (NUMBER, (timedelta,), timedelta.total_seconds),
)
_KNOWN_OBJECTS = tuple(found for _, allowed, _ in _OBJECTS for found in allowed)


def _floats(values: npt.NDArray[Any], missing: npt.NDArray[np.bool_]) -> Floats:
    floats = values.astype(np.float64)
    floats[missing] = np.nan  # not-a-time has become a number
    return floats
