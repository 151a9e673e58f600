"""From text to numbers, dates and truth values: one way for guessing types and for using them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from ._csv_dialect import Dialect
from ._errors import TableError
from ._reader import Place

GAPS = pa.array(pyarrow.csv.ConvertOptions().null_values)

# Zeros ahead mean an identifier, as does a plus sign.
_INTEGER = "-?(0|[1-9][0-9]*)"
_NUMBER = r"-?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?"
_INFINITE = "-?(inf|Inf|infinity|Infinity)"
_DATE = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
_TIME = r"[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?"
_ZONE = "(Z|[+-][0-9]{2}(:?[0-9]{2})?)"

UTC_TIME = pa.timestamp("us", "UTC")
LOCAL_TIME = pa.timestamp("us")


class Kind(NamedTuple):
    """What text may mean: how to read it (`ArrowInvalid` if it is something else), in words."""

    parse: Callable[[pa.Array, Dialect], pa.Array]
    words: str


def infer_types(table: pa.Table, dialect: Dialect | None = None) -> pa.Schema:
    """Guess the types of text columns.

    Parameters
    ----------
    table : pyarrow.Table
        A sample of the rows.
    dialect : Dialect, optional
        Of the CSV they are from: commas may be decimal signs unless they are delimiters.

    Returns
    -------
    pyarrow.Schema
        Of a text column, the first of these that all its values have: bool, int64, double,
        date32, timestamp[us], timestamp[us, UTC], time64[us], string; null if it has only gaps.
        Other columns keep their type.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"n": ["1", "NA"], "day": ["24.12.2024", ""], "zip": ["007", "1"]})
    >>> infer_types(table)
    n: int64
    day: date32[day]
    zip: string
    """
    dialect = dialect or Dialect()
    fields = (
        field.with_type(_inferred(column, dialect)) if _is_text(field.type) else field
        for field, column in zip(table.schema, table.columns, strict=True)
    )
    return pa.schema(fields, table.schema.metadata)


def convert(
    table: pa.Table,
    schema: pa.Schema,
    dialect: Dialect | None = None,
    where: str | Place = "the table",
) -> pa.Table:
    """Turn text columns into the types of a schema.

    Columns that the schema does not have, that are not text, or whose type in the schema is
    not one that text is turned into (null, decimal, binary, nested), stay as they are.

    Parameters
    ----------
    table : pyarrow.Table
    schema : pyarrow.Schema
    dialect : Dialect, optional
        Of the CSV the rows are from: commas may be decimal signs unless they are delimiters.
    where : str or Place
        What to call the table if a value is not of its type.

    Returns
    -------
    pyarrow.Table
        Gaps such as "", "NA" and "null" are null, blanks around values are gone.

    Examples
    --------
    >>> import pyarrow as pa
    >>> schema = pa.schema({"size": pa.float64(), "day": pa.date32()})
    >>> table = pa.table({"size": ["1.50", "NA"], "day": ["2024/12/24", "2024-12-25"]})
    >>> convert(table, schema).to_pylist()[0]
    {'size': 1.5, 'day': datetime.date(2024, 12, 24)}
    """
    dialect = dialect or Dialect()
    for position, name in enumerate(table.column_names):
        if name not in schema.names or not _is_text(table.schema.field(position).type):
            continue
        type_ = schema.field(name).type
        kind = _kind_of(type_)
        if kind is not None:
            text = _cleaned(table.column(position))
            try:
                values = pc.cast(kind.parse(text, dialect), type_)
            except pa.ArrowInvalid:
                row = _first_other(text, kind, type_, dialect)
                place = where.of_row(row) if isinstance(where, Place) else f"{where}, row {row + 1}"
                raise TableError(
                    f"{place}: column {name!r} has {text[row].as_py()!r}, expected {kind.words} "
                    f"({type_})."
                ) from None
            table = table.set_column(position, name, values)
    return table


def with_types(table: pa.Table, dialect: Dialect | None, where: str | Place) -> pa.Table:
    """Turn the text columns of a CSV into what they seem to be.

    Parameters
    ----------
    table : pyarrow.Table
        All rows, or a sample of them.
    dialect : Dialect or None
        Of the CSV; None if the rows are from another file, where text is text.
    where : str or Place
        What to call the table if a value is not of its type.

    Returns
    -------
    pyarrow.Table

    Examples
    --------
    >>> import pyarrow as pa
    >>> from ctad.io import Dialect
    >>> with_types(pa.table({"n": ["1", "NA"], "gaps": ["", "null"]}), Dialect(), "a.csv").schema
    n: int64
    gaps: null
    """
    if dialect is None:
        return table
    types = infer_types(table, dialect)
    table = convert(table, types, dialect, where)
    for place, field in enumerate(types):
        if pa.types.is_null(field.type):  # it has only words for gaps
            table = table.set_column(place, field, pa.nulls(table.num_rows))
    return table


def _inferred(column: pa.ChunkedArray, dialect: Dialect) -> pa.DataType:
    text = _cleaned(column)
    if text.null_count == len(text):
        return pa.null()
    if _matches(text, _INTEGER) and not _fits(text, INTEGER, pa.int64(), dialect):
        return pa.string()  # more digits than a number has: an identifier
    return next(type_ for type_, kind in KIND_OF_TYPE.items() if _fits(text, kind, type_, dialect))


def _cleaned(column: pa.ChunkedArray) -> pa.Array:
    """Without blanks around values; gaps are null."""
    trimmed = pc.utf8_trim_whitespace(column.cast(pa.large_string()).combine_chunks())
    return pc.if_else(pc.is_in(trimmed, GAPS.cast(trimmed.type)), None, trimmed)


def _fits(text: pa.Array, kind: Kind, type_: pa.DataType, dialect: Dialect) -> bool:
    try:
        pc.cast(kind.parse(text, dialect), type_)
    except pa.ArrowInvalid:
        return False
    return True


def _first_other(text: pa.Array, kind: Kind, type_: pa.DataType, dialect: Dialect) -> int:
    """The first value of another kind: it is in the first half or in the second."""
    first, end = 0, len(text)
    while end - first > 1:
        middle = (first + end) // 2
        if _fits(text[first:middle], kind, type_, dialect):
            first = middle
        else:
            end = middle
    return first


def _parse_boolean(text: pa.Array, dialect: Dialect) -> pa.Array:
    return pc.cast(_all_match(pc.utf8_lower(text), "true|false"), pa.bool_())


def _parse_integer(text: pa.Array, dialect: Dialect) -> pa.Array:
    return pc.cast(_all_match(text, _INTEGER), pa.int64())


def _parse_number(text: pa.Array, dialect: Dialect) -> pa.Array:
    # A column has one decimal sign, in another column of the file it may be another. But then
    # 1.234 may also be a thousand and more.
    signs = "." if dialect.delimiter == "," else ".,"
    for sign in signs:
        pattern = _NUMBER.replace(r"\.", re.escape(sign)) + "|" + _INFINITE
        unclear = sign != dialect.decimal and _any_matches(text, rf"-?\d{{1,3}}([{sign}]\d{{3}})+")
        if _matches(text, pattern) and not unclear:
            break
    else:
        raise pa.ArrowInvalid("not a number")
    digits = pc.replace_substring(text, sign, ".")
    numbers = pc.cast(digits, pa.float64())
    too_large = pc.and_(pc.is_inf(numbers), pc.invert(pc.match_substring_regex(text, "[iI]nf")))
    if pc.any(too_large).as_py():
        raise pa.ArrowInvalid("too large")
    return numbers


def _parse_date(text: pa.Array, dialect: Dialect) -> pa.Array:
    return pc.cast(_all_match(_iso(text), _DATE), pa.date32())


def _parse_local_time(text: pa.Array, dialect: Dialect) -> pa.Array:
    return pc.cast(_all_match(_iso(text), f"{_DATE}([T ]{_TIME})?"), LOCAL_TIME)


def _parse_utc_time(text: pa.Array, dialect: Dialect) -> pa.Array:
    return pc.cast(_all_match(_iso(text), f"{_DATE}[T ]{_TIME}{_ZONE}"), UTC_TIME)


def _parse_time_of_day(text: pa.Array, dialect: Dialect) -> pa.Array:
    of_a_day = pc.replace_substring_regex(_all_match(text, _TIME), "^", "1970-01-01 ")
    return pc.cast(pc.cast(of_a_day, LOCAL_TIME), pa.time64("us"))


def _parse_text(text: pa.Array, dialect: Dialect) -> pa.Array:
    return text


BOOLEAN = Kind(_parse_boolean, "true or false")
INTEGER = Kind(_parse_integer, "a whole number")
NUMBER = Kind(_parse_number, "a number")
DATE = Kind(_parse_date, "a date such as 2024-12-24")
LOCAL = Kind(_parse_local_time, "a time such as 2024-12-24 18:30, without a zone")
UTC = Kind(_parse_utc_time, "a time such as 2024-12-24T18:30Z, with its zone")
TIME_OF_DAY = Kind(_parse_time_of_day, "a time of day such as 18:30")
TEXT = Kind(_parse_text, "text")

KIND_OF_TYPE = {
    pa.bool_(): BOOLEAN,
    pa.int64(): INTEGER,
    pa.float64(): NUMBER,
    pa.date32(): DATE,
    LOCAL_TIME: LOCAL,
    UTC_TIME: UTC,
    pa.time64("us"): TIME_OF_DAY,
    pa.string(): TEXT,
}


def _kind_of(type_: pa.DataType) -> Kind | None:
    """The kind of a type, also of those that only other files than CSV have."""
    if pa.types.is_dictionary(type_):
        return _kind_of(type_.value_type)
    if pa.types.is_integer(type_):
        return INTEGER
    if pa.types.is_floating(type_):
        return NUMBER
    if pa.types.is_date(type_):
        return DATE
    if pa.types.is_timestamp(type_):
        return LOCAL if type_.tz is None else UTC
    if pa.types.is_time(type_):
        return TIME_OF_DAY
    if _is_text(type_):
        return TEXT
    return KIND_OF_TYPE.get(type_)


def _all_match(text: pa.Array, pattern: str) -> pa.Array:
    if not _matches(text, pattern):
        raise pa.ArrowInvalid("not of this type")
    return text


def _any_matches(text: pa.Array, pattern: str) -> bool:
    return bool(pc.any(pc.match_substring_regex(text, f"^({pattern})$")).as_py())


def _matches(text: pa.Array, pattern: str) -> bool:
    return pc.all(pc.match_substring_regex(text, f"^({pattern})$")).as_py() is not False


def _iso(text: pa.Array) -> pa.Array:
    """YYYY/MM/DD and D.M.YYYY as YYYY-MM-DD; fractions of seconds to six digits."""
    text = pc.replace_substring_regex(text, r"^([0-9])\.", r"0\1.")
    text = pc.replace_substring_regex(text, r"^([0-9]{2})\.([0-9])\.", r"\1.0\2.")
    text = pc.replace_substring_regex(text, "^([0-9]{4})/([0-9]{2})/([0-9]{2})", r"\1-\2-\3")
    text = pc.replace_substring_regex(text, r"^([0-9]{2})\.([0-9]{2})\.([0-9]{4})", r"\3-\2-\1")
    return pc.replace_substring_regex(text, r"(\.[0-9]{6})[0-9]+", r"\1")


def _is_text(type_: pa.DataType) -> bool:
    return bool(
        pa.types.is_string(type_)
        or pa.types.is_large_string(type_)
        or pa.types.is_string_view(type_)
    )
