"""Read a column of a pandas, polars or Arrow table: find its kind and convert its values."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from numbers import Real
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt

from .._types import Booleans, Floats
from ..errors import InputError
from ._columns import Column, ColumnKind, ColumnValues

Objects = npt.NDArray[np.object_]


def read_column(name: str, series: Any) -> ColumnValues:
    """Find the kind of a column and convert its values."""
    dtype = str(getattr(series.to_native(), "dtype", None) or series.to_native().type)
    if series.dtype.is_float():
        # In polars and Arrow, NaN is not null. In an array, null is NaN.
        values: Any = np.array(series.to_numpy(), dtype=np.float64)
        kind = ColumnKind.EMPTY if np.isnan(values).all() else ColumnKind.NUMBER
        return ColumnValues(Column(name, kind, dtype), values)
    missing = np.asarray(series.is_null().to_numpy(), dtype=bool)
    if missing.all():
        values = np.full(len(missing), np.nan)
        return ColumnValues(Column(name, ColumnKind.EMPTY, dtype), values)
    if series.dtype in (nw.Categorical, nw.Enum):
        # Without missing values: with them pandas turns categories that are integers into floats.
        texts = np.full(len(missing), None, dtype=object)
        texts[~missing] = [str(value) for value in series.filter(~series.is_null()).to_list()]
        return ColumnValues(Column(name, ColumnKind.CATEGORY, dtype), texts)

    if series.dtype == nw.Time and series.implementation.is_pyarrow():
        # Python's times have no nanoseconds.
        microseconds = series.to_native().cast("time64[us]", safe=False)
        series = nw.from_native(microseconds, series_only=True)
    values = series.to_numpy()
    if values.dtype.kind in "OUT":
        kind, values = _read_objects(name, values.astype(object), missing)
    else:
        kind, values = _read_typed(values, missing)
    if kind == ColumnKind.DATE and getattr(series.dtype, "time_zone", None):
        kind = ColumnKind.ZONED_DATE
    is_integer = series.dtype.is_integer() or getattr(series.dtype, "scale", None) == 0
    return ColumnValues(Column(name, kind, dtype), values, is_integer)


def _read_typed(values: npt.NDArray[Any], missing: Booleans) -> tuple[ColumnKind, Any]:
    match values.dtype.kind:
        case "b":
            return ColumnKind.BOOLEAN, values.astype(np.float64)
        case "i" | "u" | "f":
            return ColumnKind.NUMBER, values.astype(np.float64)
        case "M":
            microseconds = values.astype("datetime64[us]").astype(np.int64)
            return ColumnKind.DATE, _floats(microseconds, missing)
        case "m":
            return ColumnKind.NUMBER, _floats(values / np.timedelta64(1, "s"), missing)
        case _:  # complex numbers
            return ColumnKind.OTHER, None


def _read_objects(name: str, values: Objects, missing: Booleans) -> tuple[ColumnKind, Any]:
    """Python objects in a column: all of one kind, or an error."""
    present = values[~missing]
    types = set(map(type, present))
    for kind, allowed, convert in _OBJECTS:
        if not all(issubclass(found, allowed) for found in types):
            continue
        if kind == ColumnKind.CATEGORY:
            texts = values.copy()
            texts[missing] = None
            return kind, texts
        zoned = {getattr(value, "tzinfo", None) is not None for value in present}
        if zoned == {True, False}:
            raise InputError(f"column {name!r} mixes dates with and without time zone")
        numbers = np.full(len(values), np.nan)
        numbers[~missing] = [convert(value) for value in present]
        is_zoned_date = kind == ColumnKind.DATE and zoned == {True}
        return ColumnKind.ZONED_DATE if is_zoned_date else kind, numbers
    if len(types) > 1 and any(issubclass(found, _KNOWN_OBJECTS) for found in types):
        listed = " and ".join(sorted(found.__name__ for found in types))
        raise InputError(f"column {name!r} mixes {listed}: convert it to one type, or ignore it")
    return ColumnKind.OTHER, None


def _microseconds(value: date) -> float:
    """Since 1970."""
    zone = getattr(value, "tzinfo", None)
    if zone is not None and isinstance(value, datetime):
        value = value.astimezone(UTC).replace(tzinfo=None)
    return float(np.datetime64(value, "us").astype(np.int64))


def _microseconds_since_midnight(value: time) -> float:
    return _microseconds(datetime.combine(date(1970, 1, 1), value.replace(tzinfo=None)))


# Kind, the types of Python objects that a column of this kind may contain, and how a value becomes
# a number. (bool is also a Real, so it comes first.)
_OBJECTS: tuple[tuple[ColumnKind, tuple[type, ...], Any], ...] = (
    (ColumnKind.CATEGORY, (str,), None),
    (ColumnKind.BOOLEAN, (bool, np.bool_), float),
    (ColumnKind.NUMBER, (Real, Decimal), float),
    (ColumnKind.DATE, (date,), _microseconds),
    (ColumnKind.TIME, (time,), _microseconds_since_midnight),
    (ColumnKind.NUMBER, (timedelta,), timedelta.total_seconds),
)
_KNOWN_OBJECTS = tuple(found for _, allowed, _ in _OBJECTS for found in allowed)


def _floats(values: npt.NDArray[Any], missing: Booleans) -> Floats:
    floats = values.astype(np.float64)
    floats[missing] = np.nan  # not-a-time became a number
    return floats
