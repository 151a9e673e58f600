"""Kinds of values in a model file: how each is written, and what is accepted when it is read.

A description of a type (see `_description`) is a table of names and kinds. Lengths of arrays have
names: the first array that has a length sets it, and all others must agree. So `Floats("n", "d")`
and `Floats("d")` in one table state that both have as many columns.
"""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError

if TYPE_CHECKING:
    from ._description import Description
    from ._reader import Scope
    from ._writer import Writer

Length = int | str  # a number, a name, or a name and a number to add: "bins+1"
ANY_LENGTH = ""


class NotDescribedError(InputError):
    """A value that is not what the description of its type says; `place` is where it is."""

    def __init__(self, reason: str, place: str = "") -> None:
        super().__init__(f"{place}: {reason}" if place else reason)
        self.reason, self.place = reason, place

    def inside(self, name: str | int) -> NotDescribedError:
        """The same error, seen from the value that contains this one."""
        outer = f"[{name}]" if isinstance(name, int) else name
        dot = "." if self.place and not self.place.startswith("[") else ""
        return NotDescribedError(self.reason, f"{outer}{dot}{self.place}")


def require(condition: object, reason: str) -> None:
    """Raise unless a condition holds."""
    if not condition:
        raise NotDescribedError(reason)


class Kind(ABC):
    """A kind of value. Its text, in messages and on the site, says what such a value is."""

    def __str__(self) -> str:
        return (type(self).__doc__ or "").partition(".")[0].lower()

    @abstractmethod
    def write(self, value: Any, writer: Writer) -> Any:
        """The value as JSON; arrays become entries of the file."""

    @abstractmethod
    def read(self, stored: Any, scope: Scope) -> Any:
        """The value that `write` wrote. Raises for anything that is not of this kind."""

    def parts(self, stored: Any) -> Iterable[tuple[tuple[str | int, ...], Kind]]:
        """Where other values are inside a stored one, and their kinds; for tests."""
        return ()


@dataclass(frozen=True)
class Flag(Kind):
    """True or False."""

    def __str__(self) -> str:
        return "true or false"

    def write(self, value: Any, writer: Writer) -> bool:
        return bool(self._checked(value.item() if isinstance(value, np.generic) else value))

    def read(self, stored: Any, scope: Scope) -> bool:
        return self._checked(stored)

    def _checked(self, value: Any) -> bool:
        require(isinstance(value, bool), f"{shown(value)} is not {self}")
        return bool(value)


@dataclass(frozen=True)
class Integer(Kind):
    """An integer in a range, both ends included; with `length`, the length of that name."""

    low: int = 0
    high: int = 2**53
    length: str | None = None

    def __str__(self) -> str:
        name = "" if self.length is None else f": the length {self.length}"
        return f"an integer from {self.low} to {_power(self.high)}{name}"

    def write(self, value: Any, writer: Writer) -> int:
        return self._checked(value.item() if isinstance(value, np.generic) else value)

    def read(self, stored: Any, scope: Scope) -> int:
        number = self._checked(stored)
        if self.length is not None:
            scope.fix_length(self.length, number)
        return number

    def _checked(self, value: Any) -> int:
        require(
            isinstance(value, int)
            and not isinstance(value, bool)
            and self.low <= value <= self.high,
            f"{shown(value)} is not {self}",
        )
        return int(value)


@dataclass(frozen=True)
class Number(Kind):
    """A number in a range, both ends included; NaN and infinity only where the kind says so."""

    low: float = -math.inf
    high: float = math.inf
    infinite: bool = False
    nan: bool = False

    def __str__(self) -> str:
        if self.low == math.inf:
            return '"inf"'
        return f"a number{_limits(self.low, self.high)}{_specials(self.infinite, self.nan)}"

    def write(self, value: Any, writer: Writer) -> Any:
        value = value.item() if isinstance(value, np.generic) else value
        self._check(value)
        if isinstance(value, int):
            return value
        return float(value) if math.isfinite(value) else str(float(value))

    def read(self, stored: Any, scope: Scope) -> float:
        value = float(stored) if stored in ("inf", "-inf", "nan") else stored
        self._check(value)
        number: float = value
        return number

    def _check(self, value: Any) -> None:
        require(
            isinstance(value, int | float) and not isinstance(value, bool),
            f"{shown(value)} is not {self}",
        )
        # Python compares integers of any size with floats exactly.
        in_range = self.nan if value != value else self.low <= value <= self.high
        require(
            in_range and (self.infinite or value not in (math.inf, -math.inf)),
            f"{shown(value)} is not {self}",
        )
        if isinstance(value, int):
            require(abs(value) <= 2**53, f"{shown(value)} has too many digits")


@dataclass(frozen=True)
class Choice(Kind):
    """One of a few values: strings, None, booleans or integers."""

    values: tuple[Any, ...]

    def __str__(self) -> str:
        return " or ".join(json.dumps(value) for value in self.values)

    def write(self, value: Any, writer: Writer) -> Any:
        return self._checked(value)

    def read(self, stored: Any, scope: Scope) -> Any:
        return self._checked(stored)

    def _checked(self, value: Any) -> Any:
        for choice in self.values:
            if type(value) is type(choice) and value == choice:
                return choice
        raise NotDescribedError(f"{shown(value)} is not {self}")


@dataclass(frozen=True)
class Text(Kind):
    """Any string, such as the name of a column."""

    def __str__(self) -> str:
        return "a string"

    def write(self, value: Any, writer: Writer) -> str:
        return self._checked(value)

    def read(self, stored: Any, scope: Scope) -> str:
        return self._checked(stored)

    def _checked(self, value: Any) -> str:
        require(isinstance(value, str), f"{shown(value)} is not {self}")
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise NotDescribedError(f"{shown(value)} is not valid Unicode") from error
        return str(value)


@dataclass(frozen=True)
class Seed(Kind):
    """A seed or None. A random generator is not stored: None stands for it."""

    def __str__(self) -> str:
        return f"null or {SEED}"

    def write(self, value: Any, writer: Writer) -> int | None:
        if value is None or isinstance(value, np.random.RandomState):
            return None
        return SEED.write(value, writer)

    def read(self, stored: Any, scope: Scope) -> int | None:
        return None if stored is None else SEED.read(stored, scope)


SEED = Integer(0, 2**32 - 1)


@dataclass(frozen=True)
class Unsaved(Kind):
    """A parameter that is not stored, such as a cache folder: files have `value` for it."""

    value: Any = None

    def __str__(self) -> str:
        return json.dumps(self.value)

    def write(self, value: Any, writer: Writer) -> Any:
        return self.value

    def read(self, stored: Any, scope: Scope) -> Any:
        return Choice((self.value,)).read(stored, scope)


@dataclass(frozen=True)
class Optional(Kind):
    """None, or a value of another kind."""

    kind: Kind

    def __str__(self) -> str:
        return f"null or {self.kind}"

    def write(self, value: Any, writer: Writer) -> Any:
        return None if value is None else self.kind.write(value, writer)

    def read(self, stored: Any, scope: Scope) -> Any:
        return None if stored is None else self.kind.read(stored, scope)


@dataclass(frozen=True)
class MayBeMissing(Kind):
    """In a table of attributes: the attribute may not exist."""

    kind: Kind

    def __str__(self) -> str:
        return f"{self.kind}; may be missing"

    def write(self, value: Any, writer: Writer) -> Any:
        return self.kind.write(value, writer)

    def read(self, stored: Any, scope: Scope) -> Any:
        return self.kind.read(stored, scope)


@dataclass(frozen=True)
class OneOf(Kind):
    """A value of the first kind that accepts it."""

    kinds: tuple[Kind, ...]

    def __str__(self) -> str:
        return ", or ".join(map(str, self.kinds))

    def write(self, value: Any, writer: Writer) -> Any:
        reasons = []
        for kind in self.kinds:
            try:
                return kind.write(value, writer)
            except NotDescribedError as error:
                reasons.append(str(error))
        raise NotDescribedError(", and ".join(reasons))

    def read(self, stored: Any, scope: Scope) -> Any:
        reasons = []
        for kind in self.kinds:
            before = scope.bookmark()
            try:
                return kind.read(stored, scope)
            except NotDescribedError as error:
                scope.go_back(before)
                reasons.append(str(error))
        raise NotDescribedError(", and ".join(reasons))


@dataclass(frozen=True)
class ListOf(Kind):
    """A list of values of one kind. `type` is what it becomes when read: list or tuple."""

    kind: Kind
    length: Length | None = None
    type: type = list

    def __str__(self) -> str:
        length = "" if self.length is None else f" of length {self.length}"
        return f"a list{length}, each {self.kind}"

    def write(self, value: Any, writer: Writer) -> list[Any]:
        require(isinstance(value, list | tuple), f"{shown(value)} is not a list")
        return [_inside(number, self.kind.write, item, writer) for number, item in enumerate(value)]

    def read(self, stored: Any, scope: Scope) -> Any:
        require(isinstance(stored, list), f"{shown(stored)} is not a list")
        if self.length is not None:
            scope.fix_length(self.length, len(stored))
        return self.type(
            _inside(number, self.kind.read, item, scope) for number, item in enumerate(stored)
        )


@dataclass(frozen=True)
class TupleOf(Kind):
    """A tuple of values, each of its own kind."""

    kinds: tuple[Kind, ...]

    def __str__(self) -> str:
        return f"a list of {', '.join(map(str, self.kinds))}"

    def write(self, value: Any, writer: Writer) -> list[Any]:
        require(isinstance(value, list | tuple), f"{shown(value)} is not a tuple")
        require(len(value) == len(self.kinds), f"a tuple of {len(value)} values")
        pairs = enumerate(zip(self.kinds, value, strict=True))
        return [_inside(number, kind.write, item, writer) for number, (kind, item) in pairs]

    def read(self, stored: Any, scope: Scope) -> tuple[Any, ...]:
        require(isinstance(stored, list), f"{shown(stored)} is not a list")
        require(len(stored) == len(self.kinds), f"a list of {len(stored)} values")
        pairs = enumerate(zip(self.kinds, stored, strict=True))
        return tuple(_inside(number, kind.read, item, scope) for number, (kind, item) in pairs)

    def parts(self, stored: Any) -> Iterable[tuple[tuple[str | int, ...], Kind]]:
        if not isinstance(stored, list) or len(stored) != len(self.kinds):
            return ()
        return [((number,), kind) for number, kind in enumerate(self.kinds)]


@dataclass(frozen=True)
class Record(Kind):
    """A dictionary with these keys, and no others.

    Attributes
    ----------
    fields : mapping of str to Kind
    own_lengths : bool
        Whether lengths that are first set inside are lengths of this dictionary alone, so that
        those of a list may differ.
    """

    fields: Mapping[str, Kind]
    own_lengths: bool = False

    def __str__(self) -> str:
        fields = "; ".join(f"{name}: {kind}" for name, kind in self.fields.items())
        own = " (with lengths of its own)" if self.own_lengths else ""
        return f"a dictionary{own} with {fields}" if fields else "an empty dictionary"

    def write(self, value: Any, writer: Writer) -> dict[str, Any]:
        require(isinstance(value, Mapping), f"{shown(value)} is not a dictionary")
        return write_fields(self.fields, value, writer)

    def read(self, stored: Any, scope: Scope) -> dict[str, Any]:
        return read_fields(self.fields, stored, scope.inner() if self.own_lengths else scope)


def write_fields(
    fields: Mapping[str, Kind], values: Mapping[str, Any], writer: Writer
) -> dict[str, Any]:
    """Write a dictionary; every value must have a kind."""
    _check_names(fields, values)
    return {
        name: _inside(name, kind.write, values[name], writer)
        for name, kind in fields.items()
        if name in values
    }


def read_fields(fields: Mapping[str, Kind], stored: Any, scope: Scope) -> dict[str, Any]:
    """Read a dictionary with the keys of a table, and no others."""
    require(isinstance(stored, dict), f"{shown(stored)} is not a dictionary")
    _check_names(fields, stored)
    return {
        name: _inside(name, kind.read, stored[name], scope)
        for name, kind in fields.items()
        if name in stored
    }


def _check_names(fields: Mapping[str, Kind], names: Mapping[str, Any]) -> None:
    unknown = [shown(name) for name in names if name not in fields]
    require(not unknown, f"{', '.join(unknown[:3])}: not in the description")
    missing = [
        name
        for name, kind in fields.items()
        if name not in names and not isinstance(kind, MayBeMissing)
    ]
    require(not missing, f"{', '.join(missing[:3])}: missing")


@dataclass(frozen=True)
class Array(Kind):
    """An array of one dtype whose shape is given by lengths, and whose values are in a range.

    Attributes
    ----------
    dtype : str
        "float64", "float32", "int64", "int32", "uint8" or "bool".
    shape : tuple of int or str
        A name sets or repeats a length; "bins+1" is one more than "bins"; `ANY_LENGTH` is neither
        set nor checked.
    low, high : number or str
        All values are in this range, both ends included. A string is a length: "<n" as `high` means
        that values are indices of something of length n.
    finite, nan : bool
        Whether infinity is refused, and whether NaN is accepted.
    increasing : bool
        Whether values must not decrease along the first axis.
    empty : bool
        Whether a length may be 0.
    """

    dtype: str
    shape: tuple[Length, ...]
    low: float | None = None
    high: float | str | None = None
    finite: bool = True
    nan: bool = False
    increasing: bool = False
    empty: bool = False

    def __str__(self) -> str:
        shape = " x ".join(str(length) or "any length" for length in self.shape) or "one value"
        limits = _limits(self.low, self.high)
        increasing = ", not decreasing" if self.increasing else ""
        specials = _specials(not self.finite, self.nan)
        return f"an array of {self.dtype}, {shape}{limits}{specials}{increasing}"

    def write(self, value: Any, writer: Writer) -> dict[str, str]:
        require(type(value) is np.ndarray, f"{type(value).__name__} is not an array")
        require(
            value.dtype == np.dtype(self.dtype) and value.ndim == len(self.shape),
            f"an array of {value.dtype} of shape {value.shape} is not one of {self.dtype} with "
            f"{len(self.shape)} dimensions",
        )
        return {"array": writer.array(value)}

    def read(self, stored: Any, scope: Scope) -> Any:
        values = scope.array(stored)
        require(
            values.dtype == np.dtype(self.dtype) and values.ndim == len(self.shape),
            f"an array of {values.dtype} with {values.ndim} dimensions is not one of {self.dtype} "
            f"with {len(self.shape)}",
        )
        for length, wanted in zip(values.shape, self.shape, strict=True):
            require(length > 0 or self.empty, "an array without values")
            scope.fix_length(wanted, length)
        if values.dtype.kind == "f":
            require(not (self.finite and np.isinf(values).any()), "infinity in an array")
            require(self.nan or not np.isnan(values).any(), "NaN in an array")
        if self.low is not None:
            require(not bool((values < self.low).any()), f"a value below {self.low}")
        if self.high is not None:
            high: Any = self.high
            if isinstance(high, str):
                high = scope.lengths[high.removeprefix("<")] - 1
            require(not bool((values > high).any()), f"a value above {high}")
        if self.increasing:
            require(bool((values[1:] >= values[:-1]).all()), "values that decrease")
        return values


def Floats(*shape: Length, **limits: Any) -> Array:  # noqa: N802 - reads as a kind in tables
    """An array of float64."""
    return Array("float64", shape, **limits)


def Integers(*shape: Length, **limits: Any) -> Array:  # noqa: N802
    """An array of int64."""
    return Array("int64", shape, **limits)


def Booleans(*shape: Length) -> Array:  # noqa: N802
    """An array of bool."""
    return Array("bool", shape)


@dataclass(frozen=True)
class Names(Kind):
    """A numpy array of strings as objects, such as `feature_names_in_`; stored as a list."""

    length: Length

    def __str__(self) -> str:
        return f"a list of {self.length} strings"

    def write(self, value: Any, writer: Writer) -> list[str]:
        require(type(value) is np.ndarray and value.ndim == 1, f"{shown(value)} is not an array")
        return ListOf(Text()).write(value.tolist(), writer)

    def read(self, stored: Any, scope: Scope) -> Any:
        names = ListOf(Text(), self.length).read(stored, scope)
        scope.reader.longest_name = max(scope.reader.longest_name, *map(len, names), 0)
        return np.array(names, dtype=object)


@dataclass(frozen=True)
class Object(Kind):
    """An object of a type that has a description.

    Attributes
    ----------
    types : tuple of str
        Full names of types that are allowed.
    roles : tuple of str
        Types with these roles are allowed, too.
    fitted : bool or None
        Whether it must be fitted, must not be, or may be either (None).
    """

    types: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    fitted: bool | None = True

    def __str__(self) -> str:
        allowed = [name.rpartition(".")[2] for name in self.types]
        state = {True: "a fitted", False: "an unfitted", None: "a"}[self.fitted]
        return f"{state} {' or '.join([*allowed, *self.roles])}"

    def allows(self, description: Description) -> bool:
        """Whether objects of a type may stand here."""
        roles = {description.role, description.other_role}
        return description.type in self.types or not roles.isdisjoint(self.roles)

    def write(self, value: Any, writer: Writer) -> Any:
        return writer.object(value, self)

    def read(self, stored: Any, scope: Scope) -> Any:
        return scope.object(stored, self)


NOWHERE = Object()


def _limits(low: object, high: object) -> str:
    """A range in words."""
    above = "" if low in (None, -math.inf) else f" >= {low}"
    if isinstance(high, str):
        return f"{above} and < {high.removeprefix('<')}"
    return above if high in (None, math.inf) else f"{above}{' and' if above else ''} <= {high}"


def _specials(infinite: bool, nan: bool) -> str:
    allowed = [name for name, is_allowed in (("infinity", infinite), ("NaN", nan)) if is_allowed]
    return f", also {' and '.join(allowed)}" if allowed else ""


def _power(number: int) -> str:
    """Large powers of two as such."""
    return (
        f"2^{number.bit_length() - 1}"
        if number > 10**6 and number.bit_count() == 1
        else f"{number}"
    )


def _inside(name: str | int, call: Any, *arguments: Any) -> Any:
    """Call a function; say in its error where the value was."""
    try:
        return call(*arguments)
    except NotDescribedError as error:
        raise error.inside(name) from None


def shown(value: Any, most: int = 60) -> str:
    """A value in a message: short, and without control characters."""
    if not isinstance(value, str | int | float | bool | None):
        return f"a {type(value).__name__}"
    text = ascii(value[:most] if isinstance(value, str) else value)
    return text if len(text) <= most else f"{text[: most - 3]}..."
