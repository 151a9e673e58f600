"""The values of a CSV: how text is parsed as numbers, dates, times and booleans."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from ._csv_dialect import CsvDialect

# "", "NA", "null" and so on
MISSING = pa.array(pyarrow.csv.ConvertOptions().null_values, pa.large_string())

# Numbers with leading zeros or a plus sign are identifiers, so they stay text.
_INTEGER = "-?(0|[1-9][0-9]*)"
_NUMBER = r"-?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?"
_INFINITE = "-?(inf|Inf|infinity|Infinity)"
_ANY_DATE = "[0-9]{1,4}[-./][0-9]{1,2}[-./][0-9]{1,4}"
_DATE = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
_TIME = r"[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?"
_ZONE = "(Z|[+-][0-9]{2}(:?[0-9]{2})?)"

UTC_TIME = pa.timestamp("us", "UTC")
LOCAL_TIME = pa.timestamp("us")


@dataclass(frozen=True)
class ValueKind:
    """A kind of value that text can be parsed as.

    Attributes
    ----------
    parse : function of a text array and a CsvDialect
        Raises `ArrowInvalid` if a value is of another kind.
    description : str
        For error messages: "a number".
    pattern : str
        All values of the kind match it, and few others.
    """

    parse: Callable[[pa.Array, CsvDialect], pa.Array]
    description: str
    pattern: str

    def may_be(self, value: str) -> bool:
        """Whether a value may be of this kind."""
        return re.fullmatch(self.pattern, value, re.DOTALL) is not None

    def convert(self, text: pa.Array, type_: pa.DataType, dialect: CsvDialect) -> pa.Array:
        """Parse all values; raises `ArrowInvalid` if one is not within the range of the type."""
        return pc.cast(self.parse(text, dialect), type_)

    def fits(self, text: pa.Array, type_: pa.DataType, dialect: CsvDialect) -> bool:
        """Whether all values can be parsed and are within the range of the type."""
        try:
            self.convert(text, type_, dialect)
        except pa.ArrowInvalid:
            return False
        return True


def clean_text(text: pa.Array) -> pa.Array:
    """Text without blanks around values, and with nulls for missing values."""
    trimmed = pc.utf8_trim_whitespace(text)
    return pc.if_else(pc.is_in(trimmed, MISSING), None, trimmed)


def are_long_integers(text: pa.Array) -> bool:
    """Whether all values are integers, and one has more digits than an int64."""
    return _all_match(text, _INTEGER) and not INTEGER.fits(text, pa.int64(), CsvDialect())


def _all_match(text: pa.Array, pattern: str) -> bool:
    """Whether a pattern matches every value that is not missing."""
    return pc.all(pc.match_substring_regex(text, f"^({pattern})$")).as_py() is not False


def _any_matches(text: pa.Array, pattern: str) -> bool:
    return bool(pc.any(pc.match_substring_regex(text, f"^({pattern})$")).as_py())


def _matching(text: pa.Array, pattern: str) -> pa.Array:
    if not _all_match(text, pattern):
        raise pa.ArrowInvalid("not of this type")
    return text


def _parse_boolean(text: pa.Array, dialect: CsvDialect) -> pa.Array:
    return pc.cast(_matching(pc.utf8_lower(text), "true|false"), pa.bool_())


def _parse_integer(text: pa.Array, dialect: CsvDialect) -> pa.Array:
    return pc.cast(_matching(text, _INTEGER), pa.int64())


def _parse_number(text: pa.Array, dialect: CsvDialect) -> pa.Array:
    # One column of a file may have decimal points and another decimal commas. If a column has a
    # different sign than the dialect, 1.234 may also mean 1234: then it stays text.
    signs = "." if dialect.delimiter == "," else ".,"
    for sign in signs:
        pattern = _NUMBER.replace(r"\.", re.escape(sign)) + "|" + _INFINITE
        is_unclear = sign != dialect.decimal and _any_matches(
            text, rf"-?\d{{1,3}}([{sign}]\d{{3}})+"
        )
        if _all_match(text, pattern) and not is_unclear:
            break
    else:
        raise pa.ArrowInvalid("not a number")
    numbers = pc.cast(pc.replace_substring(text, sign, "."), pa.float64())
    infinite = pc.is_inf(numbers)
    if pc.any(infinite).as_py() and not _all_match(text.filter(infinite), _INFINITE):
        raise pa.ArrowInvalid("too large")
    return numbers


def _parse_date(text: pa.Array, dialect: CsvDialect) -> pa.Array:
    return pc.cast(_matching(_iso_dates(text), _DATE), pa.date32())


def _parse_local_time(text: pa.Array, dialect: CsvDialect) -> pa.Array:
    return pc.cast(_matching(_iso_dates(text), f"{_DATE}([T ]{_TIME})?"), LOCAL_TIME)


def _parse_utc_time(text: pa.Array, dialect: CsvDialect) -> pa.Array:
    return pc.cast(_matching(_iso_dates(text), f"{_DATE}[T ]{_TIME}{_ZONE}"), UTC_TIME)


def _parse_time_of_day(text: pa.Array, dialect: CsvDialect) -> pa.Array:
    on_one_day = pc.replace_substring_regex(_matching(text, _TIME), "^", "1970-01-01 ")
    return pc.cast(pc.cast(on_one_day, LOCAL_TIME), pa.time64("us"))


def _parse_text(text: pa.Array, dialect: CsvDialect) -> pa.Array:
    return text


def _iso_dates(text: pa.Array) -> pa.Array:
    """YYYY/MM/DD and D.M.YYYY as YYYY-MM-DD; fractions of seconds cut to six digits."""
    text = pc.replace_substring_regex(text, r"^([0-9])\.", r"0\1.")
    text = pc.replace_substring_regex(text, r"^([0-9]{2})\.([0-9])\.", r"\1.0\2.")
    text = pc.replace_substring_regex(text, "^([0-9]{4})/([0-9]{2})/([0-9]{2})", r"\1-\2-\3")
    text = pc.replace_substring_regex(text, r"^([0-9]{2})\.([0-9]{2})\.([0-9]{4})", r"\3-\2-\1")
    return pc.replace_substring_regex(text, r"(\.[0-9]{6})[0-9]+", r"\1")


BOOLEAN = ValueKind(_parse_boolean, "true or false", "(?i:true|false)")
INTEGER = ValueKind(_parse_integer, "an integer", _INTEGER)
NUMBER = ValueKind(_parse_number, "a number", _NUMBER.replace(r"\.", "[.,]") + "|" + _INFINITE)
DATE = ValueKind(_parse_date, "a date such as 2024-12-24", _ANY_DATE)
LOCAL = ValueKind(
    _parse_local_time, "a time such as 2024-12-24 18:30, without a time zone", _ANY_DATE + ".*"
)
UTC = ValueKind(
    _parse_utc_time, "a time such as 2024-12-24T18:30Z, with a time zone", _ANY_DATE + ".*"
)
TIME_OF_DAY = ValueKind(_parse_time_of_day, "a time of day such as 18:30", _TIME)
TEXT = ValueKind(_parse_text, "text", ".*")

# The types that columns of a CSV can have, in the order in which they are tried.
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


def kind_of_type(type_: pa.DataType) -> ValueKind | None:
    """How text is parsed to this Arrow type; None if it cannot be."""
    if pa.types.is_dictionary(type_):
        return kind_of_type(type_.value_type)
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
    if is_text(type_):
        return TEXT
    return KIND_OF_TYPE.get(type_)


def is_text(type_: pa.DataType) -> bool:
    """Whether a column of this type is text."""
    return bool(
        pa.types.is_string(type_)
        or pa.types.is_large_string(type_)
        or pa.types.is_string_view(type_)
    )
