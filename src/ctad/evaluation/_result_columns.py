"""Columns of results: which values each may have."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, fields
from types import NoneType
from typing import Any, get_args, get_type_hints

import pyarrow as pa
import pyarrow.compute as pc

from ..errors import InputError

ARROW_TYPES = {str: pa.string(), int: pa.int64(), float: pa.float64()}
RANGE = "range"  # in the metadata of a dataclass' field: the least and the largest value
MAX_CHARACTERS = 10_000  # of a text
CONTROL_CHARACTERS = r"[\x00-\x08\x0a-\x1f\x7f-\x9f]"  # but the tab


@dataclass(frozen=True)
class Column:
    """A column of results.

    Attributes
    ----------
    name : str
    kind : {str, int, float}
    may_be_none : bool
    limits : tuple of two numbers, optional
        The least and the largest value.
    """

    name: str
    kind: type
    may_be_none: bool
    limits: tuple[float, float] | None = None

    @property
    def arrow_type(self) -> pa.DataType:
        """Its type in memory."""
        return ARROW_TYPES[self.kind]

    def text(self, value: Any) -> str:
        """The text of a value in a CSV file, on one line."""
        if value is None:
            return ""
        if self.kind is float:
            return f"{value:.6g}"
        line = re.sub(r"\s*[\r\n]+\s*", " ", str(value))
        plain = re.sub(CONTROL_CHARACTERS, " ", line).encode(errors="replace").decode()
        return plain[:MAX_CHARACTERS]

    def value(self, text: str) -> Any:
        """The value of a text in a CSV file."""
        if self.may_be_none and not text:
            return None
        if self.kind is int and not re.fullmatch(r"-?[0-9]{1,18}", text):
            raise InputError(f"{self.name} is {text[:50]!r}, not an integer")
        try:
            return self.kind(text)
        except ValueError as error:
            raise InputError(f"{self.name} is {text[:50]!r}, not a number") from error

    def first_bad(self, values: pa.Array) -> tuple[int, str] | None:
        """The number of the first value that cannot be in this column, and what is wrong with it.

        Parameters
        ----------
        values : pyarrow.Array
            Of `arrow_type`.
        """
        for is_good, problem in self._checks(values):
            if (number := pc.index(is_good, False).as_py()) >= 0:
                return number, f"{self.name} {problem}"
        return None

    def _checks(self, values: pa.Array) -> Iterator[tuple[pa.Array, str]]:
        if not self.may_be_none:
            yield values.is_valid(), "is missing"
        if self.kind is str:
            texts = values.dictionary_encode()
            is_short = pc.less_equal(pc.utf8_length(texts.dictionary), MAX_CHARACTERS)
            yield is_short.take(texts.indices), f"has more than {MAX_CHARACTERS:,} characters"
            is_odd = pc.match_substring_regex(texts.dictionary, CONTROL_CHARACTERS)
            yield pc.invert(is_odd).take(texts.indices), "has control characters"
        if self.limits is not None:
            low, high = self.limits
            is_inside = pc.and_(pc.less_equal(low, values), pc.less_equal(values, high))
            yield is_inside, f"is not between {low:g} and {high:g}"  # NaN is not, either


def columns_of(record: Any) -> tuple[Column, ...]:
    """The columns for a dataclass whose fields are str, int or float, or one of these and None."""
    hints = get_type_hints(record)
    return tuple(
        Column(field.name, *_type(hints[field.name]), field.metadata.get(RANGE))
        for field in fields(record)
    )


def _type(hint: Any) -> tuple[type, bool]:
    kinds = get_args(hint) or (hint,)
    [kind] = (kind for kind in kinds if kind is not NoneType)
    return kind, NoneType in kinds
